#include "query/histogram.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <utility>

#include "storage/model/number_text.h"

namespace hg::query {
namespace {

using codec::HistogramBucket;
using codec::SimpleHistogram;

bool Before(const HistogramBucket& a, const HistogramBucket& b) {
  return a.lower != b.lower ? a.lower < b.lower : a.upper < b.upper;
}

uint64_t CountOf(const SimpleHistogram& histogram, const HistogramBucket& bounds) {
  auto at = std::lower_bound(histogram.buckets.begin(), histogram.buckets.end(), bounds, Before);
  return at == histogram.buckets.end() || Before(bounds, *at) ? 0 : at->count;
}

template <typename Value>
HistogramOutput Output(const HistogramColumn& histograms, std::string suffix, bool doubles,
                       Value&& value) {
  HistogramOutput out;
  out.suffix = std::move(suffix);
  out.points.all_double = doubles;
  for (const TimedHistogram& h : histograms) {
    out.points.time_ms.push_back(h.time_ms);
    out.points.bits.push_back(value(h.histogram));
  }
  return out;
}

}  // namespace

int64_t HistogramBytes(const SimpleHistogram& histogram) {
  constexpr size_t kPieceBytes = 16;  // the allocator's, roughly
  return static_cast<int64_t>(sizeof(TimedHistogram) + kPieceBytes +
                              histogram.buckets.size() * sizeof(HistogramBucket));
}

int64_t HistogramBytes(const HistogramColumn& histograms) {
  int64_t bytes = 0;
  for (const TimedHistogram& h : histograms) bytes += HistogramBytes(h.histogram);
  return bytes;
}

void AddHistogram(const SimpleHistogram& from, SimpleHistogram* to) {
  for (const HistogramBucket& bucket : from.buckets) {
    auto at = std::lower_bound(to->buckets.begin(), to->buckets.end(), bucket, Before);
    if (at == to->buckets.end() || Before(bucket, *at)) {
      to->buckets.insert(at, bucket);
    } else {
      at->count += bucket.count;
    }
  }
  to->underflow += from.underflow;
  to->overflow += from.overflow;
}

double Percentile(const SimpleHistogram& histogram, double p) {
  if (p < 1.0 || p > 100.0) return -1.0;
  // Counts are 32-bit integers; their total wraps, and may be zero, their running sum does not.
  uint32_t total = 0;
  for (const HistogramBucket& bucket : histogram.buckets)
    total += static_cast<uint32_t>(bucket.count);
  const double divisor = static_cast<int32_t>(total);
  int64_t sum = 0;
  for (const HistogramBucket& bucket : histogram.buckets) {
    sum += static_cast<int32_t>(bucket.count);
    if (static_cast<double>(sum) * 100.0 / divisor >= p)
      return static_cast<double>((bucket.lower + bucket.upper) / 2);
  }
  return 0.0;
}

HistogramColumn Downsampled(const HistogramColumn& histograms, const BucketGrid& grid) {
  HistogramColumn out;
  if (grid.spec().run_all) return out;
  int64_t end = 0;
  for (const TimedHistogram& h : histograms) {
    if (h.time_ms < grid.first_point_ms()) continue;
    if (!out.empty() && h.time_ms < end) {
      AddHistogram(h.histogram, &out.back().histogram);
      continue;
    }
    int64_t start = 0;
    if (out.empty()) {
      start = grid.FirstBucket(h.time_ms);
      end = grid.BucketEnd(start);
    } else {
      start = grid.BucketOf(h.time_ms, out.back().time_ms, &end);
    }
    out.push_back({start, h.histogram});
  }
  return out;
}

HistogramColumn Merged(std::span<const HistogramColumn* const> columns) {
  using Head = std::pair<int64_t, size_t>;  // time, column
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::vector<size_t> next(columns.size(), 0);
  // To OpenTSDB's HistogramAggregationIterator the time 0 says that a series has ended.
  const auto enter = [&](size_t i) {
    if (next[i] == columns[i]->size()) return;
    const int64_t time_ms = (*columns[i])[next[i]].time_ms;
    if (time_ms != 0) heads.emplace(time_ms, i);
  };
  for (size_t i = 0; i < columns.size(); ++i) enter(i);
  HistogramColumn out;
  std::vector<size_t> taken;
  while (!heads.empty()) {
    const int64_t time_ms = heads.top().first;
    taken.clear();
    for (; !heads.empty() && heads.top().first == time_ms; heads.pop())
      taken.push_back(heads.top().second);
    out.push_back({time_ms, (*columns[taken[0]])[next[taken[0]]].histogram});
    for (size_t k = 1; k < taken.size(); ++k)
      AddHistogram((*columns[taken[k]])[next[taken[k]]].histogram, &out.back().histogram);
    for (const size_t i : taken) {
      ++next[i];
      enter(i);
    }
  }
  return out;
}

std::vector<HistogramOutput> HistogramOutputs(const HistogramColumn& histograms,
                                              std::vector<double> percentiles,
                                              const SimpleHistogram* shape) {
  std::vector<HistogramOutput> out;
  std::sort(percentiles.begin(), percentiles.end());
  for (const double p : percentiles) {
    const auto single = static_cast<float>(p);
    std::string suffix = "_pct_";
    AppendJavaFloat(&suffix, single);
    out.push_back(Output(histograms, std::move(suffix), true, [&](const SimpleHistogram& h) {
      return std::bit_cast<uint64_t>(Percentile(h, static_cast<double>(single)));
    }));
  }
  if (shape == nullptr) return out;
  out.push_back(Output(histograms, "_UNDERFLOW", false,
                       [](const SimpleHistogram& h) { return h.underflow; }));
  for (const HistogramBucket& bounds : shape->buckets) {
    std::string suffix = "_";
    AppendJavaFloat(&suffix, bounds.lower);
    suffix += "_";
    AppendJavaFloat(&suffix, bounds.upper);
    out.push_back(Output(histograms, std::move(suffix), false,
                         [&](const SimpleHistogram& h) { return CountOf(h, bounds); }));
  }
  out.push_back(
      Output(histograms, "_OVERFLOW", false, [](const SimpleHistogram& h) { return h.overflow; }));
  return out;
}

}  // namespace hg::query
