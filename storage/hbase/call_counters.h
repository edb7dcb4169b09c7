#pragma once
// Statistics of calls to HBase, by Thrift method. Only files in storage/hbase use this file.

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "storage/base/latency.h"
#include "storage/base/status.h"
#include "storage/hbase/hbase_stats.h"

namespace hg::hbase {

/// Counters for each Thrift method. Thread-safe.
class CallCounters {
 public:
  /// Counts a finished call. `attempts` is the number of its attempts, and `took` is their total
  /// duration.
  void Count(const std::string& method, int attempts, std::chrono::steady_clock::duration took,
             const Status& status) {
    const std::lock_guard lock(mutex_);
    Totals& totals = by_method_[method];
    totals.repeats += static_cast<uint64_t>(attempts - 1);
    totals.failures += status.ok() ? 0 : 1;
    totals.latency.Record(took);
  }

  /// Counts a call that was not sent, because all gateways were unreachable.
  void CountRefused(const std::string& method) {
    const std::lock_guard lock(mutex_);
    ++by_method_[method].refused;
  }

  [[nodiscard]] std::vector<HbaseStats::Calls> Read() const {
    const std::lock_guard lock(mutex_);
    std::vector<HbaseStats::Calls> all;
    for (const auto& [method, totals] : by_method_) {
      HbaseStats::Calls& calls = all.emplace_back();
      calls.method = method;
      calls.calls = totals.latency.Count();
      calls.took = totals.latency.Histogram();
      calls.repeats = totals.repeats;
      calls.failures = totals.failures;
      calls.refused = totals.refused;
      for (size_t i = 0; i < calls.millis.size(); ++i) {
        calls.millis[i] = totals.latency.Percentile(HbaseStats::kPercentiles[i]);
      }
    }
    return all;
  }

 private:
  struct Totals {
    uint64_t repeats = 0, failures = 0, refused = 0;
    Latency latency;  // also counts the calls
  };

  mutable std::mutex mutex_;
  std::map<std::string, Totals> by_method_;  // guarded by mutex_
};

}  // namespace hg::hbase
