#pragma once
// Histograms on the read path (opentsdb-queries.md §13). Histograms are added up and never
// interpolated. All functions are free of I/O.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "query/buckets/downsample.h"
#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/codec/histogram.h"

namespace hg::query {

struct TimedHistogram {
  int64_t time_ms = 0;
  codec::SimpleHistogram histogram;
};

/// The histograms of one series or of a group. The histograms of a series are in the order of its
/// cells, which is not always the order of time: a time in milliseconds may come before an earlier
/// time in seconds.
using HistogramColumn = std::vector<TimedHistogram>;

/// These functions return the memory in bytes of one histogram in a column, and of all histograms
/// of a column.
int64_t HistogramBytes(const codec::SimpleHistogram& histogram);
int64_t HistogramBytes(const HistogramColumn& histograms);

/// Adds histograms. Adding takes n log n steps for n buckets in total, whatever their bounds are.
class HistogramSum {
 public:
  /// Charges the sum to `memory`, which must outlive the object. The memory stays charged. Add and
  /// Take fail with errors of `memory`.
  explicit HistogramSum(MemoryTally* memory) : memory_(*memory) {}

  Status Add(const codec::SimpleHistogram& histogram);
  /// Returns the sum with sorted buckets. Call this function once, after at least one Add.
  Result<codec::SimpleHistogram> Take();

 private:
  Status JoinLastTwo();

  MemoryTally& memory_;
  // Each part is the sum of some of the added histograms. Most parts have at most half as many
  // buckets as the previous part, so that merging all parts takes few steps.
  std::vector<codec::SimpleHistogram> parts_;
};

/// Returns, for each percentile, the middle of the bucket that contains it, in the way in which
/// OpenTSDB finds it. `ascending` lists the percentiles. The result is −1 for percentiles outside
/// [1, 100], and 0 if the histogram has no counts.
std::vector<double> Percentiles(const codec::SimpleHistogram& histogram,
                                std::span<const double> ascending);

/// Adds up the histograms of each bucket. Ignores the fill policy. With run_all the result is
/// empty. The result stays charged to `memory`.
Result<HistogramColumn> Downsampled(const HistogramColumn& histograms, const BucketGrid& grid,
                                    MemoryTally* memory);

/// Adds up the histograms of all columns that have the same instant. Each column adds at most one
/// histogram to a sum. If a histogram has the instant 0, it and the rest of its column are ignored.
/// The result stays charged to `memory`.
Result<HistogramColumn> Merged(std::span<const HistogramColumn* const> columns,
                               MemoryTally* memory);

/// One output of a group of histograms: a suffix for the metric name, and points.
struct HistogramOutput {
  std::string suffix;
  PointColumns points;
};

/// Returns an output for each percentile, in ascending order. If `shape` is not null, outputs for
/// underflow, for each bucket of `shape` and for overflow follow. The outputs stay charged to
/// `context`.
Result<std::vector<HistogramOutput>> HistogramOutputs(const HistogramColumn& histograms,
                                                      std::vector<double> percentiles,
                                                      const codec::SimpleHistogram* shape,
                                                      RequestContext& context);

}  // namespace hg::query
