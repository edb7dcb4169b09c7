#include "query/promql/window_call.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace hg::query::promql {
namespace {

// The watch is one place for all threads of a query: it is told of so many steps at once.
constexpr uint64_t kStepsAtOnce = 1024;

Status CheckSmoothing(const Window& window) {
  for (const double factor : {window.first, window.second}) {
    if (!(factor > 0 && factor < 1)) {
      return Status::InvalidArgument("holt_winters smooths by factors between 0 and 1, not by " +
                                     std::to_string(factor));
    }
  }
  return {};
}

/// The first place from `from` on whose time is not before `ms`; near ones are found soonest.
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

/// Windows that wait for their averages.
class Averages {
 public:
  explicit Averages(Column* to) : to_(*to) {}
  ~Averages() { Compute(); }
  Averages(const Averages&) = delete;
  Averages& operator=(const Averages&) = delete;

  void Add(size_t step, std::span<const double> window) {
    steps_[count_] = step;
    windows_[count_] = window;
    if (++count_ == kAveragesAtOnce) Compute();
  }

 private:
  void Compute() {
    std::array<double, kAveragesAtOnce> results;
    AveragesOf({windows_.data(), count_}, results.data());
    for (size_t i = 0; i < count_; ++i) to_[steps_[i]] = results[i];
    count_ = 0;
  }

  Column& to_;
  size_t count_ = 0;
  std::array<size_t, kAveragesAtOnce> steps_;
  std::array<std::span<const double>, kAveragesAtOnce> windows_;
};

}  // namespace

WindowCall::WindowCall(std::string_view name, const Steps& steps, const Steps& ends,
                       int64_t range_ms, std::vector<Value> scalars)
    : function_(FindRangeFunction(name)),
      averages_(name == "avg_over_time"),
      counts_(name == "count_over_time"),
      smooths_(name == "holt_winters"),
      keeps_name_(name == "last_over_time"),
      rolled_value_(averages_ ? RolledValue::kSum
                              : (counts_ ? RolledValue::kCount : RolledValueFor(name))),
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
  Averages averages(to);
  size_t begin = place->begin, end = place->end;
  uint64_t work = 0;
  for (; place->step < step_end; ++place->step) {
    Window window = WindowAt(place->step);
    end = PlaceOf(times_ms, end, window.end_ms + 1);
    begin = PlaceOf(times_ms, begin, window.begin_ms);
    work += 1 + end - begin;
    if (work >= kStepsAtOnce) RETURN_IF_ERROR(tally->Step(std::exchange(work, 0)));
    if (begin == end) continue;
    window.times_ms = times_ms.subspan(begin, end - begin);
    window.values = values.subspan(begin, end - begin);
    // Where each is one point windows are what they are without rollups, to the last bit.
    const auto weights =
        counts.subspan(std::min(begin, counts.size()), counts.empty() ? 0 : end - begin);
    window.counts = std::all_of(weights.begin(), weights.end(), [](double n) { return n == 1; })
                        ? std::span<const double>()
                        : weights;
    if (averages_ && window.counts.empty()) {
      averages.Add(place->step, window.values);
      continue;
    }
    if (smooths_) RETURN_IF_ERROR(CheckSmoothing(window));
    if (const std::optional<double> value = function_(window)) (*to)[place->step] = *value;
  }
  place->begin = begin;
  place->end = end;
  return tally->Step(work);
}

}  // namespace hg::query::promql
