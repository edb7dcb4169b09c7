#pragma once
// One event loop: a thread, its connections, shared parsers, and the group commit of points that
// its connections appended. Only the server uses this file, which includes Asio.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "http/request/options.h"
#include "http/request/services.h"
#include "http/request/turn_watch.h"
#include "http/wire/influx_lines.h"
#include "http/wire/put_json.h"
#include "http/wire/request_memory.h"
#include "storage/base/until_stop.h"
#include "storage/base/worker_pool.h"
#include "storage/model/point_sink.h"

namespace hg::http {

class Connection;

/// Objects of the server that all its connections share. They must outlive the connections.
struct Edge {
  const Options& options;
  Services& services;
  WorkerPool& requests;   // run handlers
  WorkerPool& writes;     // run handlers of points on the slow path
  WorkerPool& passwords;  // check passwords
  RequestMemory& memory;
  RequestMemory& kept_buffers;  // receive buffers between requests, and unread telnet replies
  RequestMemory& handshakes;    // unfinished TLS handshakes
  /// Whether the Host of a request must be a known one (access/cross_site.h). Constant after the
  /// server has started.
  bool checks_hosts = false;
  std::atomic<bool> stopping{false};
  /// Whether the time for requests that still run at a stop is over (Server::kRequestGraceMs).
  std::atomic<bool> overdue{false};
  /// The request context of telnet lines, which belong to no HTTP request. It ends their work when
  /// a stop is overdue.
  UntilStop lines_context{overdue};
};

/// Only the loop's thread may use the members, except load() and io().
class Loop {
 public:
  explicit Loop(Edge& edge);
  ~Loop();

  boost::asio::io_context& io() { return io_; }
  Edge& edge() { return edge_; }
  /// Returns the object that measures the callbacks of this loop. Each callback of sockets, timers
  /// and posts begins a TurnWatch turn.
  TurnWatch& turns() { return turns_; }
  /// Returns the number of open connections. Any thread may call it.
  std::atomic<size_t>& load() { return load_; }

  // Working memory. It is valid during one step of one connection.
  PutJsonParser parser;
  std::vector<KeyedPoint> points;
  InfluxPoints influx;
  std::string unpacked;

  void Add(Connection* connection) { connections_.insert(connection); }
  void Remove(Connection* connection) { connections_.erase(connection); }

  /// Calls connection->Committed after everything up to `position` is durable. One
  /// PointSink::Commit serves all connections that appended points in the same turn of the loop.
  void CommitLater(std::shared_ptr<Connection> connection, PointSink::Position position);

  /// Calls connection->Continue later. The loop continues such connections in this order, for a few
  /// milliseconds at a time. In between it serves connections that have become readable, so a new
  /// request does not wait for the requests that other clients have pipelined.
  void ContinueLater(std::shared_ptr<Connection> connection);

  /// Returns a coarse monotonic time in seconds, for idle timeouts.
  [[nodiscard]] int64_t now_s() const { return now_s_; }

  /// Starts the coarse clock.
  void Start();
  /// Runs the event loop until it has no pending operations. If a callback throws an exception (out
  /// of memory), closes only the connection of that callback.
  void Run();
  /// Closes connections that have no request. Other connections first finish their current request.
  /// If `force` is true, closes all connections immediately.
  void CloseConnections(bool force);

 private:
  using Waiting = std::vector<std::shared_ptr<Connection>>;

  void Commit();
  /// Passes the result of a commit to the connections from index `from` on. If that takes long,
  /// posts the rest to the loop.
  void Tell(const std::shared_ptr<Waiting>& waiting, size_t from, const Status& status);
  void PostTell(const std::shared_ptr<Waiting>& waiting, size_t from, const Status& status);
  void Tick();
  void PostBacklog();
  void ServeBacklog();

  Edge& edge_;
  TurnWatch turns_;
  std::atomic<size_t> load_{0};
  std::unordered_set<Connection*> connections_;
  /// Declared after connections_ and load_, because connections use these in their destructors.
  boost::asio::io_context io_{1};
  boost::asio::steady_timer clock_{io_};
  int64_t now_s_ = 0;
  Waiting waiting_;
  PointSink::Position position_ = 0;
  std::deque<std::shared_ptr<Connection>> backlog_;  // connections passed to ContinueLater
  bool backlog_posted_ = false;                      // whether a callback will serve backlog_
};

}  // namespace hg::http
