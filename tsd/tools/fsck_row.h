#pragma once
// What is wrong with the cells of one row of the data table, and what repairs it (spec schema.md
// §18.4, cli.md §7; OpenTSDB class Fsck). Pure: neither clock nor store.
//
// Every repair keeps what it does not name: changes put first and delete then, a column that is put
// is not deleted, and integers that need all of their 8 bytes stay (OpenTSDB's loses them where it
// rewrites a row).

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/codec/rollup_tables.h"
#include "storage/store.h"
#include "tsd/tools/fsck_report.h"

namespace hg::tsd {

struct FsckOptions {
  bool fix = false;  // without it nothing is changed, whatever else is asked for
  bool compact = false;
  bool resolve_duplicates = false;
  bool last_write_wins = false;  // of duplicates keep the newest cell, not the oldest
  bool delete_orphans = false;
  bool delete_unknown_columns = false;
  bool delete_bad_values = false;
  bool delete_bad_rows = false;
  bool delete_bad_compacts = false;
  bool repair_appends = false;       // tsd.storage.repair_appends, of rows old enough
  bool use_otsdb_timestamp = false;  // tsd.storage.use_otsdb_timestamp
  /// Where rollups are enabled: three-byte columns of their aggregators are no future objects.
  const codec::RollupTables* rollups = nullptr;
};

struct FsckRow {
  FsckCounts counts;                  // `rows` is left to the caller
  std::vector<std::string> findings;  // a line each, without the row's key
  std::vector<CellChange> changes;    // empty: nothing to repair
  bool has_points = false;
};

/// `cells`: those of family "t" of one row, by qualifier; its key is good. Counts of repairs hold
/// once the changes are stored.
FsckRow CheckCells(std::span<const Cell> cells, const FsckOptions& options);

}  // namespace hg::tsd
