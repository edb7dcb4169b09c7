#pragma once
// Sinks that compute the results of PromQL selectors from samples.

#include <memory>
#include <vector>

#include "query/promql/sample_reader.h"
#include "query/promql/value.h"
#include "query/promql/vector_sink.h"

namespace hg::query::promql {

/// Whether the values of an instant vector are the values or the times of the samples.
enum class SampleShown : unsigned char { kValue, kTime };

/// Finds the newest sample of each series at each evaluation time. A sample is used if it is not a
/// stale marker and its age is less than `lookback_ms`. Samples are not stored. The sink is not
/// thread-safe.
class InstantSink : public VectorSink {
 public:
  /// `tally` and the request context of `tally` must outlive the sink and its result.
  InstantSink(const Steps& instants, int64_t lookback_ms, SampleShown shown, RequestContext* watch,
              MemoryTally* tally)
      : VectorSink(instants.count, watch, tally),
        instants_(instants),
        lookback_ms_(lookback_ms),
        shown_(shown) {}

  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Adds a rollup interval. Each evaluation time within the interval gets a sample with that time.
  /// For later evaluation times, the interval counts as one sample at its end.
  Status AddRolled(size_t series, const RolledSample& sample) override;
  Status EndSeries(size_t series) override;

 private:
  struct Cursor {
    size_t next = 0;  // index of the first evaluation time that has no sample yet
    bool any = false;
    int64_t time_ms = 0;  // time of the newest sample; valid only if `any` is set
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
/// includes its end but not its start. The sink is not thread-safe.
class RangeSink : public SampleSink {
 public:
  /// `tally` must outlive the sink and its result.
  RangeSink(const Steps& ends, int64_t range_ms, MemoryTally* tally)
      : ends_(ends), range_ms_(range_ms), tally_(tally) {}

  Status AddSeries(Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Returns the collected samples, without the series that have no sample. Call this function only
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
