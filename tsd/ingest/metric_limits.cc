#include "tsd/ingest/metric_limits.h"

#include <iterator>
#include <tuple>

#include "uid/name_cache.h"

namespace hg::tsd {
namespace {

/// Returns the memory of an entry of a hash table in bytes. `text` is the longer text of the entry.
template <typename Entry>
uint64_t BytesOfEntry(std::string_view text) {
  constexpr uint64_t kNodeBytes = 48;  // pointers, the hash and the overhead of malloc
  return kNodeBytes + sizeof(Entry) + uid::HeapBytesOf(text.size());
}

/// Memory of a pointer in a deque in bytes, including the blocks of the deque.
constexpr uint64_t kSeriesBytes = sizeof(void*) + 1;

}  // namespace

template <typename Visit>
MetricLimits::Metric* MetricLimits::EachMetric(std::span<const PointEntry> batch,
                                               const Visit& visit) const {
  const auto metric_of = [this](const PointEntry& entry) {
    return entry.series < by_series_.size() ? by_series_[entry.series] : nullptr;
  };
  // Points of one metric are usually adjacent, so adjacent points are counted together.
  for (size_t i = 0; i < batch.size();) {
    Metric* const metric = metric_of(batch[i]);
    const size_t begin = i;
    while (i < batch.size() && metric_of(batch[i]) == metric) ++i;
    if (metric != nullptr && !visit(*metric, i - begin)) return metric;
  }
  return nullptr;
}

Status MetricLimits::AskForPoints(std::span<const PointEntry> batch) {
  if (options_.points_per_s == 0) return {};
  const int64_t now_ns = clock_.MonotonicNs();
  std::shared_lock lock(rates_mutex_);
  const Metric* const full =
      EachMetric(batch, [&](const Metric& metric, uint64_t) { return metric.rate.Open(now_ns); });
  return full != nullptr ? Refuse(*full, batch.size()) : Status();
}

Status MetricLimits::Refuse(const Metric& metric, uint64_t count) {
  refused_points_.fetch_add(count, std::memory_order_relaxed);
  return Status::LimitExceeded("the metric " + metric.name + " takes no more than " +
                               std::to_string(options_.points_per_s) + " points a second");
}

void MetricLimits::ChargePoints(std::span<const PointEntry> batch) {
  if (options_.points_per_s == 0) return;
  const int64_t now_ns = clock_.MonotonicNs();
  std::shared_lock lock(rates_mutex_);
  EachMetric(batch, [&](Metric& metric, uint64_t count) {
    metric.rate.Take(count, now_ns);
    return true;
  });
}

Status MetricLimits::AskForValues(std::span<const Bytes> metrics, uint64_t values) {
  if (options_.points_per_s == 0) return {};
  const int64_t now_ns = clock_.MonotonicNs();
  std::shared_lock lock(rates_mutex_);
  for (const Bytes& metric : metrics) {
    const auto known = by_id_.find(metric);
    if (known != by_id_.end() && !known->second.rate.Open(now_ns))
      return Refuse(known->second, values);
  }
  return {};
}

void MetricLimits::ChargeValue(ByteView metric, std::string_view name) {
  if (options_.points_per_s == 0) return;
  std::unique_lock lock(rates_mutex_);
  RateOf(metric, name).rate.Take(1, clock_.MonotonicNs());
}

MetricLimits::Metric& MetricLimits::RateOf(ByteView metric, std::string_view name) {
  const auto [entry, added] = by_id_.try_emplace(Bytes(metric), name, options_.points_per_s);
  if (added) Charge(BytesOfEntry<decltype(by_id_)::value_type>(name));
  return entry->second;
}

void MetricLimits::Charge(uint64_t bytes) {
  if (charged_ != nullptr) charged_->fetch_add(bytes, std::memory_order_relaxed);
}

bool MetricLimits::IsUsable(const SeriesCount& count) const {
  return count.counted_ns && (count.series < options_.series_max ||
                              clock_.MonotonicNs() - *count.counted_ns < kRecountNs);
}

// The lock is not held during a count, because the count may wait for a disk. If another thread has
// set a usable count in the meantime, its count is used: more series may exist since this count.
// Otherwise, new series can only have taken the place of series that were given back. So this count
// and the series that were being created before it are together enough for all series.
Status MetricLimits::TakeNewSeries(const std::string& name, ByteView metric,
                                   RequestContext& context) {
  std::unique_lock lock(series_mutex_);
  auto known = series_.find(name);
  if (known == series_.end() || !IsUsable(known->second)) {
    uint64_t series = known != series_.end() ? known->second.being_created : 0;
    const uint64_t forgets = forgets_;
    lock.unlock();
    if (!metric.empty()) {
      ASSIGN_OR_RETURN(const uint64_t stored, points_.CountSeries(metric, &context));
      series += stored;
    }
    lock.lock();
    if (forgets != forgets_) {
      return Status::Busy("a name has changed while the series of the metric " + name +
                          " were counted. Please try again");
    }
    bool added = false;
    std::tie(known, added) = series_.try_emplace(name);
    if (added) Charge(BytesOfEntry<Counts::value_type>(name));
    if (!IsUsable(known->second)) {
      known->second.series = series;
      known->second.counted_ns = clock_.MonotonicNs();
    }
  }
  SeriesCount& count = known->second;
  if (count.series < options_.series_max) {
    ++count.series;
    ++count.being_created;
    return {};
  }
  refused_series_.fetch_add(1, std::memory_order_relaxed);
  return Status::InvalidArgument("the metric " + name + " already has its maximum of " +
                                 std::to_string(options_.series_max) + " series");
}

void MetricLimits::EndNewSeries(const std::string& name, bool created) {
  std::lock_guard lock(series_mutex_);
  const auto entry = series_.find(name);
  SeriesCount& count = entry->second;
  --count.being_created;
  if (!created) --count.series;
  // A name without series is removed, because clients could send any number of such names.
  if (count.being_created == 0 && (count.series == 0 || !count.counted_ns)) Remove(entry);
}

MetricLimits::Counts::iterator MetricLimits::Remove(Counts::iterator entry) {
  Charge(0 - BytesOfEntry<Counts::value_type>(entry->first));
  return series_.erase(entry);
}

void MetricLimits::Learn(SeriesNumber series, ByteView metric, std::string_view name) {
  if (options_.points_per_s == 0) return;
  std::unique_lock lock(rates_mutex_);
  Metric& rate = RateOf(metric, name);
  if (const size_t known = by_series_.size(); series >= known) {
    by_series_.resize(series + size_t{1});
    Charge((by_series_.size() - known) * kSeriesBytes);
  }
  by_series_[series] = &rate;
}

size_t MetricLimits::counted_metrics() {
  std::lock_guard lock(series_mutex_);
  return series_.size();
}

void MetricLimits::Forget() {
  std::lock_guard lock(series_mutex_);
  ++forgets_;
  for (auto known = series_.begin(); known != series_.end();) {
    known->second.counted_ns.reset();
    known = known->second.being_created == 0 ? Remove(known) : std::next(known);
  }
}

}  // namespace hg::tsd
