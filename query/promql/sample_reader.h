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

/// Takes samples, one thread at a time.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  /// A series that was not there before. They are numbered from 0.
  virtual Status AddSeries(Labels labels) = 0;
  /// Times ascend within a series, across all calls. The spans live as long as the call.
  virtual Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                            std::span<const double> values) = 0;
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
