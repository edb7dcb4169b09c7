#pragma once
// The write path of histograms. It resolves names in the same way as for points, and stores each
// histogram as a cell of the data table (opentsdb-schema.md §12).

#include <string>

#include "storage/model/aggregate_sink.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/ingest/ingest.h"
#include "uid/series_tracker.h"

namespace hg::tsd {

/// Thread-safe.
class HistogramIngest : public HistogramSink {
 public:
  /// The references must outlive the object. `table` is the name of the data table.
  HistogramIngest(Ingest& ingest, Store& store, const KeyLayout& layout, std::string table,
                  uid::SeriesTracker& tracker)
      : ingest_(ingest),
        store_(store.CommittedLater()),
        commits_later_(&store_ != &store),
        layout_(layout),
        table_(std::move(table)),
        tracker_(tracker) {}

  Status AskFor(std::span<const std::string_view> metrics, uint64_t values,
                WriteContext& context) override {
    return ingest_.AskForValues(metrics, values, context);
  }
  Status Put(const NamedHistogram& histogram, WriteContext& context) override;
  Result<PointSink::Position> Written() override {
    return commits_later_ ? ingest_.Written() : PointSink::Position{0};
  }

 private:
  Ingest& ingest_;
  Store& store_;  // the handle for later commits, if there is one
  const bool commits_later_;
  const KeyLayout layout_;
  const std::string table_;
  uid::SeriesTracker& tracker_;
};

}  // namespace hg::tsd
