#include "query/expression/gexp_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "query/buckets/column_values.h"
#include "query/buckets/java_order.h"
#include "query/buckets/merge.h"
#include "query/expression/limits.h"
#include "query/expression/value.h"
#include "storage/model/number_text.h"

namespace hg::query {
namespace {

// Converts all points to doubles.
void MakeDouble(PointColumns* points) {
  for (size_t i = 0; i < points->size(); ++i) {
    points->bits[i] = std::bit_cast<uint64_t>(DoubleAt(*points, i));
  }
  points->kinds.clear();
  points->all_double = true;
}

// Replaces all occurrences of `what`. The memory of the new text is charged before it is built,
// because names may be long, and a replacement may contain further placeholders.
Result<Bytes> Replaced(std::string_view text, std::string_view what, std::string_view by,
                       RequestContext* context) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size()))
    ++found;
  const size_t bytes = text.size() + found * by.size();
  if (context != nullptr) {
    constexpr size_t kBytesPerStep = 16;
    RETURN_IF_ERROR(context->Step(1 + bytes / kBytesPerStep));
    RETURN_IF_ERROR(context->Charge(static_cast<int64_t>(bytes)));
  }
  Bytes out;
  for (size_t at = 0;;) {
    const size_t next = text.find(what, at);
    out += text.substr(at, next == std::string_view::npos ? next : next - at);
    if (next == std::string_view::npos) return out;
    out += by;
    at = next + what.size();
  }
}

// Maximum number of additions for one moving average. A long window over many points exceeds it.
constexpr size_t kAdditionsMax = 2'000'000'000;

Status TooManyAdditions() {
  return Status::LimitExceeded("The moving average needs more than " +
                               std::to_string(kAdditionsMax) +
                               " additions; use a shorter window or time range");
}

/// Reports additions to the context. Four additions count as one step.
class Additions {
 public:
  explicit Additions(RequestContext* context) : context_(context) {}
  Status Add(size_t additions) {
    pending_ += additions;
    if (pending_ < kAtOnce || context_ == nullptr) return {};
    return context_->Step(std::exchange(pending_, 0) / kPerStep);
  }

 private:
  static constexpr size_t kAtOnce = 1 << 14, kPerStep = 4;
  RequestContext* const context_;
  size_t pending_ = 0;
};

/// Returns whether sums of the numbers are exact in any order. They are if all numbers are
/// multiples of one power of two, and their absolute sum is below 2^52 times that power.
bool SumsAreExact(std::span<const double> numbers) {
  constexpr int kMantissaBits = 52, kExponentBias = 1075;
  int least = INT32_MAX;  // exponent of the lowest bit that is set in any number
  double total = 0;
  for (const double v : numbers) {
    if (!std::isfinite(v)) return false;
    if (v == 0) continue;
    const auto bits = std::bit_cast<uint64_t>(v);
    const int exponent = static_cast<int>(bits >> kMantissaBits & 0x7FF);
    uint64_t mantissa = bits & ((uint64_t{1} << kMantissaBits) - 1);
    if (exponent != 0) mantissa |= uint64_t{1} << kMantissaBits;
    least = std::min(least, std::max(exponent, 1) - kExponentBias + std::countr_zero(mantissa));
    total += std::fabs(v);
  }
  return least == INT32_MAX || total < std::ldexp(1.0, least + kMantissaBits);
}

// Computes averages of `window` numbers. OpenTSDB adds the numbers of each window separately, from
// the newest to the oldest. This function does the same if another order could round differently.
// Otherwise it updates a running sum.
Status AverageByCount(size_t window, PointColumns* points, RequestContext* context) {
  MemoryTally memory(context);
  RETURN_IF_ERROR(memory.Step(points->size()));
  RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(points->size() * sizeof(double))));
  std::vector<double> numbers;
  numbers.reserve(points->size());
  for (const uint64_t bits : points->bits) {
    if (const auto v = std::bit_cast<double>(bits); !std::isnan(v)) numbers.push_back(v);
  }
  const bool exact = SumsAreExact(numbers);
  if (!exact &&
      points->size() > kAdditionsMax / std::min(window, std::max<size_t>(points->size(), 1)))
    return TooManyAdditions();
  Additions additions(context);
  size_t seen = 0;
  double running = 0.0;
  for (uint64_t& bits : points->bits) {
    if (!std::isnan(std::bit_cast<double>(bits))) {
      running += numbers[seen++];
      if (seen > window) running -= numbers[seen - 1 - window];
    }
    double sum = 0.0;
    if (seen >= window && exact) {
      sum = running;
    } else if (seen >= window) {
      RETURN_IF_ERROR(additions.Add(window));
      for (size_t i = 0; i < window; ++i) sum += numbers[seen - 1 - i];
    }
    bits = std::bit_cast<uint64_t>(sum / static_cast<double>(window));
  }
  return {};
}

// Computes averages over time. A point belongs to the window if it is less than the window's length
// before the newest point. The result is 0 if no point is older than the window, because the window
// is then not full. It is also 0 if the window contains only NaN (recorded).
Status AverageByTime(int64_t window_ms, PointColumns* points, RequestContext* context) {
  const std::vector<int64_t>& times = points->time_ms;
  MemoryTally memory(context);
  RETURN_IF_ERROR(memory.Step(points->size()));
  RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(2 * points->size() * sizeof(double))));
  std::vector<double> numbers;
  for (const uint64_t bits : points->bits) {
    if (const auto v = std::bit_cast<double>(bits); !std::isnan(v)) numbers.push_back(v);
  }
  const bool exact = SumsAreExact(numbers);
  std::vector<uint64_t> averages(points->size());
  Additions additions(context);
  size_t oldest = 0, all_additions = 0, running_count = 0;
  double running = 0.0;
  for (size_t i = 0; i < points->size(); ++i) {
    if (const auto v = std::bit_cast<double>(points->bits[i]); !std::isnan(v)) {
      running += v;
      ++running_count;
    }
    for (; times[i] - times[oldest] >= window_ms; ++oldest) {
      const auto v = std::bit_cast<double>(points->bits[oldest]);
      if (std::isnan(v)) continue;
      running -= v;
      --running_count;
    }
    double sum = 0.0;
    size_t count = 0;
    if (oldest > 0 && exact) {
      sum = running;
      count = running_count;
    } else if (oldest > 0) {
      all_additions += i - oldest;
      if (all_additions > kAdditionsMax) return TooManyAdditions();
      RETURN_IF_ERROR(additions.Add(1 + i - oldest));
      for (size_t k = i + 1; k-- > oldest;) {
        double v = std::bit_cast<double>(points->bits[k]);
        if (std::isnan(v)) continue;
        sum += v;
        ++count;
      }
    }
    averages[i] = std::bit_cast<uint64_t>(count == 0 ? 0.0 : sum / static_cast<double>(count));
  }
  points->bits = std::move(averages);
  return {};
}

// Java's Math.max: the result is NaN if an argument is NaN.
int64_t JavaMax(int64_t a, int64_t b) { return std::max(a, b); }
double JavaMax(double a, double b) { return JavaLess(a, b) ? b : a; }

std::optional<int64_t> DigitsToInt(std::string_view digits) {
  constexpr size_t kDigitsMax = 10;
  if (digits.empty() || digits.size() > kDigitsMax) return std::nullopt;
  int64_t n = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  return n;
}

std::optional<int64_t> ReadWindowTime(std::string_view text) {
  size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  std::optional<int64_t> n = DigitsToInt(text.substr(0, digits));
  if (!n || *n == 0) return std::nullopt;
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"s", 1000},         {"sec", 1000},     {"m", 60'000},
      {"min", 60'000},     {"h", 3'600'000},  {"hr", 3'600'000},
      {"hour", 3'600'000}, {"d", 86'400'000}, {"day", 86'400'000}};
  for (auto [unit, millis] : kUnits) {
    if (text.substr(digits) == unit) return *n * millis;
  }
  return std::nullopt;
}

// Charges the names that a group shows.
Status ChargeNames(const SeriesIdentity& identity, RequestContext* context) {
  if (context == nullptr) return {};
  size_t bytes = sizeof(GexpSeries);
  for (const SeriesIdentity::Tag& tag : identity.tags)
    bytes += 2 * sizeof(Bytes) + tag.key.name.size() + tag.value.name.size();
  for (const SeriesIdentity::Name& key : identity.aggregated)
    bytes += sizeof(Bytes) + key.name.size();
  if (!identity.metrics.empty()) bytes += identity.metrics[0].name.size();
  return context->Charge(static_cast<int64_t>(bytes));
}

Status ChargePoints(size_t points, RequestContext* context) {
  return context != nullptr ? context->Charge(static_cast<int64_t>(points) * kPointBytes)
                            : Status();
}

// In OpenTSDB, this error is a null dereference. It occurs for joined series without points. It
// also occurs for averaged series without points, even if another series with equal tags replaces
// them.
Status NoPoints() { return Status::InvalidArgument("A series to be combined has no points"); }

}  // namespace

void MakeAbsolute(PointColumns* points) {
  for (size_t i = 0; i < points->size(); ++i) {
    uint64_t& bits = points->bits[i];
    if (points->double_at(i)) {
      bits = std::bit_cast<uint64_t>(std::fabs(std::bit_cast<double>(bits)));
    } else if (static_cast<int64_t>(bits) < 0) {
      bits = 0 - bits;
    }
  }
}

Status Scale(std::string_view factor, PointColumns* points) {
  double f = 0;
  if (factor.find_first_not_of("-0123456789.") != std::string_view::npos ||
      !ParseJavaDouble(factor, &f)) {
    return Status::InvalidArgument("Unparseable scale factor value: " + std::string(factor));
  }
  const bool integral = f == std::floor(f);
  if (!integral) MakeDouble(points);
  const auto integer = static_cast<uint64_t>(SaturatingCast(f));
  for (size_t i = 0; i < points->size(); ++i) {
    uint64_t& bits = points->bits[i];
    bits = points->double_at(i) ? std::bit_cast<uint64_t>(f * std::bit_cast<double>(bits))
                                : bits * integer;
  }
  return {};
}

Status ApplyAlias(std::string_view alias, GexpSeries* series, RequestContext* watch) {
  Group& group = series->group;
  if (series->combined) {
    return Status::InvalidArgument(
        "alias cannot be applied to a series that was computed from several");
  }
  Bytes name(alias);
  for (const auto& [key, value] : group.tags) {
    ASSIGN_OR_RETURN(name, Replaced(name, "@" + key, value, watch));
  }
  group.metric = std::move(name);
  series->identity.metrics.clear();  // the series has a name, but no metric any more
  group.tags.clear();
  group.aggregate_tags.clear();
  MakeAbsolute(&group.points);
  return {};
}

Status ApplyMovingAverage(std::string_view window, const GexpRange& range, PointColumns* points,
                          RequestContext* watch) {
  std::optional<int64_t> count, time;
  if (window.starts_with('\'') || window.starts_with('"')) {
    std::string_view inner = window.substr(1);
    if (inner.ends_with(window[0])) time = ReadWindowTime(inner.substr(0, inner.size() - 1));
    if (!time) {
      return Status::InvalidArgument("Invalid moving window parameter: " + std::string(window));
    }
  } else {
    count = DigitsToInt(window);
    if (!count || *count == 0) {
      return Status::InvalidArgument(
          "The moving average window must be an integer greater than zero or a quoted time, not " +
          std::string(window));
    }
  }
  TrimPoints(range, points);
  MakeDouble(points);
  RETURN_IF_ERROR(count ? AverageByCount(static_cast<size_t>(*count), points, watch)
                        : AverageByTime(*time, points, watch));
  for (const uint64_t bits : points->bits) {
    const auto value = std::bit_cast<double>(bits);
    if (std::isinf(value))
      return Status::InvalidArgument(std::string("Got Infinity: ") + (value > 0 ? "" : "-") +
                                     "Infinity as a moving average");
  }
  return {};
}

Result<std::vector<GexpSeries>> HighestSeries(GexpFunction function, size_t count,
                                              const GexpRange& range,
                                              std::vector<GexpSeries> series,
                                              RequestContext* watch) {
  const bool current = function == GexpFunction::kHighestCurrent;
  if (current) {
    std::erase_if(series, [](const GexpSeries& s) { return s.group.points.size() == 0; });
  }
  if (series.empty()) return series;
  MemoryTally memory(watch);
  std::vector<PointColumns> trimmed;
  std::vector<const PointColumns*> columns;
  for (const GexpSeries& s : series) {
    const size_t bytes = s.group.points.size() * (sizeof(int64_t) + sizeof(uint64_t));
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(bytes)));
    trimmed.push_back(s.group.points);
    // The first point after the end is still needed for interpolation.
    TrimPoints({range.begin_ms, std::numeric_limits<int64_t>::max()}, &trimmed.back());
  }
  for (const PointColumns& points : trimmed) columns.push_back(&points);

  // Each active series has one slot. At each instant, the slots are assigned again to the active
  // series in order. So after a series has ended, values go to slots of other series (quirk Q24).
  // Instants with integers and instants with doubles have separate slots.
  std::vector<int64_t> ints(series.size(), std::numeric_limits<int64_t>::min());
  std::vector<double> doubles(series.size(), 4.9E-324);
  bool any_int = false, any_double = false;
  auto keep = [&](auto values, auto* slots) {
    for (size_t i = 0; i < slots->size(); ++i) {
      auto v = i < values.size() ? values[i] : 0;
      (*slots)[i] = current ? v : JavaMax((*slots)[i], v);
    }
  };
  MergeOptions options;
  options.aggregator = FindAggregator("sum");
  options.last_ms = range.end_ms;
  options.watch = watch;
  const auto visit = [&](const Instant& at) {
    if (at.is_integer) {
      any_int = true;
      keep(at.ints, &ints);
    } else {
      any_double = true;
      keep(at.doubles, &doubles);
    }
  };
  RETURN_IF_ERROR(VisitInstants(options, columns, visit));
  if (!any_int && !any_double) {
    return Status::InvalidArgument("No series has a point between start and end");
  }
  std::vector<std::pair<double, size_t>> scores;
  for (size_t i = 0; i < series.size(); ++i) {
    double score = any_int ? static_cast<double>(ints[i]) : doubles[i];
    if (any_int && any_double) score = JavaMax(score, doubles[i]);
    scores.emplace_back(score, i);
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return JavaLess(b.first, a.first); });
  std::vector<GexpSeries> out;
  for (size_t i = 0; i < std::min(count, scores.size()); ++i) {
    out.push_back(std::move(series[scores[i].second]));
    out.back().combined = false;
  }
  return out;
}

Result<std::vector<GexpSeries>> CombineSeries(GexpFunction function,
                                              const std::vector<std::vector<GexpSeries>>& sets,
                                              RequestContext* watch) {
  constexpr size_t kSetsMin = 2, kSetsMax = 26;
  if (sets.size() < kSetsMin || sets.size() > kSetsMax) {
    return Status::InvalidArgument("Must have 2 to 26 series, got " + std::to_string(sets.size()));
  }
  BinaryOperator op = function == GexpFunction::kSum          ? BinaryOperator::kAdd
                      : function == GexpFunction::kDifference ? BinaryOperator::kSubtract
                      : function == GexpFunction::kMultiply   ? BinaryOperator::kMultiply
                                                              : BinaryOperator::kDivide;
  MemoryTally memory(watch);
  std::vector<JoinSide> sides(sets.size());
  for (size_t k = 0; k < sets.size(); ++k) {
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(sets[k].size() * 2 * sizeof(void*))));
    for (const GexpSeries& s : sets[k]) sides[k].series.push_back(&s.identity);
  }
  ASSIGN_OR_RETURN(std::vector<JoinedSeries> joined,
                   Join({false, false, /*include_aggregated=*/false}, sides, &memory));
  // OpenTSDB's iterators read one point ahead. So each level of functions reports a failure one
  // point earlier. A failure at the first point is reported even for series that are not used.
  for (const std::vector<GexpSeries>& set : sets) {
    for (const GexpSeries& s : set) {
      if (s.points_before_failure == 0) return s.failure;
      if (s.averaged && s.failure.ok() && s.group.points.size() == 0) return NoPoints();
    }
  }
  std::vector<GexpSeries> out;
  Uniter uniter(watch);
  for (const JoinedSeries& members : joined) {
    std::vector<const PointColumns*> columns(sets.size(), nullptr);
    std::vector<const SeriesIdentity*> parts(sets.size(), nullptr);
    std::optional<size_t> length;
    // `failure` is reported only if the result is used. If several series have equal tags, the
    // outer function uses only the last of them.
    Status failure;
    size_t before_failure = SIZE_MAX;
    for (size_t k = 0; k < sets.size(); ++k) {
      if (members[k] == kLacking) continue;
      columns[k] = &sets[k][members[k]].group.points;
      parts[k] = &sets[k][members[k]].identity;
      if (parts[k]->metrics.empty())
        failure = Status::InvalidArgument("An alias has no metric, and cannot be combined");
      const GexpSeries& member = sets[k][members[k]];
      if (!member.failure.ok()) {
        failure = member.failure;
        if (member.points_before_failure != SIZE_MAX)
          before_failure = std::min(before_failure, member.points_before_failure - 1);
        continue;
      }
      if (columns[k]->size() == 0) return NoPoints();
      if (length && *length != columns[k]->size()) {
        failure = Status::InvalidArgument("No more elements: series to be combined have " +
                                          std::to_string(*length) + " and " +
                                          std::to_string(columns[k]->size()) + " points");
        before_failure = std::min({before_failure, *length, columns[k]->size()});
      }
      length = columns[k]->size();
    }
    if (!failure.ok()) length = 0;
    GexpSeries result;
    result.failure = std::move(failure);
    result.points_before_failure = before_failure;
    ASSIGN_OR_RETURN(result.identity, uniter.Unite(parts));
    Group& group = result.group;
    RETURN_IF_ERROR(ChargeNames(result.identity, watch));
    group.query_index = kComputedGroup;
    result.combined = true;
    if (!result.identity.metrics.empty()) group.metric = result.identity.metrics[0].name;
    for (const SeriesIdentity::Tag& tag : result.identity.tags) {
      group.tags.push_back({tag.key.name, tag.value.name});
    }
    for (const SeriesIdentity::Name& key : result.identity.aggregated) {
      group.aggregate_tags.push_back(key.name);
    }
    group.points.all_double = true;
    RETURN_IF_ERROR(memory.Step(length.value_or(0) * columns.size()));
    RETURN_IF_ERROR(ChargePoints(length.value_or(0), watch));
    group.points.time_ms.reserve(length.value_or(0));
    group.points.bits.reserve(length.value_or(0));
    for (size_t i = 0; i < length.value_or(0); ++i) {
      int64_t time = std::numeric_limits<int64_t>::max();
      double value = 0;
      for (size_t k = 0; k < columns.size(); ++k) {
        double v = columns[k] == nullptr ? 0.0 : DoubleAt(*columns[k], i);
        if (std::isnan(v)) v = 0.0;
        value = k == 0 ? v : ApplyArithmetic(op, value, v);
        if (columns[k] != nullptr) time = std::min(time, columns[k]->time_ms[i]);
      }
      group.points.time_ms.push_back(time);
      group.points.bits.push_back(std::bit_cast<uint64_t>(value));
    }
    out.push_back(std::move(result));
  }
  return out;
}

void TrimPoints(const GexpRange& range, PointColumns* points) {
  auto begin = std::lower_bound(points->time_ms.begin(), points->time_ms.end(), range.begin_ms);
  auto end = std::upper_bound(begin, points->time_ms.end(), range.end_ms);
  auto from = begin - points->time_ms.begin();
  auto to = end - points->time_ms.begin();
  auto cut = [&](auto* column) {
    column->erase(column->begin() + to, column->end());
    column->erase(column->begin(), column->begin() + from);
  };
  if (!points->kinds.empty()) cut(&points->kinds);
  cut(&points->bits);
  cut(&points->time_ms);
}

}  // namespace hg::query
