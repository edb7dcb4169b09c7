#pragma once
// Runs the contract tests on the embedded store. Disturb performs one action, which it selects at
// random: flush, merge files, split or merge regions, or close and reopen the store.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <random>

#include "storage/engine/embedded.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/storage/points_contract.h"
#include "tests/storage/store_contract.h"
#include "tests/support/manual_clock.h"

namespace hg {

class EmbeddedSubject : public StoreSubject, public PointsSubject {
 public:
  EmbeddedSubject(const KeyLayout& layout, std::vector<TableDescriptor> tables, int64_t now_ms)
      : clock_(now_ms) {
    options_.path = folder_.path() + "/data";
    options_.layout = layout;
    options_.tables = std::move(tables);
    options_.background = false;
    options_.log_file_bytes = 1 << 16;
    Reopen();
  }

  Store& store() override { return store_->cells(); }
  Store& cells() override { return store_->cells(); }
  Points& points() override { return store_->points(); }
  ManualClock& clock() override { return clock_; }
  Embedded& embedded() { return *store_; }

  void Disturb() override {
    switch (random_() % 7) {
      case 0:
        REQUIRE(store_->cells().Flush().ok());
        break;
      case 1:
        REQUIRE(store_->cells().Compact().ok());
        break;
      case 2:
        REQUIRE(store_->cells().Flush().ok());
        REQUIRE(store_->cells().Compact().ok());
        break;
      case 3:
      case 4:
        SplitSomewhere();
        break;
      case 5:
        JoinSomewhere();
        break;
      default:
        Reopen();
    }
  }

  /// Reopens the store with `enable` as the value of tsd.storage.enable_compaction. The value is
  /// true when the test begins.
  void EnableCompaction(bool enable) {
    options_.enable_compaction = enable;
    Reopen();
  }

  void Reopen() {
    store_.reset();
    auto opened = Embedded::Open(options_, PosixFileSystem(), clock_);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    store_ = std::move(*opened);
  }

 private:
  std::string AnyTable() {
    const auto tables = store_->cells().ListTables();
    REQUIRE(tables.ok());
    return (*tables)[random_() % tables->size()].name;
  }

  // Splits a region before a row, at a prefix of a row key, or where the store chooses. The store
  // may refuse the split, because regions still share files after an earlier split, or because the
  // boundary already exists.
  void SplitSomewhere() {
    ScanSpec spec;
    spec.table = AnyTable();
    spec.keys_only = true;
    auto cursor = store_->cells().Scan(spec);
    REQUIRE(cursor.ok());
    std::vector<Row> rows;
    REQUIRE((*cursor)->Next(&rows).ok());
    if (rows.empty()) return;
    Bytes key = rows[random_() % rows.size()].key;
    std::optional<Bytes> at;
    if (random_() % 3 != 0) {
      if (random_() % 2 == 0) key.resize(1 + random_() % key.size());
      at = key;
    }
    const Status split = store_->cells().Split(spec.table, key, at).status();
    INFO(split.ToString());
    CHECK((split.ok() || split.code() == StatusCode::kConflict ||
           split.code() == StatusCode::kInvalidArgument));
  }

  void JoinSomewhere() {
    const std::string table = AnyTable();
    const auto regions = store_->cells().Regions(table);
    REQUIRE(regions.ok());
    if (regions->size() < 2) return;
    const Bytes& start = (*regions)[1 + random_() % (regions->size() - 1)].start;
    const Status joined = store_->cells().MergeRegions(table, start);
    INFO(joined.ToString());
    // The store refuses to merge two regions that belong to different salt buckets.
    CHECK((joined.ok() || joined.code() == StatusCode::kInvalidArgument));
  }

  TempFolder folder_;
  ManualClock clock_;
  EmbeddedOptions options_;
  std::mt19937 random_{7};
  std::unique_ptr<Embedded> store_;
};

}  // namespace hg
