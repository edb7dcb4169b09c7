#pragma once
// A Thrift2 gateway without HBase: the service over any cells door, on a socket of 127.0.0.1, so
// that the client is tried without a JVM (spec hbase-backend.md §13). It keeps HBase's rules where
// they are not the door's: deletes of a mutation hide its puts, an empty expected value stands for
// an absent one, a scan from a key to itself has that key, errors come in HBase's words.

#include <functional>
#include <memory>
#include <string>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// When a hook is called.
enum class Stage : uint8_t {
  kBefore,  // the call has come and was not carried out yet
  kAfter,   // it was carried out and is not answered yet
};

/// What a hook wants to happen.
enum class Fate : uint8_t {
  kGoOn,
  kDrop,  // the connection is closed
};

struct GatewayOptions {
  int port = 0;  // 0 = any that is free
  Transport transport = Transport::kBuffered;
  bool compact = false;
  /// Of a framed gateway: longer requests close the connection.
  int frame_bytes_max = 2 << 20;
  /// Called from the threads of the connections, with the service's method.
  std::function<Fate(const std::string& method, Stage stage)> hook = nullptr;
};

/// Serves from its construction until Stop or its end. Thread-safe.
class FakeGateway {
 public:
  /// `store` is asked for the door at each call.
  FakeGateway(std::function<Store&()> store, GatewayOptions options);
  ~FakeGateway();

  [[nodiscard]] int port() const;
  /// How a client of it is made.
  [[nodiscard]] HbaseOptions ClientOptions() const;
  /// All scanners are gone, as after a minute, or a restart of HBase.
  void ForgetScanners();
  /// Scanners that are open now.
  [[nodiscard]] size_t scanner_count() const;
  /// Closes all connections and its port. Nothing of it is left when it returns.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hg::hbase
