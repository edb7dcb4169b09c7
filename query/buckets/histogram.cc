#include "query/buckets/histogram.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
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

bool SameBounds(const SimpleHistogram& a, const SimpleHistogram& b) {
  return std::equal(a.buckets.begin(), a.buckets.end(), b.buckets.begin(), b.buckets.end(),
                    [](const HistogramBucket& x, const HistogramBucket& y) {
                      return x.lower == y.lower && x.upper == y.upper;
                    });
}

// Merges two sorted lists of buckets. Buckets with equal bounds become one.
std::vector<HistogramBucket> Joined(const std::vector<HistogramBucket>& a,
                                    const std::vector<HistogramBucket>& b) {
  std::vector<HistogramBucket> out;
  out.reserve(a.size() + b.size());
  auto left = a.begin(), right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (Before(*right, *left)) {
      out.push_back(*right++);
      continue;
    }
    out.push_back(*left++);
    if (!Before(out.back(), *right)) out.back().count += (right++)->count;
  }
  out.insert(out.end(), left, a.end());
  out.insert(out.end(), right, b.end());
  return out;
}

template <typename Value>
HistogramOutput OutputOf(const HistogramColumn& histograms, std::string suffix, Value&& value) {
  HistogramOutput out;
  out.suffix = std::move(suffix);
  out.points.all_double = false;
  out.points.time_ms.reserve(histograms.size());
  out.points.bits.reserve(histograms.size());
  for (const TimedHistogram& h : histograms) {
    out.points.time_ms.push_back(h.time_ms);
    out.points.bits.push_back(value(h.histogram));
  }
  return out;
}

// The cost of finding a bucket of a histogram, in steps (a step is about a point).
constexpr uint64_t kLookUpSteps = 8;
// The memory of an output without its points: the output, its suffix, and the group made from it.
constexpr size_t kOutputBytes = sizeof(HistogramOutput) + sizeof(Group) + 64;

}  // namespace

int64_t HistogramBytes(const SimpleHistogram& histogram) {
  constexpr size_t kPieceBytes = 16;  // approximate overhead of the allocator
  return static_cast<int64_t>(sizeof(TimedHistogram) + kPieceBytes +
                              histogram.buckets.size() * sizeof(HistogramBucket));
}

int64_t HistogramBytes(const HistogramColumn& histograms) {
  int64_t bytes = 0;
  for (const TimedHistogram& h : histograms) bytes += HistogramBytes(h.histogram);
  return bytes;
}

Status HistogramSum::Add(const SimpleHistogram& histogram) {
  RETURN_IF_ERROR(memory_.Step(1 + histogram.buckets.size()));
  if (!parts_.empty() && SameBounds(parts_.back(), histogram)) {
    SimpleHistogram& sum = parts_.back();
    for (size_t i = 0; i < histogram.buckets.size(); ++i)
      sum.buckets[i].count += histogram.buckets[i].count;
    sum.underflow += histogram.underflow;
    sum.overflow += histogram.overflow;
    return {};
  }
  RETURN_IF_ERROR(memory_.Add(HistogramBytes(histogram)));
  parts_.push_back(histogram);
  while (parts_.size() > 1 &&
         parts_[parts_.size() - 2].buckets.size() <= 2 * parts_[parts_.size() - 1].buckets.size())
    RETURN_IF_ERROR(JoinLastTwo());
  return {};
}

Status HistogramSum::JoinLastTwo() {
  const SimpleHistogram last = std::move(parts_.back());
  parts_.pop_back();
  SimpleHistogram& sum = parts_.back();
  const int64_t both = HistogramBytes(sum) + HistogramBytes(last);
  RETURN_IF_ERROR(memory_.Step(1 + sum.buckets.size() + last.buckets.size()));
  RETURN_IF_ERROR(memory_.Add(both));
  sum.buckets = Joined(sum.buckets, last.buckets);
  sum.underflow += last.underflow;
  sum.overflow += last.overflow;
  const size_t unused = sum.buckets.capacity() - sum.buckets.size();
  memory_.Remove(2 * both - HistogramBytes(sum) -
                 static_cast<int64_t>(unused * sizeof(HistogramBucket)));
  return {};
}

Result<SimpleHistogram> HistogramSum::Take() {
  while (parts_.size() > 1) RETURN_IF_ERROR(JoinLastTwo());
  return std::move(parts_[0]);
}

// As in OpenTSDB, the total of the counts is a 32-bit integer, which wraps and may be zero, but the
// running sum does not wrap. The search for a percentile continues where the search for the smaller
// one ended, because `ascending` is sorted.
std::vector<double> Percentiles(const SimpleHistogram& histogram,
                                std::span<const double> ascending) {
  uint32_t total = 0;
  for (const HistogramBucket& bucket : histogram.buckets)
    total += static_cast<uint32_t>(bucket.count);
  const double divisor = static_cast<int32_t>(total);
  std::vector<double> out;
  out.reserve(ascending.size());
  int64_t sum = 0;
  size_t next = 0;  // the first bucket that is not in `sum`
  for (const double p : ascending) {
    if (p < 1.0 || p > 100.0) {
      out.push_back(-1.0);
      continue;
    }
    const auto reached = [&] { return static_cast<double>(sum) * 100.0 / divisor >= p; };
    while (next < histogram.buckets.size() && (next == 0 || !reached()))
      sum += static_cast<int32_t>(histogram.buckets[next++].count);
    if (next == 0 || !reached()) {
      out.push_back(0.0);
      continue;
    }
    const HistogramBucket& bucket = histogram.buckets[next - 1];
    out.push_back(static_cast<double>((bucket.lower + bucket.upper) / 2));
  }
  return out;
}

Result<HistogramColumn> Downsampled(const HistogramColumn& histograms, const BucketGrid& grid,
                                    MemoryTally* memory) {
  HistogramColumn out;
  if (grid.spec().run_all) return out;
  int64_t start = 0, end = 0;
  std::optional<HistogramSum> sum;  // the sum of the open bucket
  const auto close = [&]() -> Status {
    if (!sum) return {};
    ASSIGN_OR_RETURN(SimpleHistogram added, sum->Take());
    out.push_back({start, std::move(added)});
    return {};
  };
  for (const TimedHistogram& h : histograms) {
    if (h.time_ms < grid.first_point_ms()) continue;
    if (!sum || h.time_ms >= end) {
      RETURN_IF_ERROR(close());
      uint64_t steps = 0;
      if (sum) {
        start = grid.BucketOf(h.time_ms, start, &end, &steps);
      } else {
        start = grid.FirstBucket(h.time_ms);
        end = grid.BucketEnd(start);
      }
      RETURN_IF_ERROR(memory->Step(1 + steps * kLookUpSteps));
      sum.emplace(memory);
    }
    RETURN_IF_ERROR(sum->Add(h.histogram));
  }
  RETURN_IF_ERROR(close());
  return out;
}

Result<HistogramColumn> Merged(std::span<const HistogramColumn* const> columns,
                               MemoryTally* memory) {
  using Head = std::pair<int64_t, size_t>;  // time and index of the column
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(columns.size() * 4 * sizeof(Head))));
  std::vector<size_t> next(columns.size(), 0);
  // In OpenTSDB's HistogramAggregationIterator, the time 0 means that a series has ended.
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
    RETURN_IF_ERROR(memory->Step(kLookUpSteps * taken.size()));
    HistogramSum sum(memory);
    for (const size_t i : taken) RETURN_IF_ERROR(sum.Add((*columns[i])[next[i]].histogram));
    ASSIGN_OR_RETURN(SimpleHistogram added, sum.Take());
    out.push_back({time_ms, std::move(added)});
    for (const size_t i : taken) {
      ++next[i];
      enter(i);
    }
  }
  return out;
}

Result<std::vector<HistogramOutput>> HistogramOutputs(const HistogramColumn& histograms,
                                                      std::vector<double> percentiles,
                                                      const SimpleHistogram* shape,
                                                      RequestContext& context) {
  const size_t count = percentiles.size() + (shape != nullptr ? shape->buckets.size() + 2 : 0);
  const size_t point_bytes = sizeof(int64_t) + sizeof(uint64_t);
  RETURN_IF_ERROR(context.Charge(
      static_cast<int64_t>(count * (kOutputBytes + histograms.size() * point_bytes))));
  std::vector<HistogramOutput> out;
  out.reserve(count);
  std::sort(percentiles.begin(), percentiles.end());
  for (double& p : percentiles) {
    const auto single = static_cast<float>(p);
    HistogramOutput& output = out.emplace_back();
    output.suffix = "_pct_";
    AppendJavaFloat(&output.suffix, single);
    output.points.all_double = true;
    output.points.time_ms.reserve(histograms.size());
    output.points.bits.reserve(histograms.size());
    p = static_cast<double>(single);
  }
  for (const TimedHistogram& h : histograms) {
    if (percentiles.empty()) break;
    RETURN_IF_ERROR(context.Step(h.histogram.buckets.size() + percentiles.size()));
    const std::vector<double> values = Percentiles(h.histogram, percentiles);
    for (size_t i = 0; i < values.size(); ++i) {
      out[i].points.time_ms.push_back(h.time_ms);
      out[i].points.bits.push_back(std::bit_cast<uint64_t>(values[i]));
    }
  }
  if (shape == nullptr) return out;
  out.push_back(
      OutputOf(histograms, "_UNDERFLOW", [](const SimpleHistogram& h) { return h.underflow; }));
  for (const HistogramBucket& bounds : shape->buckets) {
    RETURN_IF_ERROR(context.Step(1 + histograms.size() * kLookUpSteps));
    std::string suffix = "_";
    AppendJavaFloat(&suffix, bounds.lower);
    suffix += "_";
    AppendJavaFloat(&suffix, bounds.upper);
    out.push_back(OutputOf(histograms, std::move(suffix),
                           [&](const SimpleHistogram& h) { return CountOf(h, bounds); }));
  }
  out.push_back(
      OutputOf(histograms, "_OVERFLOW", [](const SimpleHistogram& h) { return h.overflow; }));
  return out;
}

}  // namespace hg::query
