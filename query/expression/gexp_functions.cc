#include "query/expression/gexp_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "query/column_values.h"
#include "query/expression/limits.h"
#include "query/expression/value.h"
#include "query/java_order.h"
#include "query/merge.h"
#include "storage/model/number_text.h"

namespace hg::query {
namespace {

// Makes all points doubles.
void MakeDouble(PointColumns* points) {
  for (size_t i = 0; i < points->size(); ++i) {
    points->bits[i] = std::bit_cast<uint64_t>(DoubleAt(*points, i));
  }
  points->kinds.clear();
  points->all_double = true;
}

Bytes Replaced(std::string_view text, std::string_view what, std::string_view by) {
  Bytes out;
  for (size_t at = 0;;) {
    size_t found = text.find(what, at);
    out += text.substr(at, found == std::string_view::npos ? found : found - at);
    if (found == std::string_view::npos) return out;
    out += by;
    at = found + what.size();
  }
}

// Additions of one moving average at most: long windows over many points end in a refusal.
constexpr size_t kAdditionsMax = 2'000'000'000;

// Sums of windows are made anew at each point, from the newest number back as OpenTSDB does: what
// another order rounds differently would show in the last digit.
Status AverageByCount(size_t window, PointColumns* points) {
  if (points->size() > kAdditionsMax / std::min(window, std::max<size_t>(points->size(), 1)))
    return Status::LimitExceeded("The moving average takes too many steps");
  std::vector<double> numbers;
  for (uint64_t& bits : points->bits) {
    double v = std::bit_cast<double>(bits);
    if (!std::isnan(v)) numbers.push_back(v);
    double sum = 0.0;
    if (numbers.size() >= window) {
      for (size_t i = 0; i < window; ++i) sum += numbers[numbers.size() - 1 - i];
    }
    bits = std::bit_cast<uint64_t>(sum / static_cast<double>(window));
  }
  return {};
}

// A point belongs to the window if it is less than the window away. Without a point beyond it the
// window is not full, and the result is 0; so it is where the window holds NaN alone (recorded).
Status AverageByTime(int64_t window_ms, PointColumns* points) {
  const std::vector<int64_t>& times = points->time_ms;
  std::vector<uint64_t> averages(points->size());
  size_t oldest = 0;
  size_t additions = 0;
  for (size_t i = 0; i < points->size(); ++i) {
    while (times[i] - times[oldest] >= window_ms) ++oldest;
    additions += i - oldest;
    if (additions > kAdditionsMax)
      return Status::LimitExceeded("The moving average takes too many steps");
    double sum = 0.0;
    size_t count = 0;
    for (size_t k = i + 1; oldest > 0 && k-- > oldest;) {
      double v = std::bit_cast<double>(points->bits[k]);
      if (std::isnan(v)) continue;
      sum += v;
      ++count;
    }
    averages[i] = std::bit_cast<uint64_t>(count == 0 ? 0.0 : sum / static_cast<double>(count));
  }
  points->bits = std::move(averages);
  return {};
}

// Java's Math.max: NaN stays.
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

// A null dereference of OpenTSDB's. It meets a series that is joined, and one that was averaged
// even where another one of equal tags stands for it.
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

Status ApplyAlias(std::string_view alias, GexpSeries* series) {
  Group& group = series->group;
  if (series->combined) {
    return Status::InvalidArgument(
        "alias cannot be applied to a series that was computed from several");
  }
  Bytes name(alias);
  for (const auto& [key, value] : group.tags) name = Replaced(name, "@" + key, value);
  group.metric = std::move(name);
  series->identity.metrics.clear();  // the series has a name, and no metric any more
  group.tags.clear();
  group.aggregate_tags.clear();
  MakeAbsolute(&group.points);
  return {};
}

Status ApplyMovingAverage(std::string_view window, const GexpRange& range, PointColumns* points) {
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
  RETURN_IF_ERROR(count ? AverageByCount(static_cast<size_t>(*count), points)
                        : AverageByTime(*time, points));
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
                                              std::vector<GexpSeries> series, WorkWatch* watch) {
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
    // Beyond the end a point still is what values are interpolated towards.
    TrimPoints({range.begin_ms, std::numeric_limits<int64_t>::max()}, &trimmed.back());
  }
  for (const PointColumns& points : trimmed) columns.push_back(&points);

  // One slot per active series, counted anew at each instant: so values land on other series' slots
  // when one has ended (quirk Q24). Integer and floating-point instants have slots of their own.
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
                                              const std::vector<std::vector<GexpSeries>>& sets) {
  constexpr size_t kSetsMin = 2, kSetsMax = 26;
  if (sets.size() < kSetsMin || sets.size() > kSetsMax) {
    return Status::InvalidArgument("Must have 2 to 26 series, got " + std::to_string(sets.size()));
  }
  BinaryOperator op = function == GexpFunction::kSum          ? BinaryOperator::kAdd
                      : function == GexpFunction::kDifference ? BinaryOperator::kSubtract
                      : function == GexpFunction::kMultiply   ? BinaryOperator::kMultiply
                                                              : BinaryOperator::kDivide;
  std::vector<JoinSide> sides(sets.size());
  for (size_t k = 0; k < sets.size(); ++k) {
    for (const GexpSeries& s : sets[k]) sides[k].series.push_back(&s.identity);
  }
  ASSIGN_OR_RETURN(std::vector<JoinedSeries> joined,
                   Join({false, false, /*include_aggregated=*/false}, sides));
  // OpenTSDB's iterators are a point ahead of who asks them: each level of functions meets a
  // failure one point earlier, and that at the first point also in series that nobody asks.
  for (const std::vector<GexpSeries>& set : sets) {
    for (const GexpSeries& s : set) {
      if (s.points_before_failure == 0) return s.failure;
      if (s.averaged && s.failure.ok() && s.group.points.size() == 0) return NoPoints();
    }
  }
  std::vector<GexpSeries> out;
  for (const JoinedSeries& members : joined) {
    std::vector<const PointColumns*> columns(sets.size(), nullptr);
    std::vector<const SeriesIdentity*> parts(sets.size(), nullptr);
    std::optional<size_t> length;
    // Met by who walks the result: of equal tags only the last is walked further up.
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
    result.identity = Unite(parts);
    Group& group = result.group;
    group.query_index = kComputedGroup;
    result.combined = true;
    if (!result.identity.metrics.empty()) group.metric = result.identity.metrics[0].name;
    for (const SeriesIdentity::Tag& tag : result.identity.tags) {
      group.tags.emplace_back(tag.key.name, tag.value.name);
    }
    for (const SeriesIdentity::Name& key : result.identity.aggregated) {
      group.aggregate_tags.push_back(key.name);
    }
    group.points.all_double = true;
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
