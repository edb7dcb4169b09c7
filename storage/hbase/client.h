#pragma once
// State that the HBase store and its scans share. Only files in storage/hbase use this file.

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "storage/hbase/call.h"
#include "storage/hbase/call_counters.h"

namespace hg::hbase {

// Waits one millisecond after a delete, so that the caller can put a deleted column again at once.
// If a put and a delete of a column have the same timestamp in milliseconds, HBase hides the put,
// whichever came first.
inline void LetDeleteGrowOld() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// The connections, options and statistics of one HBase store. Thread-safe.
struct Client {
  explicit Client(HbaseOptions with) : options(std::move(with)), pool(options) {}

  Status Send(const CallOptions& call, const std::function<void(wire::THBaseServiceClient&)>& send,
              CallTrace* trace = nullptr) {
    CallTrace own;
    if (trace == nullptr) trace = &own;
    const auto begin = std::chrono::steady_clock::now();
    Status status = Call(pool, options, call, send, trace);
    // A call that was rejected without an attempt does not count towards the latency, because it
    // would lower the average.
    if (trace->attempts > 0) {
      counters.Count(call.what, trace->attempts, std::chrono::steady_clock::now() - begin, status);
    } else {
      counters.CountRefused(call.what);
    }
    return status;
  }

  /// Returns the time limit, in ms, of a write with all its repetitions. For tables whose writes
  /// may wait in the spool, the limit may be shorter than deadline_ms, because the write can go to
  /// the spool and because other writes wait for the call.
  [[nodiscard]] int PutDeadlineMs(const std::string& table) const {
    return Spooled(table) ? std::min(options.spool->patience_ms, options.deadline_ms)
                          : options.deadline_ms;
  }
  /// Returns whether writes to the table may wait in the spool.
  [[nodiscard]] bool Spooled(const std::string& table) const {
    if (!options.spool) return false;
    const std::vector<std::string>& tables = options.spool->tables;
    return std::find(tables.begin(), tables.end(), table) != tables.end();
  }

  const HbaseOptions options;
  GatewayPool pool;
  CallCounters counters;
};

}  // namespace hg::hbase
