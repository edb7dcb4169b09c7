#include "query/expression/gexp_run.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "query/expression/gexp_functions.h"

namespace hg::query {
namespace {

class GexpRunner {
 public:
  GexpRunner(const ValidQuery& query, RequestContext* watch)
      : range_{query.start_ms, query.end_ms}, watch_(watch), sets_(query.queries.size()) {}

  Status Take(Answer answer, const KeyLayout& layout) {
    for (const SubQueryInfo& info : answer.queries) failures_.push_back(info.failure);
    Identifier identifier(layout, watch_);
    for (Group& group : answer.groups) {
      ASSIGN_OR_RETURN(SeriesIdentity identity, identifier.Identify(group));
      if (watch_ != nullptr)
        RETURN_IF_ERROR(watch_->Charge(static_cast<int64_t>(2 * sizeof(GexpSeries))));
      sets_[group.query_index].push_back({std::move(group), std::move(identity)});
    }
    return {};
  }

  Result<std::vector<GexpSeries>> Run(const GexpCall& call) {
    std::vector<std::vector<GexpSeries>> sets;
    std::vector<std::string> scalars;
    for (const GexpArgument& argument : call.arguments) {
      if (const auto* scalar = std::get_if<GexpScalar>(&argument)) {
        scalars.push_back(scalar->text);
        continue;
      }
      if (!scalars.empty()) {
        return Status::InvalidArgument("Metrics and functions must come before '" + scalars[0] +
                                       "' in " + call.name);
      }
      if (const auto* metric = std::get_if<GexpMetric>(&argument)) {
        ASSIGN_OR_RETURN(std::vector<GexpSeries> set, Take(*metric));
        sets.push_back(std::move(set));
      } else {
        ASSIGN_OR_RETURN(std::vector<GexpSeries> set, Run(std::get<GexpCall>(argument)));
        sets.push_back(std::move(set));
      }
    }
    return Apply(call, std::move(sets), scalars);
  }

 private:
  using Sets = std::vector<std::vector<GexpSeries>>;

  // Returns the series of a metric. They can be moved, because each index occurs only once in all
  // expressions. Metrics with equal texts share a sub-query, so an index may be beyond the last
  // sub-query (quirk Q20).
  Result<std::vector<GexpSeries>> Take(const GexpMetric& metric) {
    if (metric.index < failures_.size()) RETURN_IF_ERROR(failures_[metric.index]);
    if (metric.index < sets_.size()) return std::move(sets_[metric.index]);
    return Status::InvalidArgument(
        "Metric " + std::to_string(metric.index) +
        " of the expressions has no sub-query of its own; number of sub-queries: " +
        std::to_string(sets_.size()));
  }

  static std::vector<GexpSeries> Flatten(Sets sets) {
    std::vector<GexpSeries> out;
    for (std::vector<GexpSeries>& set : sets) {
      out.insert(out.end(), std::make_move_iterator(set.begin()),
                 std::make_move_iterator(set.end()));
    }
    return out;
  }

  Result<std::vector<GexpSeries>> Apply(const GexpCall& call, Sets sets,
                                        const std::vector<std::string>& scalars) const {
    switch (call.function) {
      case GexpFunction::kSum:
      case GexpFunction::kDifference:
      case GexpFunction::kMultiply:
      case GexpFunction::kDivide:
        return CombineSeries(call.function, sets, watch_);
      case GexpFunction::kShift:
        // OpenTSDB has this function, but refuses every argument (quirk Q22).
        return Status::InvalidArgument("The function " + call.name + " accepts no time: " +
                                       (scalars.empty() ? "none was given" : scalars[0]));
      case GexpFunction::kAbsolute:
        break;
      default:
        if (scalars.empty()) {
          return Status::InvalidArgument("Missing the parameter of " + call.name);
        }
    }
    std::vector<GexpSeries> series = Flatten(std::move(sets));
    for (const GexpSeries& s : series) RETURN_IF_ERROR(s.failure);
    if (call.function == GexpFunction::kHighestMax ||
        call.function == GexpFunction::kHighestCurrent) {
      ASSIGN_OR_RETURN(size_t count, ReadCount(scalars[0]));
      return HighestSeries(call.function, count, range_, std::move(series), watch_);
    }
    std::string joined;
    for (const std::string& scalar : scalars) joined += (joined.empty() ? "" : ",") + scalar;
    for (GexpSeries& s : series) {
      if (watch_ != nullptr) RETURN_IF_ERROR(watch_->Step(1 + s.group.points.size()));
      RETURN_IF_ERROR(ApplyToOne(call.function, scalars, joined, &s));
      s.combined = false;
    }
    return series;
  }

  Status ApplyToOne(GexpFunction function, const std::vector<std::string>& scalars,
                    const std::string& joined, GexpSeries* series) const {
    switch (function) {
      case GexpFunction::kScale:
        return Scale(scalars[0], &series->group.points);
      case GexpFunction::kAlias:
        return ApplyAlias(joined, series, watch_);
      case GexpFunction::kMovingAverage:
        series->averaged = true;
        return ApplyMovingAverage(scalars[0], range_, &series->group.points, watch_);
      default:
        MakeAbsolute(&series->group.points);
        return {};
    }
  }

  static Result<size_t> ReadCount(const std::string& text) {
    constexpr size_t kDigitsMax = 9;
    bool digits =
        !text.empty() && text.size() <= kDigitsMax &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return Status::InvalidArgument("Unparseable top n value: " + text);
    size_t n = 0;
    for (char c : text) n = n * 10 + static_cast<size_t>(c - '0');
    if (n == 0) return Status::InvalidArgument("The top n value must be greater than zero");
    return n;
  }

  GexpRange range_;
  RequestContext* const watch_;
  Sets sets_;                     // by sub-query
  std::vector<Status> failures_;  // evaluation errors of the sub-queries
};

}  // namespace

Result<std::vector<Group>> RunGexps(const std::vector<GexpCall>& calls, const ValidQuery& query,
                                    Answer answer, const KeyLayout& layout, RequestContext* watch) {
  GexpRunner runner(query, watch);
  RETURN_IF_ERROR(runner.Take(std::move(answer), layout));
  std::vector<Group> out;
  for (const GexpCall& call : calls) {
    ASSIGN_OR_RETURN(std::vector<GexpSeries> results, runner.Run(call));
    for (GexpSeries& series : results) {
      RETURN_IF_ERROR(series.failure);
      TrimPoints({query.start_ms, query.end_ms}, &series.group.points);
      out.push_back(std::move(series.group));
    }
  }
  return out;
}

}  // namespace hg::query
