#pragma once
// Checks the cells of one row of the data table and computes repairs (opentsdb-schema.md §18.4,
// opentsdb-tools.md §7; OpenTSDB class Fsck). Pure functions, without clock or store.
//
// A repair loses no other data. Puts come before deletes, and a column that is put is not deleted.
// Integers that need 8 bytes keep their 8 bytes; OpenTSDB loses these integers when it rewrites a
// row.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/codec/rollup_tables.h"
#include "storage/store.h"
#include "tsd/tools/fsck_report.h"

namespace hg::tsd {

struct FsckOptions {
  bool fix = false;  // if false, the other options are ignored and nothing is repaired
  bool compact = false;
  bool resolve_duplicates = false;
  bool last_write_wins = false;  // keep the newest of duplicate cells instead of the oldest
  bool delete_orphans = false;
  bool delete_unknown_columns = false;
  bool delete_bad_values = false;
  bool delete_bad_rows = false;
  bool delete_bad_compacts = false;
  bool repair_appends = false;       // tsd.storage.repair_appends; the caller sets it for old rows
  bool use_otsdb_timestamp = false;  // tsd.storage.use_otsdb_timestamp
  /// If set, three-byte columns of these aggregators count as rollups, not as future objects.
  const codec::RollupTables* rollups = nullptr;
};

struct FsckRow {
  FsckCounts counts;                  // the counters, except `rows`, which the caller counts
  std::vector<std::string> findings;  // one line for each, without the row key
  // The changes that repair the row; empty if there is nothing to repair.
  std::vector<CellChange> changes;
  bool has_points = false;
};

/// Checks a row with a valid key. `cells` are its cells in family "t", sorted by qualifier. The
/// counts include the repairs, so use them after you have stored the changes.
FsckRow CheckCells(std::span<const Cell> cells, const FsckOptions& options);

}  // namespace hg::tsd
