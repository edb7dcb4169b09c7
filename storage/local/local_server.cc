#include "storage/local/local_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <optional>

#include "storage/local/conversation.h"

namespace hg::local {
namespace {

/// Returns the user of the connected process, or nullopt if the system does not know.
std::optional<unsigned> UserOf(int socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
  return peer.uid;
}

}  // namespace

bool IsOwnUserOrRoot(unsigned user) { return user == ::geteuid() || user == 0; }

Result<std::unique_ptr<LocalServer>> LocalServer::Start(std::function<Store&()> store,
                                                        LocalServerOptions options) {
  ASSIGN_OR_RETURN(Descriptor listening, Listen(options.folder));
  std::unique_ptr<LocalServer> server(
      new LocalServer(std::move(store), std::move(options), std::move(listening)));
  server->acceptor_ = std::thread([raw = server.get()] { raw->Accept(); });
  return server;
}

LocalServer::LocalServer(std::function<Store&()> store, LocalServerOptions options,
                         Descriptor listening)
    : store_(std::move(store)), options_(std::move(options)), listening_(std::move(listening)) {}

LocalServer::~LocalServer() { Stop(); }

void LocalServer::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    // Makes a blocked accept and blocked receives return.
    ::shutdown(listening_.fd(), SHUT_RDWR);
    for (const Peer& peer : peers_) peer.channel.Shut();
  }
  acceptor_.join();
  for (Peer& peer : peers_) peer.thread.join();
  peers_.clear();
  ::unlink((options_.folder + "/" + std::string(kSocketName)).c_str());
}

void LocalServer::Accept() {
  constexpr auto kPause = std::chrono::milliseconds(10);
  for (;;) {
    Channel channel(Descriptor(::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC)));
    if (stopping_) return;
    try {
      // Most likely there are no free descriptors or threads. Retrying at once would only use CPU.
      if (channel.fd() < 0 || !Admit(std::move(channel))) std::this_thread::sleep_for(kPause);
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

/// Accepts a connection. Returns false if it cannot be served now, for example because there are
/// too many.
bool LocalServer::Admit(Channel channel) {
  const std::optional<unsigned> user = UserOf(channel.fd());
  if (!user || !options_.lets_in(*user)) return true;
  const std::lock_guard lock(mutex_);
  JoinDone();
  if (stopping_ || peers_.size() >= options_.connections_max) return false;
  Peer& peer = peers_.emplace_back(std::move(channel));
  try {
    peer.thread = std::thread([this, &peer] { Serve(&peer); });
  } catch (...) {
    peers_.pop_back();
    throw;
  }
  return true;
}

/// The caller must hold mutex_.
void LocalServer::JoinDone() {
  for (auto it = peers_.begin(); it != peers_.end();) {
    const auto peer = it++;
    if (!peer->done) continue;
    peer->thread.join();
    peers_.erase(peer);
  }
}

void LocalServer::Serve(Peer* peer) {
  try {
    Conversation(store_, options_, until_stop_, &peer->channel).Run();
  } catch (const std::exception&) {
    // If memory cannot be allocated, the connection ends.
  }
  peer->channel.Shut();
  const std::lock_guard lock(mutex_);
  peer->done = true;
}

}  // namespace hg::local
