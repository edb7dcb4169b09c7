#include "query/promql/value.h"

#include <algorithm>

namespace hg::query::promql {
namespace {

Status EqualSeries(const Labels& labels) {
  return Status::InvalidArgument("vector cannot contain metrics with the same labelset: " +
                                 labels.Text());
}

}  // namespace

Status HoldSeries(const Labels& labels, size_t count, MemoryTally* tally, MemoryHold* hold) {
  RETURN_IF_ERROR(tally->Step(labels.steps() + count));
  return hold->Add(tally, static_cast<int64_t>(labels.bytes() + count * sizeof(double)));
}

Result<SeriesNumbers::Place> SeriesNumbers::Of(const Labels& labels) {
  RETURN_IF_ERROR(tally_->Step(labels.steps()));
  constexpr int64_t kEntryBytes = 96;
  const auto [entry, fresh] = numbers_.try_emplace(labels.Key(), numbers_.size());
  if (fresh) {
    RETURN_IF_ERROR(memory_.Add(tally_, kEntryBytes + static_cast<int64_t>(entry->first.size())));
  }
  return Place{entry->second, fresh};
}

Result<size_t> VectorBuilder::SeriesOf(Labels labels) {
  ASSIGN_OR_RETURN(const SeriesNumbers::Place place, numbers_.Of(labels));
  if (place.fresh) {
    RETURN_IF_ERROR(HoldSeries(labels, steps_.count, tally_, &value_.memory));
    value_.vector.push_back({std::move(labels), Column(steps_.count, Absent())});
  }
  return place.number;
}

Status VectorBuilder::Add(VectorSeries series) {
  ASSIGN_OR_RETURN(const SeriesNumbers::Place place, numbers_.Of(series.labels));
  RETURN_IF_ERROR(
      HoldSeries(series.labels, place.fresh ? steps_.count : 0, tally_, &value_.memory));
  if (place.fresh) {
    value_.vector.push_back(std::move(series));
    return {};
  }
  RETURN_IF_ERROR(tally_->Step(steps_.count));
  Column& to = column(place.number);
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
    series.labels.RemoveName();
    RETURN_IF_ERROR(builder.Add(std::move(series)));
  }
  *vector = builder.Take();
  return {};
}

Status RefuseEqualSeries(const Value& vector, MemoryTally* tally) {
  SeriesNumbers seen(tally);
  const auto see = [&seen](const Labels& labels) -> Status {
    ASSIGN_OR_RETURN(const SeriesNumbers::Place place, seen.Of(labels));
    return place.fresh ? Status() : EqualSeries(labels);
  };
  for (const VectorSeries& series : vector.vector) {
    if (std::all_of(series.values.begin(), series.values.end(), IsAbsent)) continue;
    RETURN_IF_ERROR(see(series.labels));
  }
  for (const RangeSeries& series : vector.matrix) RETURN_IF_ERROR(see(series.labels));
  return {};
}

}  // namespace hg::query::promql
