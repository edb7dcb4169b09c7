#pragma once
// A Thrift2 gateway without HBase: the server of storage/thrift2 over any cell store, on a socket
// of 127.0.0.1. It allows tests of the client without a JVM (hbase-backend.md §13). It can speak
// only one form of the protocol, as HBase's gateways do, and fail where a test chooses.

#include <functional>
#include <memory>
#include <string>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// The two times at which the gateway calls the hook for a request.
enum class Stage : uint8_t {
  kBefore,  // the request has arrived and is not carried out yet
  kAfter,   // the request was carried out, and the response is not sent yet
};

/// What the gateway does with a request after the hook was called.
enum class Fate : uint8_t {
  kGoOn,
  kDrop,  // the gateway closes the connection
};

struct GatewayOptions {
  int port = 0;  // 0 = any free port
  Transport transport = Transport::kBuffered;
  bool compact = false;
  /// Maximum size of a request in framed gateways. The connection of a longer request is closed.
  int frame_bytes_max = 2 << 20;
  /// The threads of the connections call this function with the name of the method.
  std::function<Fate(const std::string& method, Stage stage)> hook = nullptr;
};

/// Serves requests from its construction until Stop or its destruction. Thread-safe.
class FakeGateway {
 public:
  /// The gateway calls `store` for each request to get the cell store.
  FakeGateway(std::function<Store&()> store, GatewayOptions options);
  ~FakeGateway();

  [[nodiscard]] int port() const;
  /// Returns the options that a client needs to use this gateway.
  [[nodiscard]] HbaseOptions ClientOptions() const;
  /// Removes all scanners, as HBase does after a minute or a restart.
  void ForgetScanners();
  /// Returns the number of open scanners.
  [[nodiscard]] size_t scanner_count() const;
  /// Closes all connections and the port. All threads have ended when this function returns.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hg::hbase
