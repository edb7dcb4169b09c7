#pragma once
// Histograms on the read path (spec query.md §13): added up, never interpolated. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "query/answer.h"
#include "query/downsample.h"
#include "storage/codec/histogram.h"

namespace hg::query {

struct TimedHistogram {
  int64_t time_ms = 0;
  codec::SimpleHistogram histogram;
};

/// Of one series, in the order of its cells (a time in milliseconds may stand before earlier ones
/// in seconds), or of a group.
using HistogramColumn = std::vector<TimedHistogram>;

/// Memory of a histogram as it stands in a column, and of a column's histograms.
int64_t HistogramBytes(const codec::SimpleHistogram& histogram);
int64_t HistogramBytes(const HistogramColumn& histograms);

/// Adds counts bucket by bucket; buckets stay sorted.
void AddHistogram(const codec::SimpleHistogram& from, codec::SimpleHistogram* to);

/// The middle of the bucket that holds the percentile, as OpenTSDB finds it: −1 for p outside
/// [1, 100], 0 without counts.
double Percentile(const codec::SimpleHistogram& histogram, double p);

/// The histograms of each bucket added up; whatever fills is not heeded. Run-all gives none.
HistogramColumn Downsampled(const HistogramColumn& histograms, const BucketGrid& grid);

/// Histograms of equal instants added up, each column giving at most one to a sum. A column ends at
/// the instant 0.
HistogramColumn Merged(std::span<const HistogramColumn* const> columns);

/// One output of a group: its metric's suffix and its points.
struct HistogramOutput {
  std::string suffix;
  PointColumns points;
};

/// Percentiles ascending, then the buckets of `shape`, unless that is null.
std::vector<HistogramOutput> HistogramOutputs(const HistogramColumn& histograms,
                                              std::vector<double> percentiles,
                                              const codec::SimpleHistogram* shape);

}  // namespace hg::query
