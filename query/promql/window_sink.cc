#include "query/promql/window_sink.h"

#include <algorithm>
#include <utility>

namespace hg::query::promql {

WindowSink::Pending& WindowSink::PendingOf(size_t series) {
  std::unique_ptr<Pending>& pending = pending_[series];
  if (pending == nullptr && spare_.empty()) pending = std::make_unique<Pending>();
  if (pending == nullptr) {
    pending = std::move(spare_.back());
    spare_.pop_back();
  }
  return *pending;
}

Status WindowSink::AddSamples(size_t series, std::span<const int64_t> times_ms,
                              std::span<const double> values) {
  return Add(series, times_ms, values, 1);
}

Status WindowSink::AddRolled(size_t series, const RolledSample& sample) {
  if (!sample.ends_within) return {};
  return Add(series, {&sample.end_ms, 1}, {&sample.value, 1}, call_.weighs() ? sample.count : 1);
}

Status WindowSink::Add(size_t series, std::span<const int64_t> times_ms,
                       std::span<const double> values, double count) {
  Pending& pending = PendingOf(series);
  if (pending.place.step == call_.steps() || times_ms.empty()) return {};
  // `next` is the first window that can contain any of these samples. Samples before its start are
  // in no window, so they are dropped.
  const size_t next = call_.StepAfter(times_ms.front() - 1);
  if (next == call_.steps()) return {};
  const auto first = static_cast<size_t>(
      std::upper_bound(times_ms.begin(), times_ms.end(), call_.begin_ms(next)) - times_ms.begin());
  times_ms = times_ms.subspan(first);
  values = values.subspan(first);
  if (times_ms.empty()) return {};
  const size_t before = pending.values.size();
  RETURN_IF_ERROR(Keep(times_ms, values, &pending));
  if (count != 1 || !pending.counts.empty()) RETURN_IF_ERROR(KeepCounts(before, count, &pending));
  // All samples of the windows before `ended` have arrived.
  const size_t ended = call_.StepAfter(times_ms.back());
  if (ended <= pending.place.step) return {};
  return Slide(series, ended, &pending);
}

Status WindowSink::Keep(std::span<const int64_t> times_ms, std::span<const double> values,
                        Pending* pending) {
  const size_t size = pending->times_ms.size(), room = pending->times_ms.capacity();
  if (room - size < times_ms.size()) {
    // Memory is charged before it is allocated.
    const size_t wanted = std::max(2 * room, size + times_ms.size());
    RETURN_IF_ERROR(pending->memory.Add(
        &tally(), static_cast<int64_t>((wanted - room) * (sizeof(int64_t) + sizeof(double)))));
    pending->times_ms.reserve(wanted);
    pending->values.reserve(wanted);
  }
  if (std::none_of(values.begin(), values.end(), IsAbsent)) {
    pending->times_ms.insert(pending->times_ms.end(), times_ms.begin(), times_ms.end());
    pending->values.insert(pending->values.end(), values.begin(), values.end());
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (IsAbsent(values[i])) continue;
    pending->times_ms.push_back(times_ms[i]);
    pending->values.push_back(values[i]);
  }
  return {};
}

Status WindowSink::KeepCounts(size_t before, double count, Pending* pending) {
  const size_t size = pending->values.size(), room = pending->counts.capacity();
  if (size > room) {
    const size_t wanted = std::max(2 * room, size);
    RETURN_IF_ERROR(
        pending->memory.Add(&tally(), static_cast<int64_t>((wanted - room) * sizeof(double))));
    pending->counts.reserve(wanted);
  }
  if (pending->counts.empty()) pending->counts.resize(before, 1);
  pending->counts.resize(size, count);
  return {};
}

Status WindowSink::Slide(size_t series, size_t step_end, Pending* pending) {
  WindowPlace& place = pending->place;
  RETURN_IF_ERROR(call_.Slide(pending->times_ms, pending->values, pending->counts, step_end, &place,
                              &tally(), &column(series)));
  // Unused samples are erased only if they are about half of the samples or more. So the cost per
  // erased sample is at most about one move.
  if (place.begin < pending->times_ms.size() / 2) return {};
  const auto gone = static_cast<ptrdiff_t>(place.begin);
  pending->times_ms.erase(pending->times_ms.begin(), pending->times_ms.begin() + gone);
  pending->values.erase(pending->values.begin(), pending->values.begin() + gone);
  if (!pending->counts.empty())
    pending->counts.erase(pending->counts.begin(), pending->counts.begin() + gone);
  place.end -= place.begin;
  place.begin = 0;
  return {};
}

Status WindowSink::EndSeries(size_t series) {
  if (pending_[series] == nullptr) return {};
  std::unique_ptr<Pending> pending = std::move(pending_[series]);
  RETURN_IF_ERROR(Slide(series, call_.steps(), pending.get()));
  pending->times_ms.clear();
  pending->values.clear();
  pending->counts.clear();
  pending->place = {};
  spare_.push_back(std::move(pending));
  return {};
}

}  // namespace hg::query::promql
