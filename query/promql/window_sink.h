#pragma once
// Computes the results of a range function while samples arrive. The sink stores a sample only as
// long as a window needs the sample.

#include <memory>
#include <vector>

#include "query/promql/vector_sink.h"
#include "query/promql/window_call.h"

namespace hg::query::promql {

/// A sink that evaluates a range function. The sink is not thread-safe.
class WindowSink : public VectorSink {
 public:
  /// `call` must outlive the sink. `tally` and `watch` must outlive the sink and the result of the
  /// sink.
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
    /// Number of points in each sample; empty = each sample is one point.
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
  /// Stores `count` as the number of points of each sample in `pending`. The first `before` samples
  /// keep the counts that they had.
  Status KeepCounts(size_t before, double count, Pending* pending);
  /// Adds samples to a series. `count` is the number of points in each of these samples.
  Status Add(size_t series, std::span<const int64_t> times_ms, std::span<const double> values,
             double count);
  Status Slide(size_t series, size_t step_end, Pending* pending);

  const WindowCall& call_;
  /// The stored samples of each series; the index is the series number. nullptr: no sample is
  /// stored.
  std::vector<std::unique_ptr<Pending>> pending_;
  std::vector<std::unique_ptr<Pending>> spare_;  // objects of ended series; new series reuse them
};

}  // namespace hg::query::promql
