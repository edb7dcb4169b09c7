#include "query/promql/selection.h"

#include <algorithm>

namespace hg::query::promql {

void InstantSink::Decide(Cursor* cursor, Column* column) const {
  const size_t i = cursor->next++;
  if (cursor->time_ms <= instants_.At(i) - lookback_ms_ || IsAbsent(cursor->value)) return;
  (*column)[i] =
      shown_ == SampleShown::kValue ? cursor->value : static_cast<double>(cursor->time_ms) / 1000;
}

void InstantSink::DecideBefore(int64_t time_ms, Cursor* cursor, Column* column) const {
  while (cursor->next < instants_.count && instants_.At(cursor->next) < time_ms) {
    if (cursor->any) {
      Decide(cursor, column);
    } else {
      ++cursor->next;
    }
  }
}

Status InstantSink::AddSamples(size_t series, std::span<const int64_t> times_ms,
                               std::span<const double> values) {
  RETURN_IF_ERROR(tally().Step(times_ms.size()));
  Cursor& cursor = cursors_[series];
  Column& to = column(series);
  for (size_t i = 0; i < times_ms.size() && cursor.next < instants_.count; ++i) {
    DecideBefore(times_ms[i], &cursor, &to);
    cursor.any = true;
    cursor.time_ms = times_ms[i];
    cursor.value = values[i];
  }
  return {};
}

Status InstantSink::AddRolled(size_t series, const RolledSample& sample) {
  RETURN_IF_ERROR(tally().Step(1));
  Cursor& cursor = cursors_[series];
  Column& to = column(series);
  DecideBefore(sample.begin_ms, &cursor, &to);
  cursor.any = true;
  cursor.value = sample.value;
  while (cursor.next < instants_.count && instants_.At(cursor.next) <= sample.end_ms) {
    cursor.time_ms = instants_.At(cursor.next);
    Decide(&cursor, &to);
  }
  cursor.time_ms = sample.end_ms;
  return {};
}

Status InstantSink::EndSeries(size_t series) {
  Cursor& cursor = cursors_[series];
  while (cursor.any && cursor.next < instants_.count) Decide(&cursor, &column(series));
  return {};
}

Status RangeSink::AddSeries(Labels labels) {
  RETURN_IF_ERROR(HoldSeries(labels, 0, tally_, &value_.memory));
  value_.matrix.push_back({std::move(labels), {}, {}});
  return {};
}

bool RangeSink::InSomeWindow(int64_t time_ms) const {
  if (time_ms <= ends_.start_ms - range_ms_) return false;
  if (ends_.step_ms <= range_ms_) return true;  // there is no gap between the windows
  // Of the windows that end at or after the sample, only the first must be checked, because it
  // begins first.
  size_t i = 0;
  if (time_ms > ends_.start_ms) {
    if (ends_.step_ms == 0) return false;
    i = static_cast<size_t>((time_ms - ends_.start_ms + ends_.step_ms - 1) / ends_.step_ms);
  }
  return i < ends_.count && ends_.At(i) - range_ms_ < time_ms;
}

Status RangeSink::AddSamples(size_t series, std::span<const int64_t> times_ms,
                             std::span<const double> values) {
  RETURN_IF_ERROR(tally_->Step(times_ms.size()));
  RangeSeries& to = value_.matrix[series];
  for (size_t i = 0; i < times_ms.size(); ++i) {
    if (IsAbsent(values[i]) || !InSomeWindow(times_ms[i])) continue;
    if (to.times_ms.size() == to.times_ms.capacity()) {
      // Memory is charged before it is allocated.
      const size_t room = std::max(2 * to.times_ms.capacity(), times_ms.size());
      const auto more = static_cast<int64_t>((room - to.times_ms.capacity()) * 2 * sizeof(double));
      RETURN_IF_ERROR(value_.memory.Add(tally_, more));
      to.times_ms.reserve(room);
      to.values.reserve(room);
    }
    to.times_ms.push_back(times_ms[i]);
    to.values.push_back(values[i]);
  }
  return {};
}

Value RangeSink::Finish() {
  value_.type = ValueType::kMatrix;
  std::erase_if(value_.matrix, [](const RangeSeries& series) { return series.values.empty(); });
  return std::move(value_);
}

}  // namespace hg::query::promql
