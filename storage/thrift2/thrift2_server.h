#pragma once
// Serves a cell store over HBase's Thrift2 protocol (THBaseService). Its clients are clients of
// HBase's gateway, for example other Hourglass daemons (storage/hbase). The protocol has no
// authentication: every client that can connect can read and change every table.
//
// Where HBase differs from the cell store, the server behaves like HBase (hbase-backend.md §6).
// Deletes of a mutation hide puts of the same mutation. An empty expected value stands for an
// absent column. A scan from a key to the same key returns that key. Errors have HBase's messages.

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
  size_t scanners_per_connection_max = 256;  // maximum number of open scanners per connection
  // Maximum size of a request in bytes. A larger request closes its connection. The limit must
  // allow a cell of 10 MiB, which is HBase's limit.
  int32_t message_bytes_max = 16 << 20;
  int64_t response_bytes_max = 64 << 20;  // a call fails if its response is larger than this
  // Limit for the memory of all requests and responses together, in bytes. If a request exceeds the
  // limit, its connection is closed. If a response exceeds the limit, the call fails, and the
  // client may repeat the call.
  int64_t memory_bytes_max = 256 << 20;
  // The server closes a connection in three cases: no request arrives for this time, a request is
  // not complete after this time, or the client does not read the response in this time. For a
  // response larger than message_bytes_max, the client has proportionally more time.
  std::chrono::milliseconds idle = std::chrono::seconds(kIdleS);
  // If connections_max connections are open, a new connection replaces the connection that has
  // completed no request for the longest time, if that time is at least `silent`. If no connection
  // was silent for so long, the new connection is closed.
  std::chrono::milliseconds silent = std::chrono::seconds(kSilentS);
  // The time after which a scanner is closed if no client fetches from it.
  std::chrono::milliseconds scanner_idle = std::chrono::seconds(kIdleS);
  // The time limit of a call. A call fails if it is still reading, or still has rows to write, when
  // the limit has passed.
  std::chrono::milliseconds call_time = std::chrono::seconds(kCallS);
  /// The server calls this function on the thread of the connection after rows may have changed. It
  /// does not call the function after an increment, an append, or a put with the condition that a
  /// column is absent. The function may be empty.
  ChangeReport changed = {};

  // The following options are for tests. If `events` is null, there is no event handler. If
  // `protocol` is null, the server detects the protocol (framed or not, binary or compact) from the
  // first bytes of a connection.
  std::shared_ptr<apache::thrift::TProcessorEventHandler> events = nullptr;
  std::function<std::shared_ptr<apache::thrift::protocol::TProtocol>(
      std::shared_ptr<apache::thrift::transport::TTransport>)>
      protocol = nullptr;
};

struct Thrift2Stats {
  uint64_t connections = 0;  // number of connections that are open now
  uint64_t refused = 0;      // number of connections that were closed because of connections_max
  uint64_t calls = 0;        // number of calls since the start
  uint64_t scanners = 0;     // number of scanners that are open now
  int64_t memory_bytes = 0;  // memory of requests and responses, in bytes
};

/// Serves each connection on a separate thread, which calls the store. Thread-safe, except Stop.
class Thrift2Server {
 public:
  /// Starts a server that runs until Stop. For each request, the server calls `store` to get the
  /// store. Returns InvalidArgument if the address is not valid, and IoError if the server cannot
  /// listen on the address.
  static Result<std::unique_ptr<Thrift2Server>> Start(std::function<Store&()> store,
                                                      Thrift2Options options);
  /// The destructor calls Stop.
  ~Thrift2Server();

  [[nodiscard]] uint16_t port() const { return port_; }
  /// Returns whether other machines may connect. This is true if the address is not a loopback
  /// address.
  [[nodiscard]] bool reached_by_others() const { return reached_by_others_; }
  [[nodiscard]] Thrift2Stats Stats() const;
  /// Closes all scanners. A client that uses a closed scanner gets the error for an unknown
  /// scanner.
  void CloseScanners();
  /// Ends running reads, finishes running writes, and closes all connections. When Stop returns, no
  /// scan is open and all threads have ended. Idempotent. Only one thread at a time may call Stop.
  void Stop();

 private:
  /// A connection and the thread that serves it.
  struct Peer {
    int fd = -1;
    std::shared_ptr<Wire> wire;
    std::thread thread;
    bool done = false;    // guarded by mutex_
    bool ending = false;  // guarded by mutex_; the socket was shut down for a new connection
  };

  Thrift2Server(std::function<Store&()> store, Thrift2Options options);
  Status Listen();
  void Accept();
  void Admit(int fd);
  /// Returns whether a new connection may be accepted. If the limit is reached, ends a silent
  /// connection to make this possible.
  bool MakeRoom() REQUIRES(mutex_);
  void Serve(Peer* peer, uint64_t number);
  void JoinDone() REQUIRES(mutex_);

  const std::unique_ptr<ServerState> state_;
  int listening_ = -1;
  uint16_t port_ = 0;
  bool reached_by_others_ = false;
  uint64_t accepted_ = 0;  // used only by the acceptor thread
  mutable Mutex mutex_;
  std::list<Peer> peers_ GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace hg::thrift2
