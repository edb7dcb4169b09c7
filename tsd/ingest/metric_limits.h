#pragma once
// Limits for each metric: points per second, and number of series. A batch of points that exceeds
// the rate is rejected as a whole, and the client can send the batch again. A point is rejected if
// it would create one series more than the maximum of its metric.

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "storage/base/clock.h"
#include "storage/base/keyed_hash.h"
#include "storage/base/rate_limit.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::tsd {

struct MetricLimitOptions {
  uint64_t points_per_s = 0;  // maximum number of points per second; 0 = no limit
  uint64_t series_max = 0;    // maximum number of series; 0 = no limit

  [[nodiscard]] bool any() const { return points_per_s > 0 || series_max > 0; }
};

/// Enforces the limits of each metric. The object is thread-safe.
class MetricLimits {
 public:
  /// The references must outlive the object. The object adds the memory of its entries, in bytes,
  /// to `charged` (Backend::name_bytes), and subtracts the memory when it removes entries. nullptr:
  /// the memory is not counted.
  MetricLimits(MetricLimitOptions options, Points& points, const Clock& clock,
               std::shared_ptr<std::atomic<uint64_t>> charged = nullptr)
      : options_(options), points_(points), clock_(clock), charged_(std::move(charged)) {}

  /// Returns OK if all points of a batch may be stored now. LimitExceeded: a metric has exceeded
  /// its rate limit; the error message contains the first such metric.
  Status AskForPoints(std::span<const PointEntry> batch);
  /// Counts the points of a batch towards the limits. Call this function after the points were
  /// stored.
  void ChargePoints(std::span<const PointEntry> batch);
  /// For histograms and rollups. AskForValues returns OK if `values` values of these metrics may be
  /// stored now, and LimitExceeded if a metric has exceeded its rate limit. ChargeValue counts one
  /// stored value towards the rate limit. `metrics` and `metric` are ids.
  Status AskForValues(std::span<const Bytes> metrics, uint64_t values);
  void ChargeValue(ByteView metric, std::string_view name);

  /// Counts a new series towards the series limit of a metric. `metric` is the id of the metric, or
  /// "" if the metric itself is new. After OK, the caller must call EndNewSeries. InvalidArgument:
  /// the metric already has its maximum number of series; the error message contains the metric and
  /// the limit. Busy: Forget was called during a count. If the count fails or the limits of
  /// `context` end it, returns that error.
  ///
  /// The first call for a metric counts the existing series of the metric, so it may wait for a
  /// disk. The store may later remove series that have no rows. Therefore, if the limit is reached
  /// and the last count is older than kRecountNs, the function counts the series again. Other
  /// functions do not wait for a count. Threads that count the same metric do so concurrently.
  Status TakeNewSeries(const std::string& name, ByteView metric, RequestContext& context);
  /// Ends the creation of a series that TakeNewSeries has counted. If `created` is false, the
  /// series was not created and no longer counts.
  void EndNewSeries(const std::string& name, bool created);

  /// Records that the series belongs to this metric. From now on, points of the series count
  /// towards the rate limit of the metric.
  void Learn(SeriesNumber series, ByteView metric, std::string_view name);
  /// Discards the numbers of series that were counted, so that the series of each metric are
  /// counted again. Call this function after names have changed.
  void Forget();

  /// Returns the number of metrics whose series have been counted.
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

  /// Calls visit(metric, points) for each group of consecutive points of one limited metric. Stops
  /// when `visit` returns false, and returns the metric of that call; otherwise returns nullptr.
  /// The caller must hold rates_mutex_.
  template <typename Visit>
  Metric* EachMetric(std::span<const PointEntry> batch, const Visit& visit) const;
  /// Returns the error for `count` points or values of a metric that are rejected, and adds `count`
  /// to the number of rejected points.
  Status Refuse(const Metric& metric, uint64_t count);
  /// Returns the entry of a metric, and creates the entry if it does not exist. The caller must
  /// hold rates_mutex_ exclusively.
  Metric& RateOf(ByteView metric, std::string_view name);
  void Charge(uint64_t bytes);  // adds modulo 2^64, so that Charge(0 - n) subtracts n

  const MetricLimitOptions options_;
  Points& points_;
  const Clock& clock_;
  const std::shared_ptr<std::atomic<uint64_t>> charged_;
  std::atomic<uint64_t> refused_points_{0}, refused_series_{0};

  std::shared_mutex rates_mutex_;
  /// Entries by id of the metric; guarded by rates_mutex_.
  std::unordered_map<Bytes, Metric> by_id_;
  /// Entries by series number; guarded by rates_mutex_. A deque, because a vector that grows would
  /// copy the pointers of all series while event loops wait for rates_mutex_.
  std::deque<Metric*> by_series_;

  std::mutex series_mutex_;
  struct SeriesCount {
    uint64_t series = 0;         // never less than the stored series and those being created
    uint64_t being_created = 0;  // number of series without a call of EndNewSeries yet
    /// Monotonic time of the last count of the series. Empty after Forget, when `series` is
    /// unknown.
    std::optional<int64_t> counted_ns;
  };
  /// Returns whether TakeNewSeries can decide by this count.
  [[nodiscard]] bool IsUsable(const SeriesCount& count) const;
  using Counts = std::unordered_map<std::string, SeriesCount, keyed_hash::Hash>;
  /// Removes an entry of series_, and returns the next entry. The caller must hold series_mutex_.
  Counts::iterator Remove(Counts::iterator entry);
  Counts series_;         // counts of series by name of the metric; guarded by series_mutex_
  uint64_t forgets_ = 0;  // number of calls of Forget; guarded by series_mutex_
};

}  // namespace hg::tsd
