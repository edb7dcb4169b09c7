#pragma once
// A Thrift2 gateway without HBase: the server of storage/thrift2 over any cell store, on a socket
// of 127.0.0.1. With it the client is tested without a JVM (hbase-backend.md §13). It can speak one
// form of the protocol only, as HBase's gateways do, and fail where a test wants it.

#include <functional>
#include <memory>
#include <string>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// The time at which a hook is called.
enum class Stage : uint8_t {
  kBefore,  // the call has arrived and is not carried out yet
  kAfter,   // the call was carried out, and the response is not sent yet
};

/// The fate of a call after the hook has seen it.
enum class Fate : uint8_t {
  kGoOn,
  kDrop,  // the gateway closes the connection
};

struct GatewayOptions {
  int port = 0;  // 0 = any free port
  Transport transport = Transport::kBuffered;
  bool compact = false;
  /// For framed gateways: a longer request closes the connection.
  int frame_bytes_max = 2 << 20;
  /// Called on the threads of the connections with the name of the method.
  std::function<Fate(const std::string& method, Stage stage)> hook = nullptr;
};

/// Serves from its construction until Stop or its destruction. Thread-safe.
class FakeGateway {
 public:
  /// `store` is called for each request to get the cell store.
  FakeGateway(std::function<Store&()> store, GatewayOptions options);
  ~FakeGateway();

  [[nodiscard]] int port() const;
  /// Returns the options of a client of this gateway.
  [[nodiscard]] HbaseOptions ClientOptions() const;
  /// Removes all scanners, as HBase does after a minute or a restart.
  void ForgetScanners();
  /// The number of scanners that are open.
  [[nodiscard]] size_t scanner_count() const;
  /// Closes all connections and the port. When it returns, all threads have ended.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hg::hbase
