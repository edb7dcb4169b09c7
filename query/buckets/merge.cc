#include "query/buckets/merge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "query/buckets/column_values.h"
#include "storage/model/special_double.h"

namespace hg::query {
namespace {

constexpr double kMaxDouble = std::numeric_limits<double>::max();

Status Infinite(const MergeOptions& options, double value, int64_t t) {
  if (options.infinite_ms != nullptr) *options.infinite_ms = t;
  return Status::InvalidArgument(std::string("Got Infinity: ") +
                                 (value > 0 ? "Infinity" : "-Infinity") + " at " +
                                 std::to_string(t));
}

/// Collects steps and reports them in larger pieces, because a report costs more than the
/// computation of an instant with few series.
class Steps {
 public:
  explicit Steps(RequestContext* watch) : watch_(watch) {}
  Status Add(uint64_t steps) {
    pending_ += steps;
    if (pending_ < kPiece || watch_ == nullptr) return {};
    return watch_->Step(std::exchange(pending_, 0));
  }

 private:
  static constexpr uint64_t kPiece = 4096;
  RequestContext* const watch_;
  uint64_t pending_ = 0;
};

/// Builds the result and charges memory before it is allocated. `kinds` stays empty while all
/// points are integers or all are doubles.
class Output {
 public:
  explicit Output(RequestContext* watch) : watch_(watch) {}

  /// Reserves memory for `n` points in total.
  Status Reserve(size_t n) {
    const size_t room = out_.time_ms.capacity();
    if (n <= room) return {};
    if (watch_ != nullptr) RETURN_IF_ERROR(watch_->Charge(static_cast<int64_t>(n) * kPointBytes));
    out_.time_ms.reserve(n);
    out_.bits.reserve(n);
    if (watch_ != nullptr && room > 0) {
      return watch_->Charge(-static_cast<int64_t>(room) * kPointBytes);
    }
    return {};
  }
  Status Add(int64_t t, uint64_t bits, bool is_double) {
    if (out_.size() == out_.time_ms.capacity()) {
      constexpr size_t kFirstPoints = 64;
      RETURN_IF_ERROR(Reserve(std::max(kFirstPoints, 2 * out_.size())));
    }
    if (out_.time_ms.empty()) out_.all_double = is_double;
    if (out_.kinds.empty() && is_double != out_.all_double)
      out_.kinds.assign(out_.size(), out_.all_double ? 1 : 0);
    out_.time_ms.push_back(t);
    out_.bits.push_back(bits);
    if (!out_.kinds.empty()) out_.kinds.push_back(is_double ? 1 : 0);
    return {};
  }
  PointColumns Take() { return std::move(out_); }

 private:
  RequestContext* const watch_;
  PointColumns out_;
};

bool Uniform(const PointColumns& p) { return p.kinds.empty(); }

// Merges a single series. Even a series with integers and doubles is not interpolated. A point of
// the result is an integer if the point and the next point of the series are integers (quirk Q10).
Result<PointColumns> MergeOne(const MergeOptions& options, const PointColumns& series) {
  Output out(options.watch);
  Steps steps(options.watch);
  RETURN_IF_ERROR(out.Reserve(series.size()));
  std::vector<double> scratch;
  for (size_t i = options.rate ? 1 : 0; i < series.size(); ++i) {
    int64_t t = series.time_ms[i];
    if (t > options.last_ms || t > options.trim_end_ms) break;
    if (t < options.trim_begin_ms) continue;
    RETURN_IF_ERROR(steps.Add(1));
    bool is_double = series.double_at(i) || (i + 1 < series.size() && series.double_at(i + 1));
    if (is_double) {
      double v = DoubleAt(series, i);
      double value = RunDouble(*options.aggregator, {&v, 1}, &scratch);
      if (std::isinf(value)) return Infinite(options, value, t);
      RETURN_IF_ERROR(out.Add(t, std::bit_cast<uint64_t>(value), true));
    } else {
      int64_t v = static_cast<int64_t>(series.bits[i]);
      const int64_t value = RunInt(*options.aggregator, {&v, 1}, &scratch);
      RETURN_IF_ERROR(out.Add(t, static_cast<uint64_t>(value), false));
    }
  }
  return out.Take();
}

// Returns true if all series have the same instants and no series mixes integers and doubles. Then
// no value is interpolated, and all results have the same kind.
bool Aligned(std::span<const PointColumns* const> series) {
  for (const PointColumns* s : series) {
    if (!Uniform(*s) || s->time_ms != series[0]->time_ms) return false;
  }
  return true;
}

bool FoldsSeries(Function function) {
  return function == Function::kSum || function == Function::kAvg || function == Function::kMin ||
         function == Function::kMax;
}

constexpr size_t kFewInstants = 4096;

/// Aggregates many instants, one series after the other. At each instant the values are still added
/// in the order of the series, so the results are the same as those of RunDouble.
class FoldedInstants {
 public:
  FoldedInstants(Function function, size_t instants)
      : function_(function),
        values_(instants, function == Function::kMin   ? kInfinity
                          : function == Function::kMax ? -kInfinity
                                                       : 0.0) {
    if (sums()) counts_.resize(instants);
  }

  /// Returns the memory of an object for `instants` instants.
  static int64_t BytesOf(size_t instants) {
    return static_cast<int64_t>(instants * (sizeof(double) + 2 * sizeof(uint64_t)));
  }

  void Take(std::span<const uint64_t> bits, bool doubles) {
    if (!doubles) {
      widened_.resize(bits.size());
      for (size_t i = 0; i < bits.size(); ++i) {
        widened_[i] = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(bits[i])));
      }
      bits = widened_;
    }
    const auto value = [&](size_t i) { return std::bit_cast<double>(bits[i]); };
    double* const to = values_.data();
    if (sums()) {
      for (size_t i = 0; i < bits.size(); ++i) {
        const double v = value(i);
        const bool number = v == v;
        to[i] = number ? to[i] + v : to[i];
        counts_[i] += number ? 1 : 0;
      }
    } else if (function_ == Function::kMin) {
      for (size_t i = 0; i < bits.size(); ++i) to[i] = value(i) < to[i] ? value(i) : to[i];
    } else {
      for (size_t i = 0; i < bits.size(); ++i) to[i] = value(i) > to[i] ? value(i) : to[i];
    }
  }

  [[nodiscard]] double At(size_t i) const {
    switch (function_) {
      case Function::kMin:
        return values_[i] == kInfinity ? kNan : values_[i];
      case Function::kMax:
        return values_[i] == -kInfinity ? kNan : values_[i];
      default:
        if (counts_[i] == 0) return kNan;
        return function_ == Function::kSum ? values_[i]
                                           : values_[i] / static_cast<double>(counts_[i]);
    }
  }

 private:
  [[nodiscard]] bool sums() const {
    return function_ == Function::kSum || function_ == Function::kAvg;
  }

  const Function function_;
  std::vector<double> values_;
  std::vector<uint64_t> counts_;
  std::vector<uint64_t> widened_;
};

Result<PointColumns> MergeAligned(const MergeOptions& options,
                                  std::span<const PointColumns* const> series) {
  const std::vector<int64_t>& times = series[0]->time_ms;
  bool ints = true;
  for (const PointColumns* s : series) ints = ints && !s->all_double;
  size_t begin = std::min<size_t>(options.rate ? 1 : 0, times.size());
  while (begin < times.size() && times[begin] < options.trim_begin_ms) ++begin;
  size_t end = begin;
  while (end < times.size() && times[end] <= options.last_ms && times[end] <= options.trim_end_ms)
    ++end;

  Steps steps(options.watch);
  if (options.watch != nullptr) {
    RETURN_IF_ERROR(options.watch->Charge(static_cast<int64_t>(end - begin) * kPointBytes));
  }
  PointColumns out;
  out.all_double = !ints;
  out.time_ms.assign(times.begin() + static_cast<ptrdiff_t>(begin),
                     times.begin() + static_cast<ptrdiff_t>(end));
  out.bits.resize(end - begin);
  std::vector<double> scratch;
  Function function = options.aggregator->function;
  if (!ints && series.size() == 1) {
    RETURN_IF_ERROR(steps.Add(end - begin));
    for (size_t i = 0; i < out.bits.size(); ++i) {
      const double v = DoubleAt(*series[0], begin + i);
      const double value = RunDouble(*options.aggregator, {&v, 1}, &scratch);
      if (std::isinf(value)) return Infinite(options, value, out.time_ms[i]);
      out.bits[i] = std::bit_cast<uint64_t>(value);
    }
    return out;
  }
  if (!ints && FoldsSeries(function)) {
    // If there are few instants, the memory is too small to be charged.
    MemoryTally scratch_memory(end - begin >= kFewInstants ? options.watch : nullptr);
    RETURN_IF_ERROR(scratch_memory.Add(FoldedInstants::BytesOf(end - begin)));
    FoldedInstants folded(function, end - begin);
    for (const PointColumns* s : series) {
      RETURN_IF_ERROR(steps.Add(end - begin));
      folded.Take({s->bits.data() + begin, end - begin}, s->all_double);
    }
    for (size_t i = 0; i < out.bits.size(); ++i) {
      const double value = folded.At(i);
      if (std::isinf(value)) return Infinite(options, value, out.time_ms[i]);
      out.bits[i] = std::bit_cast<uint64_t>(value);
    }
    return out;
  }
  std::vector<int64_t> longs(series.size());
  std::vector<double> doubles(series.size());
  for (size_t i = begin; i < end; ++i) {
    RETURN_IF_ERROR(steps.Add(series.size()));
    if (ints) {
      for (size_t s = 0; s < series.size(); ++s)
        longs[s] = static_cast<int64_t>(series[s]->bits[i]);
      out.bits[i - begin] = static_cast<uint64_t>(RunInt(*options.aggregator, longs, &scratch));
    } else {
      for (size_t s = 0; s < series.size(); ++s) doubles[s] = DoubleAt(*series[s], i);
      double value = RunDouble(*options.aggregator, doubles, &scratch);
      if (std::isinf(value)) return Infinite(options, value, times[i]);
      out.bits[i - begin] = std::bit_cast<uint64_t>(value);
    }
  }
  return out;
}

int64_t InterpolateInt(Interpolation method, int64_t x, int64_t x0, int64_t y0, int64_t x1,
                       int64_t y1) {
  switch (method) {
    case Interpolation::kLerp: {
      uint64_t product =
          static_cast<uint64_t>(x - x0) * (static_cast<uint64_t>(y1) - static_cast<uint64_t>(y0));
      return static_cast<int64_t>(static_cast<uint64_t>(y0) +
                                  static_cast<uint64_t>(static_cast<int64_t>(product) / (x1 - x0)));
    }
    case Interpolation::kZero:
      return 0;
    case Interpolation::kMax:
      return INT64_MAX;
    case Interpolation::kMin:
      return INT64_MIN;
    case Interpolation::kPrevious:
      return y0;
  }
  return 0;
}

double InterpolateDouble(Interpolation method, int64_t x, int64_t x0, double y0, int64_t x1,
                         double y1) {
  switch (method) {
    case Interpolation::kLerp:
      return y0 + static_cast<double>(x - x0) * (y1 - y0) / static_cast<double>(x1 - x0);
    case Interpolation::kZero:
      return 0.0;
    case Interpolation::kMax:
      return kMaxDouble;
    case Interpolation::kMin:
      return -kMaxDouble;
    case Interpolation::kPrevious:
      return y0;
  }
  return 0;
}

/// Walks all series instant by instant. The current element of a series is the latest one at or
/// before the instant. The next element is the one after it. A series that has ended has neither.
class Walk {
 public:
  Walk(const MergeOptions& options, std::span<const PointColumns* const> series)
      : options_(options),
        series_(series),
        next_(series.size(), 0),
        has_current_(series.size(), 0) {
    for (size_t s = 0; s < series.size(); ++s) {
      if (options.rate) {
        // A rate needs the point before it, so the first element of a series of rates is only a
        // placeholder. It is the current element from the start, and no instant is made of it. A
        // series without a second element has ended.
        next_[s] = series[s]->size() > 1 ? 1 : series[s]->size();
        has_current_[s] = series[s]->size() > 1;
      }
      if (next_[s] < series[s]->size()) doubles_ahead_ += series[s]->double_at(next_[s]);
      if (has_current_[s]) doubles_now_ += series[s]->double_at(0);
    }
  }

  /// Moves to the next instant. Returns false at the end.
  bool Next() {
    int64_t instant = std::numeric_limits<int64_t>::max();
    for (size_t s = 0; s < series_.size(); ++s) {
      if (next_[s] == series_[s]->size()) {
        if (has_current_[s]) doubles_now_ -= series_[s]->double_at(next_[s] - 1);
        has_current_[s] = 0;
      } else {
        instant = std::min(instant, series_[s]->time_ms[next_[s]]);
      }
    }
    if (instant == std::numeric_limits<int64_t>::max() || instant > options_.last_ms) return false;
    instant_ = instant;
    for (size_t s = 0; s < series_.size(); ++s) {
      const PointColumns& p = *series_[s];
      if (next_[s] == p.size() || p.time_ms[next_[s]] != instant) continue;
      if (has_current_[s]) doubles_now_ -= p.double_at(next_[s] - 1);
      doubles_now_ += p.double_at(next_[s]);
      doubles_ahead_ -= p.double_at(next_[s]);
      has_current_[s] = 1;
      if (++next_[s] < p.size()) doubles_ahead_ += p.double_at(next_[s]);
    }
    return true;
  }

  [[nodiscard]] int64_t instant() const { return instant_; }
  [[nodiscard]] bool IsInteger() const { return doubles_now_ + doubles_ahead_ == 0; }

  void Ints(std::vector<int64_t>* out) const {
    out->clear();
    for (size_t s = 0; s < series_.size(); ++s) {
      if (!has_current_[s]) continue;
      const PointColumns& p = *series_[s];
      size_t now = next_[s] - 1;
      int64_t y0 = static_cast<int64_t>(p.bits[now]);
      bool exact = p.time_ms[now] == instant_ || next_[s] == p.size();
      out->push_back(exact ? y0
                           : InterpolateInt(options_.aggregator->interpolation, instant_,
                                            p.time_ms[now], y0, p.time_ms[next_[s]],
                                            static_cast<int64_t>(p.bits[next_[s]])));
    }
  }

  void Doubles(std::vector<double>* out) const {
    out->clear();
    for (size_t s = 0; s < series_.size(); ++s) {
      if (!has_current_[s]) continue;
      const PointColumns& p = *series_[s];
      size_t now = next_[s] - 1;
      double y0 = DoubleAt(p, now);
      bool exact = options_.rate || p.time_ms[now] == instant_ || next_[s] == p.size();
      out->push_back(exact ? y0
                           : InterpolateDouble(options_.aggregator->interpolation, instant_,
                                               p.time_ms[now], y0, p.time_ms[next_[s]],
                                               DoubleAt(p, next_[s])));
    }
  }

 private:
  const MergeOptions& options_;
  std::span<const PointColumns* const> series_;
  std::vector<size_t> next_;          // index of each series' next element
  std::vector<uint8_t> has_current_;  // if set, the current element is the one before next_
  int64_t doubles_now_ = 0;           // number of doubles among the current elements
  int64_t doubles_ahead_ = 0;         // number of doubles among the next elements
  int64_t instant_ = 0;
};

// Calls visit(walk), which returns a Status, at each instant within the trim range.
template <typename Visit>
Status ForEachInstant(const MergeOptions& options, std::span<const PointColumns* const> series,
                      Visit&& visit) {
  Walk walk(options, series);
  Steps steps(options.watch);
  while (walk.Next()) {
    RETURN_IF_ERROR(steps.Add(series.size()));
    if (walk.instant() > options.trim_end_ms) break;
    if (walk.instant() >= options.trim_begin_ms) RETURN_IF_ERROR(visit(walk));
  }
  return {};
}

Result<PointColumns> MergeGeneral(const MergeOptions& options,
                                  std::span<const PointColumns* const> series) {
  Output out(options.watch);
  std::vector<double> scratch;
  std::vector<int64_t> longs;
  std::vector<double> doubles;
  RETURN_IF_ERROR(ForEachInstant(options, series, [&](const Walk& walk) {
    if (walk.IsInteger()) {
      walk.Ints(&longs);
      const int64_t value = RunInt(*options.aggregator, longs, &scratch);
      return out.Add(walk.instant(), static_cast<uint64_t>(value), false);
    }
    walk.Doubles(&doubles);
    const double value = RunDouble(*options.aggregator, doubles, &scratch);
    if (std::isinf(value)) return Infinite(options, value, walk.instant());
    return out.Add(walk.instant(), std::bit_cast<uint64_t>(value), true);
  }));
  return out.Take();
}

}  // namespace

Result<PointColumns> MergeSeries(const MergeOptions& options,
                                 std::span<const PointColumns* const> series) {
  if (series.empty()) return PointColumns();
  if (Aligned(series)) return MergeAligned(options, series);
  if (series.size() == 1) return MergeOne(options, *series[0]);
  return MergeGeneral(options, series);
}

Status VisitInstants(const MergeOptions& options, std::span<const PointColumns* const> series,
                     const std::function<void(const Instant&)>& visit) {
  std::vector<int64_t> longs;
  std::vector<double> doubles;
  return ForEachInstant(options, series, [&](const Walk& walk) {
    const bool is_integer = walk.IsInteger();
    is_integer ? walk.Ints(&longs) : walk.Doubles(&doubles);
    visit({walk.instant(), is_integer, longs, doubles});
    return Status();
  });
}

}  // namespace hg::query
