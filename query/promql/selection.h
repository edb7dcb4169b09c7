#pragma once
// Sinks that compute the results of PromQL selectors from samples.

#include <memory>
#include <vector>

#include "query/promql/sample_reader.h"
#include "query/promql/value.h"
#include "query/promql/vector_sink.h"

namespace hg::query::promql {

/// Whether an instant vector contains the values of the samples (kValue) or their times in seconds
/// (kTime).
enum class SampleShown : unsigned char { kValue, kTime };

/// Finds the newest sample of each series at each evaluation time. The result has no sample if the
/// newest sample is a stale marker, or if its age is `lookback_ms` or more. The sink stores only
/// the newest sample of each series. Not thread-safe.
class InstantSink : public VectorSink {
 public:
  /// `instants` are the evaluation times. `tally` and `watch` must outlive the sink and its result.
  InstantSink(const Steps& instants, int64_t lookback_ms, SampleShown shown, RequestContext* watch,
              MemoryTally* tally)
      : VectorSink(instants.count, watch, tally),
        instants_(instants),
        lookback_ms_(lookback_ms),
        shown_(shown) {}

  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Adds a rollup interval. For an evaluation time within the interval, the interval counts as a
  /// sample with this time. For later evaluation times, the interval counts as one sample at its
  /// end.
  Status AddRolled(size_t series, const RolledSample& sample) override;
  Status EndSeries(size_t series) override;

 private:
  struct Cursor {
    size_t next = 0;  // index of the first evaluation time that has no sample yet
    bool any = false;
    /// Time of the newest sample so far, in milliseconds; valid only if `any` is set.
    int64_t time_ms = 0;
    double value = 0;
  };
  void BeginSeries() override { cursors_.emplace_back(); }
  std::unique_ptr<VectorSink> MakePart(MemoryTally* tally) const override {
    return std::make_unique<InstantSink>(instants_, lookback_ms_, shown_, watch(), tally);
  }
  void DecideBefore(int64_t time_ms, Cursor* cursor, Column* column) const;
  void Decide(Cursor* cursor, Column* column) const;

  const Steps instants_;
  const int64_t lookback_ms_;
  const SampleShown shown_;
  std::vector<Cursor> cursors_;  // one cursor per series, in the order of series numbers
};

/// Collects the samples in the windows of length `range_ms` that end at the given times. A window
/// includes its end but not its start. Not thread-safe.
class RangeSink : public SampleSink {
 public:
  /// `ends` are the times at which the windows end. `tally` must outlive the sink and its result.
  RangeSink(const Steps& ends, int64_t range_ms, MemoryTally* tally)
      : ends_(ends), range_ms_(range_ms), tally_(tally) {}

  Status AddSeries(Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Returns the collected samples. Series without a sample are left out. Call this function only
  /// once, at the end.
  Value Finish();

 private:
  [[nodiscard]] bool InSomeWindow(int64_t time_ms) const;

  const Steps ends_;
  const int64_t range_ms_;
  MemoryTally* const tally_;
  Value value_;
};

}  // namespace hg::query::promql
