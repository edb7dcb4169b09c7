#pragma once
// One event loop: its thread's sockets, its parser, and the group commit of what its connections
// appended. Internal to the server; includes Asio.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "http/options.h"
#include "http/services.h"
#include "http/wire/influx_lines.h"
#include "http/wire/put_json.h"
#include "http/wire/request_memory.h"
#include "storage/base/worker_pool.h"
#include "storage/model/point_sink.h"

namespace hg::http {

class Connection;

/// What all connections share. Outlives them.
struct Edge {
  const Options& options;
  Services& services;
  WorkerPool& requests;   // handlers
  WorkerPool& writes;     // points on the exact way
  WorkerPool& passwords;  // that are to be judged
  RequestMemory& memory;
  std::atomic<bool> stopping{false};
};

/// Everything but load() and io() belongs to the loop's thread.
class Loop {
 public:
  explicit Loop(Edge& edge);
  ~Loop();

  boost::asio::io_context& io() { return io_; }
  Edge& edge() { return edge_; }
  /// Open connections; any thread.
  std::atomic<size_t>& load() { return load_; }

  // Scratch, used within one step of one connection.
  PutJsonParser parser;
  std::vector<SpelledPoint> points;
  InfluxPoints influx;
  std::string unpacked;

  void Add(Connection* connection) { connections_.insert(connection); }
  void Remove(Connection* connection) { connections_.erase(connection); }

  /// Calls connection->Committed once everything up to `position` is durable: one Points::Commit
  /// per turn of the loop for all that came in it.
  void CommitLater(std::shared_ptr<Connection> connection, PointSink::Position position);

  /// Seconds, coarse: for idle connections.
  [[nodiscard]] int64_t now_s() const { return now_s_; }

  /// Starts the coarse clock.
  void Start();
  /// Serves until there is nothing left to wait for. What throws (memory ends) costs the connection
  /// that it happened on.
  void Run();
  /// Closes connections that wait for a request; the others finish what they do. With `force`, all.
  void CloseConnections(bool force);

 private:
  using Waiting = std::vector<std::shared_ptr<Connection>>;

  void Commit();
  void Tick();

  Edge& edge_;
  std::atomic<size_t> load_{0};
  std::unordered_set<Connection*> connections_;
  boost::asio::io_context io_{1};  // behind what the last handlers' connections touch when they go
  boost::asio::steady_timer clock_{io_};
  int64_t now_s_ = 0;
  Waiting waiting_;
  PointSink::Position position_ = 0;
};

}  // namespace hg::http
