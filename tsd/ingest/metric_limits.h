#pragma once
// Limits for each metric: points per second and number of series. A batch that exceeds the rate is
// rejected as a whole, and the client can send the batch again. A point is rejected if it would
// create a series above the maximum.

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
  uint64_t points_per_s = 0;  // 0 = no limit
  uint64_t series_max = 0;    // 0 = no limit

  [[nodiscard]] bool any() const { return points_per_s > 0 || series_max > 0; }
};

/// Thread-safe.
class MetricLimits {
 public:
  /// Both references must outlive the object.
  MetricLimits(MetricLimitOptions options, Points& points, const Clock& clock)
      : options_(options), points_(points), clock_(clock) {}

  /// Returns ok if all points of a batch may be stored now. LimitExceeded: a metric is above its
  /// rate limit. The error message names the first one of these metrics.
  Status AskForPoints(std::span<const PointEntry> batch);
  /// Counts the points of a batch towards the limits. Call this function after they were stored.
  void ChargePoints(std::span<const PointEntry> batch);
  /// Like AskForPoints and ChargePoints, for histograms and rollups of metrics given by id.
  Status AskForValues(std::span<const Bytes> metrics, uint64_t values);
  void ChargeValue(ByteView metric, std::string_view name);

  /// Counts a new series towards the maximum of the metric with the id `metric`. `metric` is "" if
  /// the metric itself is new. InvalidArgument: the metric already has its maximum of series. The
  /// error message names the metric and the limit. The first call for a metric blocks, because it
  /// counts the existing series. At the limit, a call counts them again if the last count is older
  /// than kRecountNs, because the store may have forgotten series without rows.
  Status TakeNewSeries(const std::string& name, ByteView metric);
  /// Reverses TakeNewSeries, because the series was not created.
  void GiveBack(const std::string& name);

  /// From now on, counts the points of this series towards the limit of this metric.
  void Learn(SeriesNumber series, ByteView metric, std::string_view name);
  /// Forgets which series belong to which metric. Call this function when names have changed.
  void Forget();

  /// Returns the number of metrics whose series were counted.
  [[nodiscard]] size_t counted_metrics();

  [[nodiscard]] bool counts_points() const { return options_.points_per_s > 0; }
  [[nodiscard]] bool counts_series() const { return options_.series_max > 0; }
  [[nodiscard]] uint64_t refused_points() const { return refused_points_.load(); }
  [[nodiscard]] uint64_t refused_series() const { return refused_series_.load(); }

  static constexpr int64_t kRecountNs = 600'000'000'000;

 private:
  struct Metric {
    Metric(std::string_view name_, uint64_t points_per_s) : name(name_), rate(points_per_s) {}
    const std::string name;
    RateLimit rate;
  };

  /// Calls visit(metric, points) for each group of consecutive points of one limited metric, until
  /// `visit` returns false. Returns the metric for which `visit` returned false, or nullptr. The
  /// caller must hold rates_mutex_.
  template <typename Visit>
  Metric* EachMetric(std::span<const PointEntry> batch, const Visit& visit) const;
  /// Returns the error for `count` points or values of that metric that are rejected, and adds
  /// `count` to the number of rejected points.
  Status Refuse(const Metric& metric, uint64_t count);
  /// Returns the entry of a metric, and creates it if it does not exist. The caller must hold
  /// rates_mutex_ exclusively.
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
  struct SeriesCount {
    uint64_t series = 0;
    int64_t counted_ns = 0;  // monotonic time of the last call of CountSeries
  };
  std::unordered_map<std::string, SeriesCount>
      series_;  // key: name of the metric; guarded by series_mutex_
};

}  // namespace hg::tsd
