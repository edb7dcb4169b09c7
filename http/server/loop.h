#pragma once
// One event loop: a thread, its connections, the parsers that its connections share, and the group
// commit of points that its connections appended. Only the server uses this file, which includes
// Asio.

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

/// The objects of the server that all its connections share. They must outlive the connections.
struct Edge {
  const Options& options;
  Services& services;
  WorkerPool& requests;   // pool whose threads run handlers
  WorkerPool& writes;     // pool whose threads run handlers of points on the slow path
  WorkerPool& passwords;  // pool whose threads check passwords
  RequestMemory& memory;  // budget for request bodies and parsed documents
  /// The budget for receive buffers between requests. If the budget is used up, connections free
  /// their receive buffers after each request; no request fails for this reason.
  RequestMemory& kept_buffers;
  RequestMemory& unread_replies;  // budget for replies that clients have not taken
  RequestMemory& handshakes;      // budget for unfinished TLS handshakes
  std::atomic<bool> stopping{false};
  /// Whether the server is stopping and the time for running requests (Server::kRequestGraceMs) is
  /// over.
  std::atomic<bool> overdue{false};
  /// The request context of telnet lines, which do not belong to an HTTP request. If `overdue` is
  /// set, this context ends the work of the lines.
  UntilStop lines_context{overdue};
};

/// An event loop. Only the thread of the loop may use the members, except load() and io().
class Loop {
 public:
  explicit Loop(Edge& edge);
  ~Loop();

  boost::asio::io_context& io() { return io_; }
  Edge& edge() { return edge_; }
  /// Returns the object that measures the turns of this loop. Each callback of a socket or a timer,
  /// and each posted function, is one turn. ServeBacklog has one turn for each connection.
  TurnWatch& turns() { return turns_; }
  /// Returns the number of open connections of this loop. Any thread may call this function.
  std::atomic<size_t>& load() { return load_; }

  // Working memory that all connections of the loop share. Its contents are valid only during one
  // callback of one connection.
  PutJsonParser parser;
  std::vector<KeyedPoint> points;
  InfluxPoints influx;
  std::string unpacked;

  void Add(Connection* connection) { connections_.insert(connection); }
  void Remove(Connection* connection) { connections_.erase(connection); }

  /// Calls connection->Committed after all points up to `position` are durable. One
  /// PointSink::Commit serves all connections whose callbacks were ready at the same time.
  void CommitLater(std::shared_ptr<Connection> connection, PointSink::Position position);

  /// Calls connection->Continue later. The loop calls Continue for such connections in the order of
  /// the ContinueLater calls, for a few milliseconds at a time. In between, the loop serves
  /// connections that have become readable. Thus a new request does not wait for the requests that
  /// other clients have pipelined.
  void ContinueLater(std::shared_ptr<Connection> connection);

  /// Returns a coarse monotonic time in seconds, which is used for idle timeouts.
  [[nodiscard]] int64_t now_s() const { return now_s_; }

  /// Starts the coarse clock of the loop. With each tick, about once a second, the loop calls Sweep
  /// of each connection.
  void Start();
  /// Runs the event loop until it has no pending operations. If a callback throws an exception
  /// because memory is exhausted, the loop closes only the connection of that callback.
  void Run();
  /// Closes the connections that have no request. All other connections first finish their current
  /// request. If `force` is true, closes all connections immediately.
  void CloseConnections(bool force);

 private:
  using Waiting = std::vector<std::shared_ptr<Connection>>;

  void Commit();
  /// Passes the result of a commit to the waiting connections, beginning with the connection at
  /// index `from`. If this takes long, the rest is posted to the loop. The log calls these
  /// functions and cannot handle exceptions: a connection that runs out of memory is closed, and
  /// PostTell tries again until there is memory, because the clients wait for their replies.
  void Tell(const std::shared_ptr<Waiting>& waiting, size_t from, const Status& status);
  void PostTell(const std::shared_ptr<Waiting>& waiting, size_t from, const Status& status);
  void Tick();
  void PostBacklog();
  void ServeBacklog();

  Edge& edge_;
  TurnWatch turns_;
  std::atomic<size_t> load_{0};
  std::unordered_set<Connection*> connections_;
  /// The io_context. It is declared after connections_ and load_, because connections use these two
  /// members in their destructors.
  boost::asio::io_context io_{1};
  boost::asio::steady_timer clock_{io_};
  int64_t now_s_ = 0;
  Waiting waiting_;                   // connections that wait for the next commit
  PointSink::Position position_ = 0;  // the highest position that was passed to CommitLater
  /// Connections that were passed to ContinueLater.
  std::deque<std::shared_ptr<Connection>> backlog_;
  bool backlog_posted_ = false;  // whether a callback that will serve backlog_ is posted
};

}  // namespace hg::http
