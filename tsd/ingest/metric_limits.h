#pragma once
// What one metric may take: points a second, series in all. Over the rate a whole batch is refused,
// to be sent again; a series too many is a fault of its point.

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/rate_limit.h"
#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::tsd {

struct MetricLimitOptions {
  uint64_t points_per_s = 0;  // 0 = as many as come
  uint64_t series_max = 0;    // the same

  [[nodiscard]] bool any() const { return points_per_s > 0 || series_max > 0; }
};

/// Thread-safe.
class MetricLimits {
 public:
  /// Both outlive the object.
  MetricLimits(MetricLimitOptions options, Points& points, const Clock& clock)
      : options_(options), points_(points), clock_(clock) {}

  /// Whether the points of a batch may be stored now, all or none. LimitExceeded names the first
  /// metric that takes too many.
  Status AskForPoints(std::span<const PointEntry> batch);
  /// They were stored, and count.
  void ChargePoints(std::span<const PointEntry> batch);
  /// The same of so many values beside points, of metrics by their ids.
  Status AskForValues(std::span<const Bytes> metrics, uint64_t values);
  void ChargeValue(ByteView metric, std::string_view name);

  /// A series that is to come to a metric, of id `metric` ("" = the metric is new as well).
  /// InvalidArgument: it has as many as it may; the message names it and the limit. The first call
  /// for a metric counts its series, which blocks.
  Status TakeNewSeries(const std::string& name, ByteView metric);
  /// It did not come after all.
  void GiveBack(const std::string& name);

  /// Points of this series count for that metric.
  void Learn(SeriesNumber series, ByteView metric, std::string_view name);
  /// Names have changed.
  void Forget();

  /// Metrics whose number of series is remembered.
  [[nodiscard]] size_t counted_metrics();

  [[nodiscard]] bool counts_points() const { return options_.points_per_s > 0; }
  [[nodiscard]] bool counts_series() const { return options_.series_max > 0; }
  [[nodiscard]] uint64_t refused_points() const { return refused_points_.load(); }
  [[nodiscard]] uint64_t refused_series() const { return refused_series_.load(); }

 private:
  struct Metric {
    Metric(std::string_view name_, uint64_t points_per_s) : name(name_), rate(points_per_s) {}
    const std::string name;
    RateLimit rate;
  };

  /// visit(metric, points) of each run of points of one limited metric, until it answers false;
  /// that metric, or nullptr. Callers lock.
  template <typename Visit>
  Metric* EachMetric(std::span<const PointEntry> batch, const Visit& visit) const;
  /// `count` points or values are refused, as that metric takes no more.
  Status Refuse(const Metric& metric, uint64_t count);
  /// Of an id; made if it is not there. Callers lock, alone.
  Metric& RateOf(ByteView metric, std::string_view name);
  Result<uint64_t> CountSeries(ByteView metric);

  const MetricLimitOptions options_;
  Points& points_;
  const Clock& clock_;
  std::atomic<uint64_t> refused_points_{0}, refused_series_{0};

  std::shared_mutex rates_mutex_;
  std::unordered_map<Bytes, std::unique_ptr<Metric>> by_id_;  // guarded by rates_mutex_
  std::vector<Metric*> by_series_;                            // guarded by rates_mutex_

  std::mutex series_mutex_;
  std::unordered_map<std::string, uint64_t> series_;  // by metric's name; guarded by series_mutex_
};

}  // namespace hg::tsd
