#pragma once
// Deletes points that are older than the retention rules allow. Retention deletes whole row-hours
// in the background. If rules without tags cover whole files, it deletes these files first. If all
// data should have the same retention time, tsd.storage.ttl is better, because a TTL hides old data
// at once and deletes only whole files.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "query/request/options.h"
#include "query/series/series_filter.h"
#include "storage/base/clock.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "tsd/retention/retention_rules.h"
#include "uid/names.h"

namespace hg::tsd {

struct RetentionOptions {
  std::vector<RetentionRule> rules;
  int64_t interval_s = 3600;  // seconds from the end of a call of Round to the next call
  query::Options query;       // the options by which the names in filters of rules are resolved
  /// Retention calls this function before it deletes the rows of a metric in hours before `end_s`.
  /// The function returns the hour (at most `end_s`) before which rows may be deleted. If this
  /// member is empty, all rows before `end_s` may be deleted.
  std::function<Result<uint32_t>(const Bytes& metric, uint32_t end_s)> may_delete = {};
};

struct RetentionStats {
  uint64_t rounds = 0;  // number of complete calls of Round
  // Number of failures. Each call of Round counts one failure for each rule whose metrics could not
  // be found, one for each metric with rows that could not be deleted, and one if the deletion of
  // files failed.
  uint64_t failures = 0;
};

/// Deletes old points by the retention rules. The object is thread-safe. Rounds never overlap.
/// `points`, `names` and `clock` must outlive the object.
class Retention {
 public:
  Retention(Points& points, uid::Names& names, const Clock& clock, RetentionOptions options)
      : points_(points), names_(names), clock_(clock), options_(std::move(options)) {
    // If a rule lists several tag values and one of them was never written, the rule must still
    // apply to all other values.
    options_.query.skip_unresolved_tagvs = true;
  }
  /// The destructor calls Stop.
  ~Retention() { Stop(); }

  /// Starts a thread that calls Round at once, and again after each pause of
  /// RetentionOptions::interval_s. Round logs its failures.
  void Start();
  /// Ends the thread, even in the middle of a round. Further calls of Stop have no effect.
  void Stop();
  /// Deletes all data that is too old. If the deletion fails for one metric, the round continues
  /// with the other metrics. Each failure is logged, and the first failure is returned at the end.
  /// Unavailable: Stop was called.
  Status Round();
  [[nodiscard]] RetentionStats Stats() const { return {rounds_, failures_}; }

 private:
  /// The request context of a round. Its functions fail after the daemon has begun to stop, so that
  /// the round ends.
  class StopWatch : public RequestContext {
   public:
    Status Step(uint64_t) override { return stopped ? Status::Unavailable("stopping") : Status(); }
    Status Charge(int64_t) override { return {}; }
    std::atomic<bool> stopped{false};
  };

  void Work();
  Status ForEachMetric(const RetentionRule& rule,
                       const std::function<Status(const std::string& name)>& visit);
  Result<uint32_t> EndOf(const Bytes& metric, int64_t keep_ms) const;
  Result<std::optional<int64_t>> ShortestKeep(ByteView metric);
  Status DropFiles();
  Status DeleteOld(const RetentionRule& rule, const Bytes& metric);
  Status DeleteChosen(const query::SeriesFilter& filter, PointScanSpec* spec);

  Points& points_;
  uid::Names& names_;
  const Clock& clock_;
  RetentionOptions options_;

  std::atomic<uint64_t> rounds_{0};
  std::atomic<uint64_t> failures_{0};
  // The stop signal for the thread. Stop sets watch_.stopped while it holds mutex_. The thread
  // waits for stop_ with mutex_, so it cannot miss the signal. mutex_ guards nothing else.
  StopWatch watch_;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread worker_;  // used only by the threads that call Start and Stop
};

}  // namespace hg::tsd
