#include "query/promql/value.h"

#include <algorithm>
#include <unordered_set>

namespace hg::query::promql {
namespace {

Status EqualSeries(const Labels& labels) {
  return Status::InvalidArgument("vector cannot contain metrics with the same labelset: " +
                                 labels.Text());
}

}  // namespace

Status HoldSeries(const Labels& labels, size_t count, MemoryTally* tally, MemoryHold* hold) {
  RETURN_IF_ERROR(tally->Step(1 + count));
  return hold->Add(tally, static_cast<int64_t>(labels.bytes() + count * sizeof(double)));
}

Result<size_t> VectorBuilder::SeriesOf(Labels labels) {
  const auto [it, fresh] = numbers_.try_emplace(labels.Key(), value_.vector.size());
  if (fresh) {
    RETURN_IF_ERROR(HoldSeries(labels, steps_.count, tally_, &value_.memory));
    value_.vector.push_back({std::move(labels), Column(steps_.count, Absent())});
  }
  return it->second;
}

Status VectorBuilder::Add(VectorSeries series) {
  const auto [it, fresh] = numbers_.try_emplace(series.labels.Key(), value_.vector.size());
  RETURN_IF_ERROR(HoldSeries(series.labels, fresh ? steps_.count : 0, tally_, &value_.memory));
  if (fresh) {
    value_.vector.push_back(std::move(series));
    return {};
  }
  Column& to = column(it->second);
  for (size_t i = 0; i < steps_.count; ++i) {
    if (IsAbsent(series.values[i])) continue;
    if (!IsAbsent(to[i])) return EqualSeries(series.labels);
    to[i] = series.values[i];
  }
  return {};
}

Status DropNames(const Steps& steps, MemoryTally* tally, Value* vector) {
  VectorBuilder builder(steps, tally);
  for (VectorSeries& series : vector->vector) {
    series.labels.Remove(kNameLabel);
    RETURN_IF_ERROR(builder.Add(std::move(series)));
  }
  *vector = builder.Take();
  return {};
}

Status RefuseEqualSeries(const Value& vector) {
  std::unordered_set<std::string> seen;
  for (const VectorSeries& series : vector.vector) {
    if (std::all_of(series.values.begin(), series.values.end(), IsAbsent)) continue;
    if (!seen.insert(series.labels.Key()).second) return EqualSeries(series.labels);
  }
  return {};
}

}  // namespace hg::query::promql
