#pragma once
// The interface through which the evaluation of an expression reads samples.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/promql/labels.h"
#include "query/promql/matcher.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// The kinds of values of a rollup interval. A function needs one of them if retention has deleted
/// the raw points of the interval.
enum class RolledValue : unsigned char { kMean, kSum, kCount, kLeast, kMost };

/// A rollup interval that a reader returns instead of its points (docs/promql.md).
struct RolledSample {
  int64_t begin_ms = 0, end_ms = 0;  // the interval; both ends are inclusive
  bool ends_within = true;           // whether end_ms is within the requested time range
  double value = 0;                  // the value that SampleSink::rolled_value selects
  double count = 0;                  // number of points in the interval
};

/// Receives samples. Not thread-safe.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  /// Adds a series. Series are numbered from 0 in the order of these calls.
  virtual Status AddSeries(Labels labels) = 0;
  /// Adds samples. Times of a series must ascend across all calls. The spans are valid only during
  /// the call.
  virtual Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                            std::span<const double> values) = 0;
  /// Returns the kind of value that AddRolled needs. The result is constant for each sink.
  [[nodiscard]] virtual RolledValue rolled_value() const { return RolledValue::kMean; }
  /// Adds a rollup interval that overlaps the requested time range. It is ordered among the samples
  /// by its end. By default it becomes one sample at that time.
  virtual Status AddRolled(size_t series, const RolledSample& sample) {
    if (!sample.ends_within) return {};
    return AddSamples(series, {&sample.end_ms, 1}, {&sample.value, 1});
  }
  /// Tells the sink that the series gets no more samples, so that the sink may free its state. Not
  /// every reader calls this function.
  virtual Status EndSeries(size_t series) {
    (void)series;
    return {};
  }
  /// Returns sinks for `parts` parts of the samples that follow. Each of these sinks may be used on
  /// its own thread and numbers its series from 0. They are valid until Join, and this sink must
  /// outlive them. An empty result means that the sink cannot be divided.
  virtual std::vector<SampleSink*> Cut(size_t parts) {
    (void)parts;
    return {};
  }
  /// Takes over the results of the sinks that Cut returned. Their series get the next numbers in
  /// this sink, in the order of the parts.
  virtual Status Join() { return {}; }
};

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// Delivers to the sink the samples within [from_ms, to_ms] of all series that the matchers
  /// admit. The sink may also get series that have no sample in this range. Fails with errors of
  /// storage and of the sink.
  virtual Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms,
                      SampleSink* sink) = 0;
};

}  // namespace hg::query::promql
