#pragma once
// Serves a cell store over HBase's Thrift2 protocol (THBaseService) to clients of HBase's gateway,
// for example to other Hourglass daemons (storage/hbase). The protocol has no authentication: every
// client that can connect can read and change every table.
//
// Where HBase differs from the cell store, the server behaves like HBase (hbase-backend.md §6).
// Deletes of a mutation hide its puts. An empty expected value stands for an absent column. A scan
// from a key to the same key returns that key. Errors have HBase's messages.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/status.h"
#include "storage/base/thread_annotations.h"
#include "storage/changed_rows.h"
#include "storage/store.h"

namespace apache::thrift {
class TProcessorEventHandler;
namespace protocol {
class TProtocol;
}
namespace transport {
class TTransport;
}
}  // namespace apache::thrift

namespace hg::thrift2 {

struct ServerState;
class Wire;

inline constexpr int kIdleS = 60;
inline constexpr int kCallS = 60;
inline constexpr int kSilentS = 10;

struct Thrift2Options {
  std::string bind = "127.0.0.1";            // an IPv4 or IPv6 address
  uint16_t port = 0;                         // 0 = any free port
  size_t connections_max = 128;              // maximum number of open connections; see `silent`
  size_t scanners_max = 1024;                // maximum number of open scanners of all connections
  size_t scanners_per_connection_max = 256;  // maximum number that one connection has opened
  // A longer request closes its connection. The limit must allow a cell of 10 MiB, HBase's limit.
  int32_t message_bytes_max = 16 << 20;
  int64_t response_bytes_max = 64 << 20;  // a call with a longer response fails
  // Limit for all requests and responses in memory. If a request exceeds the limit, its connection
  // is closed. If a response exceeds the limit, the call fails, and the client may repeat it.
  int64_t memory_bytes_max = 256 << 20;
  // A connection is closed if, for this time, it has no request, its request is not complete, or
  // the client does not read the response. A client that reads a response larger than
  // message_bytes_max has as much longer for it.
  std::chrono::milliseconds idle = std::chrono::seconds(kIdleS);
  // If there are connections_max connections, a new connection replaces the connection that has
  // completed no request for the longest time, if that time is at least `silent`. Otherwise the new
  // connection is closed.
  std::chrono::milliseconds silent = std::chrono::seconds(kSilentS);
  // A scanner from which no client fetches for this time is closed.
  std::chrono::milliseconds scanner_idle = std::chrono::seconds(kIdleS);
  // A call that reads for longer than this time fails.
  std::chrono::milliseconds call_time = std::chrono::seconds(kCallS);
  /// Called on the thread of the connection after rows may have changed, except after a conditional
  /// put of absent columns, an increment or an append. The function may be empty.
  ChangeReport changed = {};

  // The following options are for tests. Null: no handler, and the form of the protocol is detected
  // from the first bytes of a connection (framed or not, binary or compact).
  std::shared_ptr<apache::thrift::TProcessorEventHandler> events = nullptr;
  std::function<std::shared_ptr<apache::thrift::protocol::TProtocol>(
      std::shared_ptr<apache::thrift::transport::TTransport>)>
      protocol = nullptr;
};

struct Thrift2Stats {
  uint64_t connections = 0;  // connections that are open now
  uint64_t refused = 0;      // connections that were closed because of connections_max
  uint64_t calls = 0;        // calls so far
  uint64_t scanners = 0;     // scanners that are open now
  int64_t memory_bytes = 0;  // memory of requests and responses
};

/// Serves each connection on its own thread, which calls the store. Thread-safe, except Stop.
class Thrift2Server {
 public:
  /// Starts a server that runs until Stop. The server calls `store` for each request to get the
  /// store. InvalidArgument: the address is not valid. IoError: the server cannot listen on the
  /// address.
  static Result<std::unique_ptr<Thrift2Server>> Start(std::function<Store&()> store,
                                                      Thrift2Options options);
  /// Calls Stop.
  ~Thrift2Server();

  [[nodiscard]] uint16_t port() const { return port_; }
  /// Returns whether other machines may connect, because the address is not a loopback address.
  [[nodiscard]] bool reached_by_others() const { return reached_by_others_; }
  [[nodiscard]] Thrift2Stats Stats() const;
  /// Closes all scanners. Their clients then get the error for an unknown scanner.
  void CloseScanners();
  /// Ends running reads, finishes running writes, and closes all connections. When it returns, no
  /// scan is open and all threads have ended. Idempotent. One thread at a time may call it.
  void Stop();

 private:
  /// A connection and its thread.
  struct Peer {
    int fd = -1;
    std::shared_ptr<Wire> wire;
    std::thread thread;
    bool done = false;    // guarded by mutex_
    bool ending = false;  // guarded by mutex_; the socket is shut down in favour of another one
  };

  Thrift2Server(std::function<Store&()> store, Thrift2Options options);
  Status Listen();
  void Accept();
  void Admit(int fd);
  /// Returns whether there may be another connection. At the limit, ends a silent one for it.
  bool MakeRoom() REQUIRES(mutex_);
  void Serve(Peer* peer, uint64_t number);
  void JoinDone() REQUIRES(mutex_);

  const std::unique_ptr<ServerState> state_;
  int listening_ = -1;
  uint16_t port_ = 0;
  bool reached_by_others_ = false;
  uint64_t accepted_ = 0;  // used by the acceptor thread only
  mutable Mutex mutex_;
  std::list<Peer> peers_ GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace hg::thrift2
