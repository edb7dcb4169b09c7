#pragma once
// Connections to the gateways. Inside of this folder only: it includes what Thrift generates.

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

/// One open connection; one call at a time.
class Connection;

/// Thread-safe. The gateways are asked in turn; one that cannot be reached is left alone for a
/// while. No I/O under the lock.
class GatewayPool {
 public:
  explicit GatewayPool(const HbaseOptions& options);
  ~GatewayPool();
  GatewayPool(const GatewayPool&) = delete;
  GatewayPool& operator=(const GatewayPool&) = delete;

  /// A connection for one holder; given back when it ends. The pool outlives it.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    [[nodiscard]] wire::THBaseServiceClient& client();
    /// Its gateway's place in the options.
    [[nodiscard]] size_t gateway() const { return gateway_; }
    /// Changes when connections to the gateway were lost: scanners that were opened before may be
    /// somebody else's by now (spec hbase-backend.md §3).
    [[nodiscard]] uint64_t epoch() const { return epoch_; }
    /// The connection is out of step or lost: it is closed, not given back. `away`: why the gateway
    /// should not be asked again soon either.
    void Break(const std::optional<Status>& away);

   private:
    friend class GatewayPool;
    Lease(GatewayPool* pool, size_t gateway, uint64_t epoch,
          std::unique_ptr<Connection> connection);

    GatewayPool* pool_;
    size_t gateway_;
    uint64_t epoch_;
    std::unique_ptr<Connection> connection_;  // null: broken, or moved from
  };

  /// Leave to begin a call. While every gateway is away it is refused at once, but for one call
  /// each rest_ms that looks whether they are back (spec hbase-backend.md §3: the open circuit).
  class Entry {
   public:
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&&) = delete;
    ~Entry();

    /// Not ok: Unavailable, with what was heard last.
    [[nodiscard]] const Status& refusal() const { return refusal_; }
    /// It only looks: it should not wait for gateways that are still away.
    [[nodiscard]] bool looks() const { return looking_ != nullptr; }

   private:
    friend class GatewayPool;
    Entry(GatewayPool* looking, Status refusal);

    GatewayPool* looking_;  // null: does not look
    Status refusal_;
  };
  Entry Enter();

  /// Waits while all connections are in use. Busy: until the deadline. Unavailable: the gateway
  /// cannot be reached, or is none of ours; the message says which and why.
  Result<Lease> Take(std::optional<size_t> gateway, Deadline deadline);

  /// Unavailable, with what was heard last, while every gateway is away; asks none of them.
  [[nodiscard]] Status Reachable();

  [[nodiscard]] size_t gateway_count() const { return gateways_.size(); }
  [[nodiscard]] std::string Name(size_t gateway) const;
  [[nodiscard]] std::vector<HbaseStats::Connections> Connections();

 private:
  struct State {
    std::vector<std::unique_ptr<Connection>> idle;  // the last one used last
    size_t open = 0;                                // idle, leased or being opened
    uint64_t epoch = 0;
    uint64_t opened = 0;  // so far
    int failures = 0;     // one after another; more than none: it is away
    Deadline resting_until{};
  };

  // All of these but Open expect mutex_ to be held.
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
  std::vector<State> gateways_;  // guarded by mutex_, but for its size
  size_t turn_ = 0;              // guarded by mutex_, as all below
  Status away_;                  // of the gateway that was last found away
  bool looking_ = false;         // a call does, while all are away
  Deadline look_at_{};           // and not before
};

}  // namespace hg::hbase
