#pragma once
// Samples that become the results of a range function as they come: none is kept longer than some
// window needs it.

#include <memory>
#include <vector>

#include "query/promql/vector_sink.h"
#include "query/promql/window_call.h"

namespace hg::query::promql {

/// One thread at a time.
class WindowSink : public VectorSink {
 public:
  /// The call outlives the sink, the tally and its watch its result, too.
  WindowSink(const WindowCall& call, WorkWatch* watch, MemoryTally* tally)
      : VectorSink(call.steps(), watch, tally), call_(call) {}

  Status AddSeries(Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  [[nodiscard]] RolledValue rolled_value() const override { return call_.rolled_value(); }
  Status AddRolled(size_t series, const RolledSample& sample) override;
  Status EndSeries(size_t series) override;

 private:
  /// The samples of one series that windows are waiting for.
  struct Pending {
    std::vector<int64_t> times_ms;
    std::vector<double> values;
    std::vector<double> counts;  // of points; empty: one each
    WindowPlace place;
    MemoryHold memory;
  };

  void BeginSeries() override { pending_.emplace_back(); }
  std::unique_ptr<VectorSink> MakePart(MemoryTally* tally) const override {
    return std::make_unique<WindowSink>(call_, watch(), tally);
  }
  Pending& PendingOf(size_t series);
  Status Keep(std::span<const int64_t> times_ms, std::span<const double> values, Pending* pending);
  /// The counts of what is kept behind the first `before` samples.
  Status KeepCounts(size_t before, double count, Pending* pending);
  /// `count`: of the points that each stands for.
  Status Add(size_t series, std::span<const int64_t> times_ms, std::span<const double> values,
             double count);
  Status Slide(size_t series, size_t step_end, Pending* pending);

  const WindowCall& call_;
  std::vector<std::unique_ptr<Pending>> pending_;  // by series; nullptr: nothing is kept
  std::vector<std::unique_ptr<Pending>> spare_;    // of series that have ended
};

}  // namespace hg::query::promql
