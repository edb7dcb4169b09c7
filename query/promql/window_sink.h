#pragma once
// Computes the results of a range function while samples arrive. A sample is stored only as long as
// a later window needs it.

#include <memory>
#include <vector>

#include "query/promql/vector_sink.h"
#include "query/promql/window_call.h"

namespace hg::query::promql {

/// A sink that evaluates a range function. Not thread-safe.
class WindowSink : public VectorSink {
 public:
  /// `call` must outlive the sink. `tally` and `watch` must outlive the sink and the result of
  /// Finish.
  WindowSink(const WindowCall& call, RequestContext* watch, MemoryTally* tally)
      : VectorSink(call.steps(), watch, tally), call_(call) {}

  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  [[nodiscard]] RolledValue rolled_value() const override { return call_.rolled_value(); }
  Status AddRolled(size_t series, const RolledSample& sample) override;
  Status EndSeries(size_t series) override;

 private:
  /// The samples of one series that later windows still need.
  struct Pending {
    std::vector<int64_t> times_ms;
    std::vector<double> values;
    /// The number of points for which each sample stands; empty = each sample is one point.
    std::vector<double> counts;
    WindowPlace place;
    MemoryHold memory;
  };

  void BeginSeries() override { pending_.emplace_back(); }
  std::unique_ptr<VectorSink> MakePart(MemoryTally* tally) const override {
    return std::make_unique<WindowSink>(call_, watch(), tally);
  }
  Pending& PendingOf(size_t series);
  Status Keep(std::span<const int64_t> times_ms, std::span<const double> values, Pending* pending);
  /// Sets the number of points of each sample in `pending` to `count`, except for the first
  /// `before` samples, which keep their numbers.
  Status KeepCounts(size_t before, double count, Pending* pending);
  /// Adds samples to the series with this number. Each of these samples stands for `count` points.
  Status Add(size_t series, std::span<const int64_t> times_ms, std::span<const double> values,
             double count);
  Status Slide(size_t series, size_t step_end, Pending* pending);

  const WindowCall& call_;
  /// The stored samples of each series, by series number. nullptr: no sample of the series is
  /// stored.
  std::vector<std::unique_ptr<Pending>> pending_;
  std::vector<std::unique_ptr<Pending>> spare_;  // objects of ended series; new series reuse them
};

}  // namespace hg::query::promql
