#pragma once
// A gateway of the Thrift2 protocol without HBase: the server of storage/thrift2 on a socket of
// 127.0.0.1, with any cell store behind it. With this gateway, tests of the HBase client need no
// JVM (hbase-backend.md §13). The gateway can accept only one form of the protocol, as HBase's
// gateways do, and it can fail where a test chooses.

#include <functional>
#include <memory>
#include <string>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// The two moments at which the gateway calls the hook for a request.
enum class Stage : uint8_t {
  kBefore,  // the request has arrived, but the gateway has not carried it out
  kAfter,   // the gateway has carried out the request, but has not sent the response
};

/// What the gateway does with a request after it has called the hook.
enum class Fate : uint8_t {
  kGoOn,
  kDrop,  // the gateway closes the connection of the request
};

struct GatewayOptions {
  int port = 0;  // port of the gateway; 0 = any free port
  Transport transport = Transport::kBuffered;
  bool compact = false;
  /// The maximum size of a request in bytes, if the transport is framed. If a request is longer,
  /// the gateway closes its connection.
  int frame_bytes_max = 2 << 20;
  /// The gateway calls this function twice for each request, once per Stage, with the name of the
  /// method. The threads of the connections make the calls.
  std::function<Fate(const std::string& method, Stage stage)> hook = nullptr;
};

/// A gateway. It serves requests from its construction until Stop or until its destruction. The
/// object is thread-safe.
class FakeGateway {
 public:
  /// For each request, the gateway calls `store` to get the cell store.
  FakeGateway(std::function<Store&()> store, GatewayOptions options);
  ~FakeGateway();

  [[nodiscard]] int port() const;
  /// Returns the options with which a client can use this gateway.
  [[nodiscard]] HbaseOptions ClientOptions() const;
  /// Forgets all open scanners. HBase also forgets them after a restart, and forgets scanners that
  /// were unused for a minute.
  void ForgetScanners();
  /// Returns the number of open scanners.
  [[nodiscard]] size_t scanner_count() const;
  /// Closes all connections and the port. When the function returns, all threads of the gateway
  /// have ended.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hg::hbase
