#pragma once
// The write path of rollups and pre-aggregates from clients. Names are resolved in the same way as
// names of points. Each value is stored as a cell of the configured table (opentsdb-schema.md §13).

#include <string>

#include "storage/codec/rollup_tables.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/ingest/ingest.h"

namespace hg::tsd {

struct RollupIngestOptions {
  codec::RollupTables tables;
  std::string aggregate_key = "_aggregate";  // value of tsd.rollups.agg_tag_key
  /// tsd.rollups.raw_agg_tag_value if tsd.rollups.tag_raw is set; otherwise "".
  std::string raw_value;
  bool block_derived = true;  // value of tsd.rollups.block_derived
  // tsd.rollups.automatic: if true, the daemon itself computes the rollups of single series, and
  // rejects rollups of single series from clients.
  bool automatic = false;
};

/// Stores rollups and pre-aggregates. The object is thread-safe.
class RollupIngest : public RollupSink {
 public:
  /// The references must outlive the object.
  RollupIngest(Ingest& ingest, Store& store, const KeyLayout& layout, RollupIngestOptions options)
      : ingest_(ingest),
        store_(store.CommittedLater()),
        commits_later_(&store_ != &store),
        layout_(layout),
        options_(std::move(options)) {}

  [[nodiscard]] std::string_view aggregate_key() const override { return options_.aggregate_key; }
  [[nodiscard]] std::string_view raw_value() const override { return options_.raw_value; }
  Status AskFor(std::span<const std::string_view> metrics, uint64_t values,
                WriteContext& context) override {
    return ingest_.AskForValues(metrics, values, context);
  }
  Status Put(const NamedRollup& rollup, WriteContext& context) override;
  Result<PointSink::Position> Written() override {
    return commits_later_ ? ingest_.Written() : PointSink::Position{0};
  }

 private:
  /// The place at which the cell of a value is stored: table, row base and qualifier.
  struct Place {
    std::string table;
    uint32_t base = 0;
    Bytes qualifier;
  };
  [[nodiscard]] Result<uint8_t> IdOf(std::string_view aggregator) const;
  [[nodiscard]] Result<Place> Find(const NamedRollup& rollup) const;
  /// If the point has a tag whose key is the aggregate key, checks that the value of this tag is
  /// the value that AggregateTagValue returns.
  [[nodiscard]] Status CheckAggregateTag(const NamedRollup& rollup) const;

  Ingest& ingest_;
  Store& store_;  // the handle for later commits (Store::CommittedLater), if the store has one
  const bool commits_later_;
  const KeyLayout layout_;
  const RollupIngestOptions options_;
};

/// The sink for rollups if no rollups are configured. It stores nothing and returns OpenTSDB's
/// errors. OpenTSDB checks pre-aggregates before it finds that no rollups are configured. The
/// object is thread-safe.
class NoRollups : public RollupSink {
 public:
  /// `ingest` must outlive the object.
  explicit NoRollups(const Ingest& ingest) : ingest_(ingest) {}

  /// Returns "". OpenTSDB has null as its key in this case. "" and null have the same effect,
  /// because both sort before all tags.
  [[nodiscard]] std::string_view aggregate_key() const override { return ""; }
  [[nodiscard]] std::string_view raw_value() const override { return ""; }
  Status Put(const NamedRollup& rollup, WriteContext& context) override;

 private:
  const Ingest& ingest_;
};

}  // namespace hg::tsd
