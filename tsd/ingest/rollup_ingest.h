#pragma once
// The write path of rollups and pre-aggregates. It resolves names in the same way as for points,
// and stores each value as a cell of the configured table (opentsdb-schema.md §13).

#include <string>

#include "storage/codec/rollup_tables.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/ingest/ingest.h"

namespace hg::tsd {

struct RollupIngestOptions {
  codec::RollupTables tables;
  std::string aggregate_key = "_aggregate";  // tsd.rollups.agg_tag_key
  std::string raw_value;  // tsd.rollups.raw_agg_tag_value if tsd.rollups.tag_raw is set, else ""
  bool block_derived = true;  // tsd.rollups.block_derived
  // tsd.rollups.automatic: if true, the daemon computes the rollups of single series and rejects
  // such rollups from clients.
  bool automatic = false;
};

/// Thread-safe.
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
  /// Where the cell of a value is stored: table, row base and qualifier.
  struct Place {
    std::string table;
    uint32_t base = 0;
    Bytes qualifier;
  };
  [[nodiscard]] Result<uint8_t> IdOf(std::string_view aggregator) const;
  [[nodiscard]] Result<Place> Find(const NamedRollup& rollup) const;
  /// If the point has a tag whose key is the aggregate key, checks that its value is the one that
  /// AggregateTagValue returns.
  [[nodiscard]] Status CheckAggregateTag(const NamedRollup& rollup) const;

  Ingest& ingest_;
  Store& store_;  // the handle for later commits, if there is one
  const bool commits_later_;
  const KeyLayout layout_;
  const RollupIngestOptions options_;
};

/// The sink if no rollups are configured. It stores nothing and returns OpenTSDB's errors. OpenTSDB
/// checks pre-aggregates before it notices that no rollups are configured. Thread-safe.
class NoRollups : public RollupSink {
 public:
  /// The reference must outlive the object.
  explicit NoRollups(const Ingest& ingest) : ingest_(ingest) {}

  /// Returns "". In OpenTSDB the key is null here. Both "" and null sort before all tags.
  [[nodiscard]] std::string_view aggregate_key() const override { return ""; }
  [[nodiscard]] std::string_view raw_value() const override { return ""; }
  Status Put(const NamedRollup& rollup, WriteContext& context) override;

 private:
  const Ingest& ingest_;
};

}  // namespace hg::tsd
