#pragma once
// Functions for histograms in queries (opentsdb-queries.md §13). Histograms are added up but never
// interpolated. The functions do no I/O.

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
/// cells, which may differ from the order of time: a cell with a time in milliseconds may come
/// before a cell with an earlier time in seconds.
using HistogramColumn = std::vector<TimedHistogram>;

/// HistogramBytes returns the memory in bytes: of one histogram in a column, or of all histograms
/// of a column.
int64_t HistogramBytes(const codec::SimpleHistogram& histogram);
int64_t HistogramBytes(const HistogramColumn& histograms);

/// Computes the sum of histograms. If the histograms have n buckets in total, the sum takes n log n
/// steps, whatever bounds the buckets have.
class HistogramSum {
 public:
  /// The constructor takes the memory tally to which the sum is charged. `memory` must outlive the
  /// object. The memory stays charged after the object is destroyed. Add and Take fail if `memory`
  /// reports an error.
  explicit HistogramSum(MemoryTally* memory) : memory_(*memory) {}

  Status Add(const codec::SimpleHistogram& histogram);
  /// Returns the sum with sorted buckets. Call this function once, after at least one Add.
  Result<codec::SimpleHistogram> Take();

 private:
  Status JoinLastTwo();

  MemoryTally& memory_;
  // Partial sums: each element is the sum of some of the added histograms. Most partial sums have
  // at most half as many buckets as the one before, so merging all of them takes few steps.
  std::vector<codec::SimpleHistogram> parts_;
};

/// Returns, for each percentile, the middle of the histogram bucket that contains the percentile;
/// the bucket is chosen as in OpenTSDB. `ascending` lists the percentiles. The result is −1 for
/// percentiles outside [1, 100], and 0 if the histogram has no counts.
std::vector<double> Percentiles(const codec::SimpleHistogram& histogram,
                                std::span<const double> ascending);

/// Downsamples a column: adds up the histograms that fall into the same bucket of the grid. Ignores
/// the fill policy. If run_all is set, the result is empty. The memory of the result stays charged
/// to `memory`.
Result<HistogramColumn> Downsampled(const HistogramColumn& histograms, const BucketGrid& grid,
                                    MemoryTally* memory);

/// Adds up the histograms of all columns that have the same time. Each column adds at most one
/// histogram to a sum. If a histogram has the time 0, this histogram and the rest of its column are
/// ignored. The memory of the result stays charged to `memory`.
Result<HistogramColumn> Merged(std::span<const HistogramColumn* const> columns,
                               MemoryTally* memory);

/// One output of a group of histograms: points, and a suffix for the metric name of the output.
struct HistogramOutput {
  std::string suffix;
  PointColumns points;
};

/// Returns one output for each percentile, in ascending order. If `shape` is not null, further
/// outputs follow: one for underflow, one for each bucket of `shape`, and one for overflow. The
/// memory of the outputs stays charged to `context`.
Result<std::vector<HistogramOutput>> HistogramOutputs(const HistogramColumn& histograms,
                                                      std::vector<double> percentiles,
                                                      const codec::SimpleHistogram* shape,
                                                      RequestContext& context);

}  // namespace hg::query
