#pragma once
// Sinks that turn samples into what selectors give.

#include <memory>
#include <vector>

#include "query/promql/sample_reader.h"
#include "query/promql/value.h"
#include "query/promql/vector_sink.h"

namespace hg::query::promql {

/// What an instant vector shows of a sample.
enum class SampleShown : unsigned char { kValue, kTime };

/// The newest sample of each series at each instant, if it is no older than the look-back and no
/// stale marker. Samples are not kept. One thread at a time.
class InstantSink : public VectorSink {
 public:
  /// The tally and its watch outlive the sink and its result.
  InstantSink(const Steps& instants, int64_t lookback_ms, SampleShown shown, WorkWatch* watch,
              MemoryTally* tally)
      : VectorSink(instants.count, watch, tally),
        instants_(instants),
        lookback_ms_(lookback_ms),
        shown_(shown) {}

  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// A sample at each instant of its interval; the look-back counts from its end.
  Status AddRolled(size_t series, const RolledSample& sample) override;
  Status EndSeries(size_t series) override;

 private:
  struct Cursor {
    size_t next = 0;  // the first instant that is not decided
    bool any = false;
    int64_t time_ms = 0;  // of the newest sample, if any
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
  std::vector<Cursor> cursors_;  // by series
};

/// The samples in the windows of `range_ms` that end at the instants, both ends included. One
/// thread at a time.
class RangeSink : public SampleSink {
 public:
  /// The tally outlives the sink and its result.
  RangeSink(const Steps& ends, int64_t range_ms, MemoryTally* tally)
      : ends_(ends), range_ms_(range_ms), tally_(tally) {}

  Status AddSeries(Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Once, at the end: series without any sample are left out.
  Value Finish();

 private:
  [[nodiscard]] bool InSomeWindow(int64_t time_ms) const;

  const Steps ends_;
  const int64_t range_ms_;
  MemoryTally* const tally_;
  Value value_;
};

}  // namespace hg::query::promql
