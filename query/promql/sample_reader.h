#pragma once
// Where an evaluation gets its samples from.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/promql/labels.h"
#include "query/promql/matcher.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// What is wanted of the points of an interval of which rollups alone are left.
enum class RolledValue : unsigned char { kMean, kSum, kCount, kLeast, kMost };

/// Such an interval, in place of its points (docs/promql.md).
struct RolledSample {
  int64_t begin_ms = 0, end_ms = 0;  // of the interval, both inclusive
  bool ends_within = true;           // its end is among the times that were asked for
  double value = 0;                  // the one that the sink wants
  double count = 0;                  // of its points
};

/// Takes samples, one thread at a time.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  /// A series that was not there before. They are numbered from 0.
  virtual Status AddSeries(Labels labels) = 0;
  /// Times ascend within a series, across all calls. The spans live as long as the call.
  virtual Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                            std::span<const double> values) = 0;
  /// What AddRolled is given; the same for all calls.
  [[nodiscard]] virtual RolledValue rolled_value() const { return RolledValue::kMean; }
  /// An interval that overlaps the times that were asked for; between samples by its end. Unless it
  /// is known better, it is a sample at its end.
  virtual Status AddRolled(size_t series, const RolledSample& sample) {
    if (!sample.ends_within) return {};
    return AddSamples(series, {&sample.end_ms, 1}, {&sample.value, 1});
  }
  /// No more samples of it will come: what was kept for them may go. Not each reader knows.
  virtual Status EndSeries(size_t series) {
    (void)series;
    return {};
  }
  /// Sinks that take what comes next in parts, each good for a thread of its own and with numbers
  /// of its own, until Join; it outlives them. None: it cannot be cut.
  virtual std::vector<SampleSink*> Cut(size_t parts) {
    (void)parts;
    return {};
  }
  /// Takes over what those were given: their series, in the order of the parts, have the next
  /// numbers.
  virtual Status Join() { return {}; }
};

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// Gives the samples within [from_ms, to_ms] of all series that the matchers admit; a series
  /// without such a sample may be given or not. Fails with the storage, or as the sink does.
  virtual Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms,
                      SampleSink* sink) = 0;
};

}  // namespace hg::query::promql
