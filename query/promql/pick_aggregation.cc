#include "query/promql/pick_aggregation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "query/promql/grouping.h"
#include "query/promql/number_text.h"
#include "query/promql/quantile.h"

namespace hg::query::promql {
namespace {

/// The indices of the series of each group.
using Members = std::vector<std::vector<size_t>>;

/// Charges the memory for the indices and for the samples of one step. The indices count twice,
/// because vectors grow by doubling.
Status HoldMembers(const SeriesGroups& groups, MemoryTally* tally, MemoryHold* hold) {
  constexpr size_t kBytesPerSeries = 64;
  RETURN_IF_ERROR(tally->Step(groups.group_of.size()));
  return hold->Add(tally, static_cast<int64_t>(groups.labels.size() * sizeof(Members::value_type) +
                                               groups.group_of.size() * kBytesPerSeries));
}

Members MembersOf(const SeriesGroups& groups) {
  Members members(groups.labels.size());
  for (size_t series = 0; series < groups.group_of.size(); ++series)
    members[groups.group_of[series]].push_back(series);
  return members;
}

/// Returns the cost of sorting `count` values, in steps.
uint64_t SortingSteps(size_t count) { return 1 + count * std::bit_width(count); }

/// Refuses counts that do not fit an int64, unless all of them are less than 1.
Status CheckCounts(const Column& counts, MemoryTally* tally) {
  constexpr double kInt64Beyond = 9223372036854775808.0;
  RETURN_IF_ERROR(tally->Step(counts.size()));
  if (std::none_of(counts.begin(), counts.end(), [](double count) { return count >= 1; })) {
    if (std::none_of(counts.begin(), counts.end(), [](double count) { return std::isnan(count); }))
      return {};
  }
  for (const double count : counts) {
    if (std::isnan(count)) return Status::InvalidArgument("Parameter value is NaN");
    if (count <= -kInt64Beyond || count >= kInt64Beyond) {
      return Status::InvalidArgument("Scalar value " + FixedText(count) +
                                     (count < 0 ? " underflows" : " overflows") + " int64");
    }
  }
  return {};
}

struct Candidate {
  double value = 0;
  size_t series = 0;
};

/// Keeps the best `count` candidates, best first.
void Rank(bool largest, size_t count, std::vector<Candidate>* candidates) {
  const auto better = [largest](const Candidate& a, const Candidate& b) {
    if (std::isnan(a.value) || std::isnan(b.value))
      return std::isnan(a.value) == std::isnan(b.value) ? a.series < b.series : std::isnan(b.value);
    if (a.value == b.value) return a.series < b.series;
    return largest ? a.value > b.value : a.value < b.value;
  };
  const size_t kept = std::min(count, candidates->size());
  std::partial_sort(candidates->begin(), candidates->begin() + static_cast<ptrdiff_t>(kept),
                    candidates->end(), better);
  candidates->resize(kept);
}

std::vector<Candidate> CandidatesOf(const Value& vector, const std::vector<size_t>& members,
                                    size_t step) {
  std::vector<Candidate> out;
  for (const size_t series : members) {
    const double value = vector.vector[series].values[step];
    if (!IsAbsent(value)) out.push_back({value, series});
  }
  return out;
}

}  // namespace

Result<Value> PickOfGroups(const Aggregation& aggregation, const Column& counts, Value vector,
                           const Steps& steps, MemoryTally* tally) {
  const bool largest = aggregation.aggregator == Aggregator::kTopk;
  RETURN_IF_ERROR(CheckCounts(counts, tally));
  ASSIGN_OR_RETURN(const SeriesGroups groups, GroupSeries(vector, aggregation.grouping, tally));
  MemoryHold held;
  RETURN_IF_ERROR(HoldMembers(groups, tally, &held));
  const Members members = MembersOf(groups);
  std::vector<VectorSeries> ranked;  // series in rank order; used for a single step
  for (size_t i = 0; i < steps.count; ++i) {
    const size_t count = counts[i] < 1 ? 0 : static_cast<size_t>(counts[i]);
    RETURN_IF_ERROR(tally->Step(1));
    for (const std::vector<size_t>& of_group : members) {
      RETURN_IF_ERROR(tally->Step(SortingSteps(of_group.size())));
      std::vector<Candidate> candidates = CandidatesOf(vector, of_group, i);
      Rank(largest, count, &candidates);
      if (steps.count == 1) {
        for (const Candidate& kept : candidates)
          ranked.push_back(std::move(vector.vector[kept.series]));
        continue;
      }
      for (const size_t series : of_group) vector.vector[series].values[i] = Absent();
      for (const Candidate& kept : candidates) vector.vector[kept.series].values[i] = kept.value;
    }
  }
  if (steps.count == 1) vector.vector = std::move(ranked);
  return vector;
}

Result<Value> QuantilesOfGroups(const Aggregation& aggregation, const Column& phis,
                                const Value& vector, const Steps& steps, MemoryTally* tally) {
  ASSIGN_OR_RETURN(const SeriesGroups groups, GroupSeries(vector, aggregation.grouping, tally));
  MemoryHold held;
  RETURN_IF_ERROR(HoldMembers(groups, tally, &held));
  const Members members = MembersOf(groups);
  VectorBuilder builder(steps, tally);
  std::vector<double> values;
  for (size_t group = 0; group < members.size(); ++group) {
    ASSIGN_OR_RETURN(const size_t series, builder.SeriesOf(groups.labels[group]));
    for (size_t i = 0; i < steps.count; ++i) {
      RETURN_IF_ERROR(tally->Step(SortingSteps(members[group].size())));
      values.clear();
      for (const Candidate& candidate : CandidatesOf(vector, members[group], i))
        values.push_back(candidate.value);
      if (!values.empty()) builder.column(series)[i] = Quantile(phis[i], &values);
    }
  }
  return builder.Take();
}

Result<Value> CountValues(const Aggregation& aggregation, const std::string& label,
                          const Value& vector, const Steps& steps, MemoryTally* tally) {
  if (label.empty()) return Status::InvalidArgument("count_values: a label needs a name");
  Grouping grouping = aggregation.grouping;
  // `by` always keeps the label with the value. `without` may remove it.
  if (!grouping.without) {
    auto& labels = grouping.labels;
    const auto place = std::lower_bound(labels.begin(), labels.end(), label);
    if (place == labels.end() || *place != label) labels.insert(place, label);
  }
  VectorBuilder builder(steps, tally);
  for (const VectorSeries& from : vector.vector) {
    for (size_t i = 0; i < steps.count; ++i) {
      RETURN_IF_ERROR(tally->Step(1));
      if (IsAbsent(from.values[i])) continue;
      RETURN_IF_ERROR(tally->Step(2 * from.labels.steps()));
      Labels labels = from.labels;
      labels.Set(label, FixedText(from.values[i]));
      ASSIGN_OR_RETURN(const size_t series,
                       builder.SeriesOf(GroupLabels(std::move(labels), grouping)));
      double& count = builder.column(series)[i];
      count = IsAbsent(count) ? 1 : count + 1;
    }
  }
  return builder.Take();
}

}  // namespace hg::query::promql
