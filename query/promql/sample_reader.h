#pragma once
// The interface through which the evaluator of PromQL expressions reads samples.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/promql/labels.h"
#include "query/promql/matcher.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// The kinds of values that a rollup interval provides. If retention has deleted the raw points of
/// the interval, a PromQL function uses one of these values.
enum class RolledValue : unsigned char { kMean, kSum, kCount, kLeast, kMost };

/// A rollup interval that a reader delivers instead of the points of the interval (docs/promql.md).
struct RolledSample {
  int64_t begin_ms = 0, end_ms = 0;  // first and last millisecond of the interval
  bool ends_within = true;           // whether end_ms is within the requested time range
  double value = 0;                  // the value that SampleSink::rolled_value selects
  double count = 0;                  // number of points in the interval
};

/// Receives samples from a SampleReader. A sink is not thread-safe.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  /// Adds a series. The series get the numbers 0, 1, 2 and so on, in the order in which they are
  /// added.
  virtual Status AddSeries(Labels labels) = 0;
  /// Adds samples to the series with this number. The times of the samples of a series must ascend,
  /// also from one call to the next. The spans are valid only during the call.
  virtual Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                            std::span<const double> values) = 0;
  /// Returns which value of a rollup interval the reader must pass to AddRolled. The result never
  /// changes during the life of a sink.
  [[nodiscard]] virtual RolledValue rolled_value() const { return RolledValue::kMean; }
  /// Adds a rollup interval that overlaps the requested time range. In the order of the samples of
  /// a series, the interval has the time of its end. The default implementation adds one sample at
  /// the end of the interval.
  virtual Status AddRolled(size_t series, const RolledSample& sample) {
    if (!sample.ends_within) return {};
    return AddSamples(series, {&sample.end_ms, 1}, {&sample.value, 1});
  }
  /// Tells the sink that the series gets no more samples, so that the sink can free memory. Not
  /// every reader calls this function.
  virtual Status EndSeries(size_t series) {
    (void)series;
    return {};
  }
  /// Returns `parts` sinks, so that several threads can add the samples that follow. Each returned
  /// sink may be used on a thread of its own, and numbers its series from 0. The returned sinks are
  /// valid until Join, and this sink must outlive them. An empty result means that this sink cannot
  /// be divided.
  virtual std::vector<SampleSink*> Cut(size_t parts) {
    (void)parts;
    return {};
  }
  /// Takes over the series of the sinks that Cut returned. These series get the next numbers in
  /// this sink, in the order of the parts.
  virtual Status Join() { return {}; }
};

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// Passes the samples in [from_ms, to_ms] of all series that the matchers select to `sink`. The
  /// sink may also get series that have no sample in this range. Returns the errors of the store
  /// and of the sink.
  virtual Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms,
                      SampleSink* sink) = 0;
};

}  // namespace hg::query::promql
