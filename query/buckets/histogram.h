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

/// Returns the memory in bytes of one histogram in a HistogramColumn, or of all histograms of a
/// HistogramColumn.
int64_t HistogramBytes(const codec::SimpleHistogram& histogram);
int64_t HistogramBytes(const HistogramColumn& histograms);

/// Computes the sum of histograms. If the added histograms have n buckets in total, the sum takes
/// about n log n steps. Different bucket bounds do not make the sum slower.
class HistogramSum {
 public:
  /// The memory of the sum is charged to `memory`, which must outlive the object. This memory stays
  /// charged after the object is destroyed. Add and Take return the errors of `memory`.
  explicit HistogramSum(MemoryTally* memory) : memory_(*memory) {}

  Status Add(const codec::SimpleHistogram& histogram);
  /// Returns the sum of all added histograms. Its buckets are sorted. Call this function once,
  /// after at least one Add.
  Result<codec::SimpleHistogram> Take();

 private:
  Status JoinLastTwo();

  MemoryTally& memory_;
  // Partial sums: each element is the sum of some of the added histograms. Most partial sums have
  // at most half as many buckets as the one before, so merging all of them takes few steps.
  std::vector<codec::SimpleHistogram> parts_;
};

/// Returns one value for each percentile in `ascending`, which must be sorted. The value is the
/// middle of the histogram bucket that contains the percentile; the bucket is chosen as in
/// OpenTSDB. The value is −1 for a percentile outside [1, 100], and 0 if the histogram has no
/// counts.
std::vector<double> Percentiles(const codec::SimpleHistogram& histogram,
                                std::span<const double> ascending);

/// Downsamples a column: adds up the histograms that fall into the same bucket of the grid. Ignores
/// the fill policy. If run_all is set, the result is empty. The memory of the result stays charged
/// to `memory`.
Result<HistogramColumn> Downsampled(const HistogramColumn& histograms, const BucketGrid& grid,
                                    MemoryTally* memory);

/// Merges the columns of a group: adds up the histograms that have the same time. Each column adds
/// at most one histogram to a sum. If a histogram has the time 0, this histogram and the rest of
/// its column are ignored. The memory of the result stays charged to `memory`.
Result<HistogramColumn> Merged(std::span<const HistogramColumn* const> columns,
                               MemoryTally* memory);

/// One output series of a group of histograms: its points, and the suffix that is appended to the
/// metric name.
struct HistogramOutput {
  std::string suffix;
  PointColumns points;
};

/// Returns the output series of a group of histograms. There is one output for each percentile, in
/// ascending order. If `shape` is not null, further outputs follow: one for underflow, one for each
/// bucket of `shape`, and one for overflow. The memory of the outputs stays charged to `context`.
Result<std::vector<HistogramOutput>> HistogramOutputs(const HistogramColumn& histograms,
                                                      std::vector<double> percentiles,
                                                      const codec::SimpleHistogram* shape,
                                                      RequestContext& context);

}  // namespace hg::query
