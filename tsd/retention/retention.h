#pragma once
// Deletes points that are older than the rules say, by their own time: whole row-hours, in the
// background; whole files first, where rules without tags cover all that is in them. What is kept
// equally long everywhere is better told the store (tsd.storage.ttl), which hides it at once and
// drops nothing but whole files.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "query/options.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/points/points.h"
#include "tsd/retention/retention_rules.h"
#include "uid/names.h"

namespace hg::tsd {

struct RetentionOptions {
  std::vector<RetentionRule> rules;
  int64_t interval_s = 3600;  // between rounds
  query::Options query;       // how filters find names
  /// Asked for a metric before rows of hours before `end_s` go: before what they may, at most that.
  /// Empty: all may.
  std::function<Result<uint32_t>(const Bytes& metric, uint32_t end_s)> may_delete = {};
};

struct RetentionStats {
  uint64_t rounds = 0;  // that came to their end
  // Metrics whose rows could not be deleted, or not all, in some round; and rounds whose files
  // could not go.
  uint64_t failures = 0;
};

/// Thread-safe; rounds follow each other. Points, names and clock outlive it.
class Retention {
 public:
  Retention(Points& points, uid::Names& names, const Clock& clock, RetentionOptions options)
      : points_(points), names_(names), clock_(clock), options_(std::move(options)) {
    // Of several names of a rule one that was never written must not keep the others' points.
    options_.query.skip_unresolved_tagvs = true;
  }
  /// Stops.
  ~Retention() { Stop(); }

  /// Starts a thread that makes a round now and then every interval. Failures are logged.
  void Start();
  /// Ends it, in the middle of a round if need be. Idempotent.
  void Stop();
  /// Deletes what has become too old. A metric that fails does not keep the next ones: the first
  /// failure is given at the end; each is logged. Unavailable: stopped.
  Status Round();
  [[nodiscard]] RetentionStats Stats() const { return {rounds_, failures_}; }

 private:
  /// Ends the work of a round when the daemon stops.
  class StopWatch : public WorkWatch {
   public:
    Status Step(uint64_t) override { return stopped ? Status::Unavailable("stopping") : Status(); }
    Status Charge(int64_t) override { return {}; }
    std::atomic<bool> stopped{false};
  };

  void Work();
  Result<std::vector<std::string>> MetricsOf(const RetentionRule& rule);
  Result<uint32_t> EndOf(const Bytes& metric, int64_t keep_ms) const;
  std::map<Bytes, int64_t, std::less<>> ShortestKeeps();
  Status DropFiles();
  Status DeleteOld(const RetentionRule& rule, const std::string& metric);

  Points& points_;
  uid::Names& names_;
  const Clock& clock_;
  RetentionOptions options_;

  std::atomic<uint64_t> rounds_{0};
  std::atomic<uint64_t> failures_{0};
  StopWatch watch_;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread worker_;
};

}  // namespace hg::tsd
