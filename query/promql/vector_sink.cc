#include "query/promql/vector_sink.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hg::query::promql {

Status VectorSink::AddSeries(Labels labels) {
  RETURN_IF_ERROR(HoldSeries(labels, steps_, &tally_, &value_.memory));
  value_.vector.push_back({std::move(labels), Column(steps_, Absent())});
  BeginSeries();
  return {};
}

std::vector<SampleSink*> VectorSink::Cut(size_t parts) {
  std::vector<SampleSink*> sinks;
  while (sinks.size() < parts) {
    Part& part = parts_.emplace_back(watch_);
    part.sink = MakePart(&part.memory);
    sinks.push_back(part.sink.get());
  }
  return sinks;
}

Status VectorSink::Join() {
  for (Part& part : parts_) {
    RETURN_IF_ERROR(part.sink->EndAll());
    Value& more = part.sink->value_;
    RETURN_IF_ERROR(value_.memory.Take(&more.memory, &tally_));
    for (VectorSeries& series : more.vector) {
      value_.vector.push_back(std::move(series));
      BeginSeries();
    }
  }
  parts_.clear();
  return {};
}

Status VectorSink::EndAll() {
  for (size_t series = 0; series < value_.vector.size(); ++series)
    RETURN_IF_ERROR(EndSeries(series));
  return {};
}

Result<Value> VectorSink::Finish() {
  RETURN_IF_ERROR(EndAll());
  value_.type = ValueType::kVector;
  std::erase_if(value_.vector, [](const VectorSeries& series) {
    return std::all_of(series.values.begin(), series.values.end(), IsAbsent);
  });
  return std::move(value_);
}

}  // namespace hg::query::promql
