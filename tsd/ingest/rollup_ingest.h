#pragma once
// The write path of rollups and pre-aggregates: names as points have them, then a cell of the table
// that the settings name (spec schema.md §13).

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
  std::string raw_value;      // tsd.rollups.raw_agg_tag_value with tsd.rollups.tag_raw, else ""
  bool block_derived = true;  // tsd.rollups.block_derived
  bool automatic = false;     // tsd.rollups.automatic: rollups of one series are made, not taken
};

/// Thread-safe.
class RollupIngest : public RollupSink {
 public:
  /// The references outlive the object.
  RollupIngest(Ingest& ingest, Store& store, const KeyLayout& layout, RollupIngestOptions options)
      : ingest_(ingest), store_(store), layout_(layout), options_(std::move(options)) {}

  [[nodiscard]] std::string_view aggregate_key() const override { return options_.aggregate_key; }
  [[nodiscard]] std::string_view raw_value() const override { return options_.raw_value; }
  Status AskFor(std::span<const std::string_view> metrics, uint64_t values) override {
    return ingest_.AskForValues(metrics, values);
  }
  Status Put(const NamedRollup& rollup) override;

 private:
  /// Where a value goes: table, row base and qualifier.
  struct Place {
    std::string table;
    uint32_t base = 0;
    Bytes qualifier;
  };
  [[nodiscard]] Result<uint8_t> IdOf(std::string_view aggregator) const;
  [[nodiscard]] Result<Place> Find(const NamedRollup& rollup) const;
  /// The tag under the aggregate key, if there is one, must tell of what the values are.
  [[nodiscard]] Status CheckAggregateTag(const NamedRollup& rollup) const;

  Ingest& ingest_;
  Store& store_;
  const KeyLayout layout_;
  const RollupIngestOptions options_;
};

/// Where no rollups are configured: stores nothing, and says what OpenTSDB says then, which has
/// checks of a pre-aggregate before it meets what is missing. Thread-safe.
class NoRollups : public RollupSink {
 public:
  /// The reference outlives the object.
  explicit NoRollups(const Ingest& ingest) : ingest_(ingest) {}

  /// OpenTSDB's is null; like that one it comes first in the order of the tags.
  [[nodiscard]] std::string_view aggregate_key() const override { return ""; }
  [[nodiscard]] std::string_view raw_value() const override { return ""; }
  Status Put(const NamedRollup& rollup) override;

 private:
  const Ingest& ingest_;
};

}  // namespace hg::tsd
