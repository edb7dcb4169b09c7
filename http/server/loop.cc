#include "http/server/loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "http/server/connection.h"
#include "storage/base/survive.h"

namespace hg::http {
namespace {

constexpr auto kTick = std::chrono::seconds(1);
/// After this time, a callback that serves many connections posts the rest of its work as a new
/// callback.
constexpr int64_t kSliceNs = 5'000'000;
/// Pause after an exception, during which other threads may free memory.
constexpr auto kBreath = std::chrono::milliseconds(10);

}  // namespace

Loop::Loop(Edge& edge) : edge_(edge), turns_(TurnWatch::Measure::kWallTime, edge.services) {}

Loop::~Loop() = default;

void Loop::CommitLater(std::shared_ptr<Connection> connection, PointSink::Position position) {
  position_ = std::max(position_, position);
  waiting_.push_back(std::move(connection));
  // The commit is posted to the loop, so that it runs after the handlers that are ready now. The
  // points of these handlers then share the commit.
  if (waiting_.size() > 1) return;
  boost::asio::post(io_, [this] {
    const Turn turn(turns_, [] { return std::string("a group commit"); });
    Commit();
  });
}

void Loop::Commit() {
  auto waiting = std::make_shared<Waiting>(std::move(waiting_));
  waiting_ = Waiting();
  waiting_.reserve(waiting->size());
  // The guard keeps the loop running until a thread of the log has called the callback.
  auto guard = boost::asio::make_work_guard(io_);
  edge_.services.sink.Commit(position_, [this, waiting, guard](const Status& status) {
    if (io_.get_executor().running_in_this_thread()) {
      Tell(waiting, 0, status);
    } else {
      PostTell(waiting, 0, status);
    }
  });
}

void Loop::PostTell(const std::shared_ptr<Waiting>& waiting, size_t from, const Status& status) {
  const auto post = [&] {
    boost::asio::post(io_, [this, waiting, from, status] {
      const Turn turn(turns_, [&] {
        return "the replies to " + std::to_string(waiting->size()) + " writes, the last of them " +
               waiting->back()->Doing();
      });
      Tell(waiting, from, status);
    });
  };
  while (!Survive(post).ok()) std::this_thread::sleep_for(kBreath);
}

void Loop::Tell(const std::shared_ptr<Waiting>& waiting, size_t from, const Status& status) {
  const int64_t end_ns = edge_.services.clock.MonotonicNs() + kSliceNs;
  for (size_t i = from; i < waiting->size(); ++i) {
    Connection& connection = *(*waiting)[i];
    if (!Survive([&] { connection.Committed(status); }).ok()) {
      edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
      connection.Close();
    }
    if (edge_.services.clock.MonotonicNs() < end_ns) continue;
    if (i + 1 < waiting->size()) PostTell(waiting, i + 1, status);
    return;
  }
}

void Loop::ContinueLater(std::shared_ptr<Connection> connection) {
  backlog_.push_back(std::move(connection));
  if (!backlog_posted_) PostBacklog();
}

void Loop::PostBacklog() {
  boost::asio::post(io_, [this] { ServeBacklog(); });
  backlog_posted_ = true;
}

void Loop::ServeBacklog() {
  const int64_t end_ns = edge_.services.clock.MonotonicNs() + kSliceNs;
  // A connection that is added during this callback waits for the next one. So the loop looks for
  // new requests between two requests of one connection.
  for (size_t left = backlog_.size(); left > 0; --left) {
    const std::shared_ptr<Connection> next = std::move(backlog_.front());
    backlog_.pop_front();
    const Turn turn(turns_, [&] { return next->Doing(); });
    next->Continue();
    if (edge_.services.clock.MonotonicNs() >= end_ns) break;
  }
  backlog_posted_ = false;
  if (!backlog_.empty()) PostBacklog();
}

void Loop::Start() { Tick(); }

void Loop::Run() {
  for (bool again = false;; again = true) {
    try {
      // If the exception was thrown during a commit, the connections of the commit are still in
      // waiting_.
      if (again && !waiting_.empty()) Commit();
      // If the exception was thrown in ServeBacklog, no callback is posted for the rest of the
      // backlog.
      if (again && !backlog_.empty()) PostBacklog();
      io_.run();
      return;
    } catch (...) {
      backlog_posted_ = false;
      edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
      std::this_thread::sleep_for(kBreath);
    }
  }
}

void Loop::Tick() {
  now_s_ = edge_.services.clock.MonotonicNs() / 1'000'000'000;
  if (!edge_.stopping.load(std::memory_order_relaxed)) {
    clock_.expires_after(kTick);
    clock_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      const Turn turn(turns_, [] { return std::string("the check for idle connections"); });
      Tick();
    });
  }
  const std::vector<Connection*> all(connections_.begin(), connections_.end());
  for (Connection* connection : all) {
    // Sweep may close this connection, but never another one of `all`.
    connection->Sweep();
  }
}

void Loop::CloseConnections(bool force) {
  clock_.cancel();
  const std::vector<Connection*> all(connections_.begin(), connections_.end());
  for (Connection* connection : all) {
    if (force) {
      connection->Close();
    } else {
      connection->CloseWhenIdle();
    }
  }
}

}  // namespace hg::http
