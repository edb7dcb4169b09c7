#include "http/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <thread>

#include "http/connection.h"
#include "http/listener.h"
#include "http/loop.h"
#include "storage/base/worker_pool.h"

namespace hg::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Requests that wait for a thread; each holds its body.
constexpr size_t kRequestQueueMax = 1024;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

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
        edge_{options, services, requests_, writes_},
        loops_(MakeLoops(options, edge_)) {}

  ~Impl() { Stop(); }

  Status Start() {
    ASSIGN_OR_RETURN(port_, Listen(options_, options_.port, &acceptor_));
    Accept();
    for (auto& loop : loops_) {
      guards_.push_back(asio::make_work_guard(loop->io()));
      asio::post(loop->io(), [&loop] { loop->Start(); });
      threads_.emplace_back([&loop] { loop->Run(); });
    }
    return {};
  }

  [[nodiscard]] uint16_t port() const { return port_; }

  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    edge_.stopping.store(true, std::memory_order_relaxed);
    boost::system::error_code ignored;
    if (threads_.empty()) {
      acceptor_.close(ignored);
      return;
    }
    asio::post(loops_[0]->io(), [this] {
      boost::system::error_code error;
      acceptor_.close(error);
      accept_pause_.cancel();
    });
    CloseConnections(false);
    // Cuts off what is still running when the grace is over.
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::thread axe([&] {
      std::unique_lock lock(mutex);
      if (!finished.wait_for(lock, std::chrono::milliseconds(kStopGraceMs), [&] { return done; })) {
        CloseConnections(true);
      }
    });
    requests_.Join();
    writes_.Join();
    // The handlers' last words are posted; the loops end when those are sent.
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

  static Loops MakeLoops(const Options& options, Edge& edge) {
    Loops loops;
    for (int i = 0; i < LoopCount(options); ++i) loops.push_back(std::make_unique<Loop>(edge));
    return loops;
  }

  void CloseConnections(bool force) {
    for (auto& loop : loops_) {
      asio::post(loop->io(), [&loop, force] { loop->CloseConnections(force); });
    }
  }

  void Accept() {
    // One acceptor that hands out, instead of one per loop: the kernel's SO_REUSEPORT spreads by
    // hash, so that a few busy agents often share one loop, and it would let a second daemon listen
    // on the same port unnoticed.
    Loop& loop = **std::min_element(loops_.begin(), loops_.end(), [](const auto& a, const auto& b) {
      return a->load().load(std::memory_order_relaxed) < b->load().load(std::memory_order_relaxed);
    });
    acceptor_.async_accept(
        loop.io(), [this, &loop](const boost::system::error_code& error, tcp::socket socket) {
          if (edge_.stopping.load(std::memory_order_relaxed)) return;
          if (error) return PauseAccepting();
          try {
            Admit(loop, std::move(socket));
          } catch (...) {
            edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
          }
          Accept();
        });
  }

  /// Out of descriptors, most likely: trying again at once would only burn the core.
  void PauseAccepting() {
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait([this](const boost::system::error_code& error) {
      if (!error && !edge_.stopping.load(std::memory_order_relaxed)) Accept();
    });
  }

  void Admit(Loop& loop, tcp::socket socket) {
    Counters& counters = edge_.services.counters;
    counters.connections_total.fetch_add(1, std::memory_order_relaxed);
    const uint64_t open = counters.connections_open.load(std::memory_order_relaxed);
    if (options_.connections_max != 0 && open >= options_.connections_max) {
      counters.connections_rejected.fetch_add(1, std::memory_order_relaxed);
      return;  // closed without a word
    }
    auto held = std::make_shared<tcp::socket>(std::move(socket));
    loop.load().fetch_add(1, std::memory_order_relaxed);
    counters.connections_open.fetch_add(1, std::memory_order_relaxed);
    asio::post(loop.io(), [&loop, held = std::move(held)] {
      std::make_shared<Connection>(std::move(*held), loop)->Start();
    });
  }

  const Options& options_;
  WorkerPool requests_;
  WorkerPool writes_;
  Edge edge_;
  Loops loops_;
  tcp::acceptor acceptor_{loops_[0]->io()};
  asio::steady_timer accept_pause_{loops_[0]->io()};
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards_;
  std::vector<std::thread> threads_;
  uint16_t port_ = 0;
  bool stopped_ = false;
};

Server::Server(const Options& options, Services& services)
    : impl_(std::make_unique<Impl>(options, services)) {}

Server::~Server() = default;

Status Server::Start() { return impl_->Start(); }

uint16_t Server::port() const { return impl_->port(); }

void Server::Stop() { impl_->Stop(); }

}  // namespace hg::http
