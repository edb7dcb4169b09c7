#pragma once
// Connections to the Thrift gateways of HBase. Only files in storage/hbase use this file, because
// it includes headers that Thrift generated.

#include <THBaseService.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/status.h"
#include "storage/hbase/hbase_stats.h"
#include "storage/hbase/options.h"

namespace hg::hbase {

using Deadline = std::chrono::steady_clock::time_point;

/// One open connection to a gateway. A connection handles one call at a time.
class Connection;

/// A pool of connections to all gateways. Thread-safe. The pool uses the gateways in turn. A
/// gateway that cannot be reached is not used for some time. No thread does I/O while it holds the
/// pool's lock.
class GatewayPool {
 public:
  explicit GatewayPool(const HbaseOptions& options);
  ~GatewayPool();
  GatewayPool(const GatewayPool&) = delete;
  GatewayPool& operator=(const GatewayPool&) = delete;

  /// A connection in use. The destructor returns the connection to the pool, which must outlive the
  /// Lease.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    [[nodiscard]] wire::THBaseServiceClient& client();
    /// Returns the index of the connection's gateway in the options.
    [[nodiscard]] size_t gateway() const { return gateway_; }
    /// Returns a number that changes when connections to the gateway are lost. After the number has
    /// changed, older scanner ids may belong to other scans (hbase-backend.md §3).
    [[nodiscard]] uint64_t epoch() const { return epoch_; }
    /// Closes the connection, which is then not returned to the pool. If the gateway was
    /// unreachable, `away` is the error, and the pool does not use the gateway for some time.
    /// Otherwise, `away` is nullopt.
    void Break(const std::optional<Status>& away);

   private:
    friend class GatewayPool;
    Lease(GatewayPool* pool, size_t gateway, uint64_t epoch,
          std::unique_ptr<Connection> connection);

    GatewayPool* pool_;
    size_t gateway_;
    uint64_t epoch_;
    std::unique_ptr<Connection> connection_;  // null if the connection is unusable or was moved
  };

  /// Permission to begin a call. While all gateways are unreachable, the pool rejects calls at
  /// once. In this state, only one call per rest_ms may begin, to test whether a gateway can be
  /// reached again (hbase-backend.md §3: the open circuit).
  class Entry {
   public:
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&&) = delete;
    ~Entry();

    /// Returns ok if the call may begin. Otherwise returns Unavailable, with the last error of a
    /// gateway.
    [[nodiscard]] const Status& refusal() const { return refusal_; }
    /// Returns whether this call tests if unreachable gateways can be reached again. For a test
    /// call, the caller should not wait for unreachable gateways.
    [[nodiscard]] bool looks() const { return looking_ != nullptr; }

   private:
    friend class GatewayPool;
    Entry(GatewayPool* looking, Status refusal);

    // The pool if this call tests whether a gateway can be reached again, otherwise null.
    GatewayPool* looking_;
    Status refusal_;
  };
  Entry Enter();

  /// Takes a connection to the gateway with the index `gateway`. If `gateway` is nullopt, the pool
  /// chooses the gateway. Opens a connection if none is idle, and waits while all connections that
  /// the options allow are in use. Returns Busy if the deadline passes during the wait. Returns
  /// Unavailable if the gateway cannot be reached or is not a Thrift2 gateway; the error message
  /// has the name of the gateway and the reason.
  Result<Lease> Take(std::optional<size_t> gateway, Deadline deadline);

  /// Returns Unavailable, with the last error, while all gateways are unreachable. Otherwise
  /// returns ok. Does no I/O.
  [[nodiscard]] Status Reachable();

  [[nodiscard]] size_t gateway_count() const { return gateways_.size(); }
  [[nodiscard]] std::string Name(size_t gateway) const;
  [[nodiscard]] std::vector<HbaseStats::Connections> Connections();

 private:
  struct State {
    std::vector<std::unique_ptr<Connection>> idle;  // idle connections, most recently used last
    size_t open = 0;  // number of idle, leased and opening connections
    uint64_t epoch = 0;
    uint64_t opened = 0;  // total number of connections opened so far
    int failures = 0;     // number of failures in sequence; above 0 = unreachable
    Deadline resting_until{};
  };

  // Callers of the following functions, except Open, must hold mutex_.
  [[nodiscard]] bool AllAway() const;
  size_t Choose(Deadline now);
  void Rest(State* state);
  std::vector<std::unique_ptr<Connection>> TakeStale(State* state, Deadline now);

  Result<std::unique_ptr<Connection>> Open(size_t gateway) const;
  void GiveBack(size_t gateway, std::unique_ptr<Connection> connection);
  void Lose(size_t gateway, const std::optional<Status>& away);
  void EndLook();

  const HbaseOptions options_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<State> gateways_;  // guarded by mutex_, except its size
  size_t turn_ = 0;              // guarded by mutex_, like all members below
  Status away_;                  // error of the gateway that became unreachable last
  bool looking_ = false;         // whether a test call is running
  Deadline look_at_{};           // earliest time at which the next test call may begin
};

}  // namespace hg::hbase
