#include "storage/thrift2/thrift2_server.h"

#include <THBaseService.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thrift/TOutput.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "storage/thrift2/service.h"
#include "storage/thrift2/wire.h"

namespace hg::thrift2 {

using std::chrono::milliseconds;

namespace {

constexpr auto kPause = milliseconds(10);

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  bool loopback = false;
};

Result<Address> ReadAddress(const std::string& bind, uint16_t port) {
  Address address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.bytes);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (::inet_pton(AF_INET, bind.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size = sizeof(sockaddr_in);
    address.loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  } else if (::inet_pton(AF_INET6, bind.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.size = sizeof(sockaddr_in6);
    address.loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  } else {
    return Status::InvalidArgument("\"" + bind + "\" is not an IPv4 or IPv6 address");
  }
  return address;
}

void SetOptions(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

}  // namespace

Result<std::unique_ptr<Thrift2Server>> Thrift2Server::Start(std::function<Store&()> store,
                                                            Thrift2Options options) {
  // Thrift would write the errors of clients to standard error.
  apache::thrift::GlobalOutput.setOutputFunction([](const char*) {});
  std::unique_ptr<Thrift2Server> server(new Thrift2Server(std::move(store), std::move(options)));
  RETURN_IF_ERROR(server->Listen());
  server->acceptor_ = std::thread([raw = server.get()] { raw->Accept(); });
  return server;
}

Thrift2Server::Thrift2Server(std::function<Store&()> store, Thrift2Options options)
    : state_(std::make_unique<ServerState>(std::move(store), std::move(options))) {}

Thrift2Server::~Thrift2Server() { Stop(); }

Status Thrift2Server::Listen() {
  const Thrift2Options& options = state_->options;
  ASSIGN_OR_RETURN(const Address wanted, ReadAddress(options.bind, options.port));
  const auto failed = [&] {
    return Status::IoError("cannot listen on " + options.bind + " port " +
                           std::to_string(options.port) + ": " + std::strerror(errno));
  };
  listening_ = ::socket(wanted.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listening_ < 0) return failed();
  const int on = 1;
  ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(listening_, reinterpret_cast<const sockaddr*>(&wanted.bytes), wanted.size) != 0 ||
      ::listen(listening_, SOMAXCONN) != 0) {
    return failed();
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(listening_, reinterpret_cast<sockaddr*>(&bound), &size);
  // sockaddr_in and sockaddr_in6 have the port at the same offset.
  port_ = ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  state_->port = port_;
  reached_by_others_ = !wanted.loopback;
  return {};
}

void Thrift2Server::Stop() {
  state_->stopping = true;
  if (listening_ < 0) return;
  // Makes a waiting poll return.
  ::shutdown(listening_, SHUT_RDWR);
  if (acceptor_.joinable()) acceptor_.join();
  {
    const MutexLock lock(mutex_);
    for (const Peer& peer : peers_) ::shutdown(peer.fd, SHUT_RDWR);
  }
  // The acceptor thread has ended, so no other thread changes the list of connections.
  std::list<Peer> peers;
  {
    const MutexLock lock(mutex_);
    peers.splice(peers.begin(), peers_);
  }
  for (Peer& peer : peers) {
    peer.thread.join();
    ::close(peer.fd);
  }
  state_->scanners.Clear();
  ::close(std::exchange(listening_, -1));
}

void Thrift2Server::Accept() {
  // Time between two checks for idle scanners.
  const auto tick_ms =
      static_cast<int>(std::clamp<int64_t>(state_->options.scanner_idle.count() / 4, 1, 1000));
  for (;;) {
    pollfd ready{listening_, POLLIN, 0};
    ::poll(&ready, 1, tick_ms);
    if (state_->stopping) return;
    state_->scanners.CloseIdle(state_->options.scanner_idle);
    {
      const MutexLock lock(mutex_);
      JoinDone();
    }
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      // If no file descriptors are left, accepting again at once would only waste CPU time.
      if (errno != EAGAIN && errno != EWOULDBLOCK) std::this_thread::sleep_for(kPause);
      continue;
    }
    Admit(fd);
  }
}

bool Thrift2Server::MakeRoom() {
  const auto open = static_cast<size_t>(std::count_if(
      peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.done && !peer.ending; }));
  if (open < state_->options.connections_max) return true;
  Peer* silent = nullptr;
  auto longest = state_->options.silent;
  for (Peer& peer : peers_) {
    if (peer.done || peer.ending) continue;
    const milliseconds silence = peer.wire->Silence();
    if (silence < longest) continue;
    longest = silence;
    silent = &peer;
  }
  if (silent == nullptr) return false;
  silent->ending = true;
  ::shutdown(silent->fd, SHUT_RDWR);
  ++state_->refused;
  return true;
}

// Serves a connection, or closes it if there are too many or there is no thread for it.
void Thrift2Server::Admit(int fd) {
  const MutexLock lock(mutex_);
  bool served = false;
  if (MakeRoom()) {
    const Thrift2Options& options = state_->options;
    try {
      SetOptions(fd);
      Peer& peer = peers_.emplace_back();
      peer.fd = fd;
      peer.wire =
          std::make_shared<Wire>(fd, options.message_bytes_max, options.idle, state_->memory);
      peer.thread = std::thread([this, &peer, number = ++accepted_] { Serve(&peer, number); });
      served = true;
    } catch (const std::exception&) {
      if (!peers_.empty() && !peers_.back().thread.joinable()) peers_.pop_back();
    }
  }
  if (served) return;
  ++state_->refused;
  ::close(fd);
}

void Thrift2Server::JoinDone() {
  for (auto it = peers_.begin(); it != peers_.end();) {
    const auto peer = it++;
    if (!peer->done) continue;
    peer->thread.join();
    ::close(peer->fd);
    peers_.erase(peer);
  }
}

void Thrift2Server::Serve(Peer* peer, uint64_t number) {
  ServerState& state = *state_;
  const Thrift2Options& options = state.options;
  try {
    const std::shared_ptr<Wire> wire = peer->wire;
    const auto protocol =
        options.protocol ? options.protocol(wire) : DetectProtocol(wire, options.message_bytes_max);
    const auto service = std::make_shared<Service>(state, peer->fd, number);
    wire::THBaseServiceProcessor processor(service);
    processor.setEventHandler(options.events);
    while (protocol != nullptr && !state.stopping && wire->WaitForMessage()) {
      ++state.calls;
      service->BeginCall();
      processor.process(protocol, protocol, nullptr);
      service->EndCall();
      wire->EndMessage();
    }
  } catch (const std::exception&) {
    // If a request cannot be read, the client is gone, or memory cannot be allocated, only this
    // connection ends.
  }
  ::shutdown(peer->fd, SHUT_RDWR);
  const MutexLock lock(mutex_);
  peer->done = true;
  peer->wire.reset();
}

Thrift2Stats Thrift2Server::Stats() const {
  Thrift2Stats stats;
  {
    const MutexLock lock(mutex_);
    stats.connections = static_cast<uint64_t>(
        std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.done; }));
  }
  stats.refused = state_->refused;
  stats.calls = state_->calls;
  stats.scanners = state_->scanners.size();
  stats.memory_bytes = state_->memory.held();
  return stats;
}

void Thrift2Server::CloseScanners() { state_->scanners.Clear(); }

}  // namespace hg::thrift2
