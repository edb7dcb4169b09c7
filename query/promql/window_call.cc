#include "query/promql/window_call.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace hg::query::promql {
namespace {

// Number of steps that are reported to the request context together. Reports are rare because all
// threads of a query share one context.
constexpr uint64_t kWindowStepsAtOnce = 1024;
constexpr uint64_t kStepsPerSorted = 8;

Status CheckSmoothing(const Window& window) {
  for (const double factor : {window.first, window.second}) {
    if (!(factor > 0 && factor < 1)) {
      return Status::InvalidArgument("the smoothing factors must be between 0 and 1, not " +
                                     std::to_string(factor));
    }
  }
  return {};
}

/// Returns the index of the first time at or after `ms`, searching from index `from`. The search is
/// fast if the result is near `from`.
size_t PlaceOf(std::span<const int64_t> times_ms, size_t from, int64_t ms) {
  size_t reach = 1;
  while (from + reach <= times_ms.size() && times_ms[from + reach - 1] < ms) {
    from += reach;
    reach *= 2;
  }
  const auto begin = times_ms.begin() + static_cast<ptrdiff_t>(from);
  const auto end =
      times_ms.begin() + static_cast<ptrdiff_t>(std::min(from + reach, times_ms.size()));
  return static_cast<size_t>(std::lower_bound(begin, end, ms) - times_ms.begin());
}

}  // namespace

WindowCall::WindowCall(std::string_view name, const Steps& steps, const Steps& ends,
                       int64_t range_ms, std::vector<Value> scalars)
    : function_(FindRangeFunction(name)),
      weighs_(name == "avg_over_time" || name == "count_over_time"),
      smooths_(name == "holt_winters" || name == "double_exponential_smoothing"),
      sorts_(name == "quantile_over_time"),
      rolled_value_(RolledValueFor(name)),
      steps_(steps),
      ends_(ends),
      range_ms_(range_ms),
      scalars_(std::move(scalars)) {}

size_t WindowCall::StepAfter(int64_t time_ms) const {
  if (time_ms < ends_.start_ms) return 0;
  if (ends_.step_ms == 0) return ends_.count;
  return std::min(static_cast<size_t>((time_ms - ends_.start_ms) / ends_.step_ms) + 1, ends_.count);
}

Window WindowCall::WindowAt(size_t step) const {
  Window window;
  window.end_ms = ends_.At(step);
  window.begin_ms = window.end_ms - range_ms_;
  window.now_ms = steps_.At(step);
  if (!scalars_.empty()) window.first = scalars_[0].scalar[step];
  if (scalars_.size() > 1) window.second = scalars_[1].scalar[step];
  return window;
}

Status WindowCall::Slide(std::span<const int64_t> times_ms, std::span<const double> values,
                         std::span<const double> counts, size_t step_end, WindowPlace* place,
                         MemoryTally* tally, Column* to) const {
  size_t begin = place->begin, end = place->end;
  uint64_t work = 0;
  MemoryHold copied;
  size_t copied_most = 0;
  for (; place->step < step_end; ++place->step) {
    Window window = WindowAt(place->step);
    end = PlaceOf(times_ms, end, window.end_ms + 1);
    begin = PlaceOf(times_ms, begin, window.begin_ms + 1);
    work += 1 + (end - begin) * (sorts_ ? kStepsPerSorted : 1);
    if (sorts_ && end - begin > copied_most) {
      const size_t more = end - begin - std::exchange(copied_most, end - begin);
      RETURN_IF_ERROR(copied.Add(tally, static_cast<int64_t>(more * sizeof(double))));
    }
    if (work >= kWindowStepsAtOnce) RETURN_IF_ERROR(tally->Step(std::exchange(work, 0)));
    if (begin == end) continue;
    window.times_ms = times_ms.subspan(begin, end - begin);
    window.values = values.subspan(begin, end - begin);
    // If each sample stands for one point, the window is evaluated as if there were no rollups, so
    // that the result has the same bits.
    const auto weights =
        counts.subspan(std::min(begin, counts.size()), counts.empty() ? 0 : end - begin);
    window.counts = std::all_of(weights.begin(), weights.end(), [](double n) { return n == 1; })
                        ? std::span<const double>()
                        : weights;
    if (smooths_) RETURN_IF_ERROR(CheckSmoothing(window));
    if (const std::optional<double> value = function_(window)) (*to)[place->step] = *value;
  }
  place->begin = begin;
  place->end = end;
  return tally->Step(work);
}

}  // namespace hg::query::promql
