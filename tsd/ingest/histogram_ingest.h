#pragma once
// The write path of histograms. Names of histograms are resolved in the same way as names of
// points. Each histogram is stored as a cell of the data table (opentsdb-schema.md §12).

#include <string>

#include "storage/model/aggregate_sink.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/ingest/ingest.h"
#include "uid/series_tracker.h"

namespace hg::tsd {

/// Stores histograms. The object is thread-safe.
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
  Store& store_;  // the handle for later commits (Store::CommittedLater), if the store has one
  const bool commits_later_;
  const KeyLayout layout_;
  const std::string table_;
  uid::SeriesTracker& tracker_;
};

}  // namespace hg::tsd
