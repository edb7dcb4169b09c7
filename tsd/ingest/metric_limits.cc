#include "tsd/ingest/metric_limits.h"

#include <algorithm>

namespace hg::tsd {

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
    if (known != by_id_.end() && !known->second->rate.Open(now_ns))
      return Refuse(*known->second, values);
  }
  return {};
}

void MetricLimits::ChargeValue(ByteView metric, std::string_view name) {
  if (options_.points_per_s == 0) return;
  std::unique_lock lock(rates_mutex_);
  RateOf(metric, name).rate.Take(1, clock_.MonotonicNs());
}

MetricLimits::Metric& MetricLimits::RateOf(ByteView metric, std::string_view name) {
  std::unique_ptr<Metric>& rate = by_id_[Bytes(metric)];
  if (rate == nullptr) rate = std::make_unique<Metric>(name, options_.points_per_s);
  return *rate;
}

Result<uint64_t> MetricLimits::CountSeries(ByteView metric) {
  uint64_t count = 0;
  if (metric.empty()) return count;
  RETURN_IF_ERROR(points_.ListSeries(metric, {}, nullptr, [&](ByteView) { return ++count > 0; }));
  return count;
}

Status MetricLimits::TakeNewSeries(const std::string& name, ByteView metric) {
  std::lock_guard lock(series_mutex_);
  const int64_t now_ns = clock_.MonotonicNs();
  auto known = series_.find(name);
  if (known == series_.end() || (known->second.series >= options_.series_max &&
                                 now_ns - known->second.counted_ns >= kRecountNs)) {
    ASSIGN_OR_RETURN(const uint64_t count, CountSeries(metric));
    known = series_.insert_or_assign(name, SeriesCount{count, now_ns}).first;
  }
  if (known->second.series < options_.series_max) {
    ++known->second.series;
    return {};
  }
  refused_series_.fetch_add(1, std::memory_order_relaxed);
  return Status::InvalidArgument("the metric " + name + " already has its maximum of " +
                                 std::to_string(options_.series_max) + " series");
}

void MetricLimits::GiveBack(const std::string& name) {
  std::lock_guard lock(series_mutex_);
  const auto known = series_.find(name);
  if (known == series_.end()) return;
  // A name without series is removed, because clients could send any number of such names.
  if (known->second.series <= 1) {
    series_.erase(known);
  } else {
    --known->second.series;
  }
}

void MetricLimits::Learn(SeriesNumber series, ByteView metric, std::string_view name) {
  if (options_.points_per_s == 0) return;
  std::unique_lock lock(rates_mutex_);
  Metric& rate = RateOf(metric, name);
  if (series >= by_series_.size())
    by_series_.resize(std::max<size_t>(series + size_t{1}, by_series_.size() * 2));
  by_series_[series] = &rate;
}

size_t MetricLimits::counted_metrics() {
  std::lock_guard lock(series_mutex_);
  return series_.size();
}

void MetricLimits::Forget() {
  std::lock_guard lock(series_mutex_);
  series_.clear();
}

}  // namespace hg::tsd
