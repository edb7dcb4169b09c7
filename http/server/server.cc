#include "http/server/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <new>
#include <thread>

#include "http/server/connection.h"
#include "http/server/listener.h"
#include "http/server/loop.h"
#include "http/tls/tls_context.h"
#include "query/engine.h"
#include "storage/base/worker_pool.h"

namespace hg::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Maximum requests that wait for a pool thread. Each keeps its body in memory.
constexpr size_t kRequestQueueMax = 1024;
/// Maximum number of concurrent password checks. Each check takes 16 MiB and about 10 ms of CPU
/// time, so this bounds the cost of a flood of wrong passwords.
constexpr int kPasswordsJudgedAtOnce = 2;
constexpr size_t kPasswordQueueMax = 64;

int LoopCount(const Options& options) {
  if (options.loop_threads > 0) return options.loop_threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

class Server::Impl {
 public:
  Impl(const Options& options, Services& services)
      : options_(options),
        requests_(options.worker_threads, kRequestQueueMax),
        writes_(options.write_threads, kRequestQueueMax),
        passwords_(kPasswordsJudgedAtOnce, kPasswordQueueMax),
        memory_(options.request_memory_bytes_max),
        kept_buffers_(options.request_memory_bytes_max / 4),
        unread_replies_(options.request_memory_bytes_max / 4),
        handshakes_(options.request_memory_bytes_max / 4),
        edge_{.options = options,
              .services = services,
              .requests = requests_,
              .writes = writes_,
              .passwords = passwords_,
              .memory = memory_,
              .kept_buffers = kept_buffers_,
              .unread_replies = unread_replies_,
              .handshakes = handshakes_},
        tls_(options.tls),
        loops_(MakeLoops(options, edge_)) {}

  ~Impl() { Stop(); }

  Status Start(OpenedPorts ports) {
    if (SpeaksTls(options_)) RETURN_IF_ERROR(tls_.Load());
    if (SpeaksPlain(options_)) {
      if (!ports.plain) {
        ASSIGN_OR_RETURN(ports.plain, ListeningSocket::Open(options_));
      }
      RETURN_IF_ERROR(Adopt(std::move(*ports.plain), nullptr));
    }
    if (SpeaksTls(options_)) {
      if (!ports.tls) {
        ASSIGN_OR_RETURN(ports.tls, ListeningSocket::OpenTls(options_));
      }
      RETURN_IF_ERROR(Adopt(std::move(*ports.tls), &tls_));
    }
    for (auto& listener : listeners_) Accept(*listener);
    for (const int fd : ports.connections) TakeOver(fd);
    for (auto& loop : loops_) {
      guards_.push_back(asio::make_work_guard(loop->io()));
      asio::post(loop->io(), [&loop] { loop->Start(); });
      threads_.emplace_back([&loop] { loop->Run(); });
    }
    return {};
  }

  [[nodiscard]] uint16_t port() const { return listeners_.empty() ? 0 : listeners_[0]->port; }

  [[nodiscard]] uint16_t tls_port() const {
    return SpeaksTls(options_) && !listeners_.empty() ? listeners_.back()->port : 0;
  }

  [[nodiscard]] bool reached_by_strangers() const { return reached_by_strangers_; }

  Status ReloadTls() { return SpeaksTls(options_) ? tls_.Load() : Status(); }

  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    edge_.stopping.store(true, std::memory_order_relaxed);
    boost::system::error_code ignored;
    if (threads_.empty()) {
      for (auto& listener : listeners_) listener->acceptor.close(ignored);
      return;
    }
    asio::post(loops_[0]->io(), [this] {
      boost::system::error_code error;
      for (auto& listener : listeners_) {
        listener->acceptor.close(error);
        listener->pause.cancel();
      }
    });
    CloseConnections(false);
    // This thread cancels requests that still run after kRequestGraceMs. After kStopGraceMs it
    // disconnects clients that have not received their responses.
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::thread axe([&] {
      std::unique_lock lock(mutex);
      const auto finished_within = [&](int ms) {
        return finished.wait_for(lock, std::chrono::milliseconds(ms), [&] { return done; });
      };
      if (finished_within(kRequestGraceMs)) return;
      edge_.overdue.store(true, std::memory_order_relaxed);
      edge_.services.queries.running().EndAll();
      if (!finished_within(kStopGraceMs - kRequestGraceMs)) CloseConnections(true);
    });
    requests_.Join();
    writes_.Join();
    passwords_.Join();
    // The handlers have posted their last replies to the loops. The loops end when these replies
    // are sent.
    guards_.clear();
    for (std::thread& thread : threads_) thread.join();
    {
      std::lock_guard lock(mutex);
      done = true;
    }
    finished.notify_all();
    axe.join();
  }

 private:
  using Loops = std::vector<std::unique_ptr<Loop>>;

  /// A listening socket. Once the first loop's thread runs, only that thread uses it.
  struct Listener {
    Listener(asio::io_context& io, TlsContext* tls_or_null)
        : acceptor(io), pause(io), tls(tls_or_null) {}
    tcp::acceptor acceptor;
    asio::steady_timer pause;
    TlsContext* const tls;  // null = plain
    uint16_t port = 0;
    bool checks_hosts = false;  // argument of Connection
  };

  static Loops MakeLoops(const Options& options, Edge& edge) {
    Loops loops;
    for (int i = 0; i < LoopCount(options); ++i) loops.push_back(std::make_unique<Loop>(edge));
    return loops;
  }

  void CloseConnections(bool force) {
    for (auto& loop : loops_) {
      asio::post(loop->io(), [&loop, force] {
        const Turn turn(loop->turns(), [] { return std::string("the end of all connections"); });
        loop->CloseConnections(force);
      });
    }
  }

  Status Adopt(ListeningSocket socket, TlsContext* tls) {
    auto listener = std::make_unique<Listener>(loops_[0]->io(), tls);
    boost::system::error_code error;
    listener->acceptor.assign(socket.v6() ? tcp::v6() : tcp::v4(), socket.fd(), error);
    if (error) return Status::IoError("cannot accept on the socket: " + error.message());
    listener->port = socket.port();
    (void)socket.Release();  // the acceptor closes it
    Add(std::move(listener));
    return {};
  }

  void Add(std::unique_ptr<Listener> listener) {
    const bool asks =
        listener->tls != nullptr && options_.tls.clients == ClientCertificates::kRequired;
    boost::system::error_code error;
    const bool loopback = listener->acceptor.local_endpoint(error).address().is_loopback();
    reached_by_strangers_ |= !asks && !loopback;
    listener->checks_hosts = loopback || !options_.hosts.empty();
    listeners_.push_back(std::move(listener));
  }

  /// Serves a connection to the port without TLS that was accepted before the server started.
  void TakeOver(int fd) {
    const bool v6 = listeners_[0]->acceptor.local_endpoint().address().is_v6();
    Loop& loop = *loops_[static_cast<size_t>(fd) % loops_.size()];
    tcp::socket socket(loop.io());
    boost::system::error_code error;
    socket.assign(v6 ? tcp::v6() : tcp::v4(), fd, error);
    if (!error) Admit(*listeners_[0], loop, std::move(socket));
  }

  void Accept(Listener& listener) {
    // One acceptor assigns connections to the loops. With SO_REUSEPORT the kernel would assign them
    // by hash, so that a few busy agents often share one loop. A second daemon could also listen on
    // the same port unnoticed.
    Loop& loop = **std::min_element(loops_.begin(), loops_.end(), [](const auto& a, const auto& b) {
      return a->load().load(std::memory_order_relaxed) < b->load().load(std::memory_order_relaxed);
    });
    listener.acceptor.async_accept(
        loop.io(),
        [this, &listener, &loop](const boost::system::error_code& error, tcp::socket socket) {
          if (edge_.stopping.load(std::memory_order_relaxed)) return;
          if (error) return PauseAccepting(listener);
          try {
            Admit(listener, loop, std::move(socket));
          } catch (...) {
            edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
          }
          Accept(listener);
        });
  }

  /// Stops accepting for a while. Accepting failed, probably because the process has no free file
  /// descriptors, so retrying at once would only waste CPU time.
  void PauseAccepting(Listener& listener) {
    listener.pause.expires_after(kAcceptPause);
    listener.pause.async_wait([this, &listener](const boost::system::error_code& error) {
      if (!error && !edge_.stopping.load(std::memory_order_relaxed)) Accept(listener);
    });
  }

  void Admit(const Listener& listener, Loop& loop, tcp::socket socket) {
    Counters& counters = edge_.services.counters;
    counters.connections_total.fetch_add(1, std::memory_order_relaxed);
    const uint64_t open = counters.connections_open.load(std::memory_order_relaxed);
    if (options_.connections_max != 0 && open >= options_.connections_max) {
      counters.connections_rejected.fetch_add(1, std::memory_order_relaxed);
      return;  // closes the connection without a reply
    }
    std::unique_ptr<TlsSession> tls;
    if (listener.tls != nullptr) {
      tls = listener.tls->NewSession(socket.native_handle());
      if (tls == nullptr) throw std::bad_alloc();
    }
    auto held = std::make_shared<Stream>(std::move(socket), std::move(tls));
    loop.load().fetch_add(1, std::memory_order_relaxed);
    counters.connections_open.fetch_add(1, std::memory_order_relaxed);
    asio::post(loop.io(), [&loop, checks_hosts = listener.checks_hosts, held = std::move(held)] {
      const Turn turn(loop.turns(), [] { return std::string("a new connection"); });
      std::make_shared<Connection>(std::move(*held), loop, checks_hosts)->Start();
    });
  }

  const Options& options_;
  WorkerPool requests_;
  WorkerPool writes_;
  WorkerPool passwords_;
  RequestMemory memory_;
  RequestMemory kept_buffers_;
  RequestMemory unread_replies_;
  RequestMemory handshakes_;
  Edge edge_;
  TlsContext tls_;
  Loops loops_;
  std::vector<std::unique_ptr<Listener>> listeners_;  // constant after Start
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards_;
  std::vector<std::thread> threads_;
  bool reached_by_strangers_ = false;
  bool stopped_ = false;
};

Server::Server(const Options& options, Services& services)
    : impl_(std::make_unique<Impl>(options, services)) {}

Server::~Server() = default;

Status Server::Start(OpenedPorts ports) { return impl_->Start(std::move(ports)); }

uint16_t Server::port() const { return impl_->port(); }

uint16_t Server::tls_port() const { return impl_->tls_port(); }

Status Server::ReloadTls() { return impl_->ReloadTls(); }

bool Server::reached_by_strangers() const { return impl_->reached_by_strangers(); }

void Server::Stop() { impl_->Stop(); }

}  // namespace hg::http
