#pragma once
// Checks the cells of one row of the data table and computes repairs (opentsdb-schema.md §18.4,
// opentsdb-tools.md §7; OpenTSDB class Fsck). All functions are pure; they use neither a clock nor
// a store.
//
// A repair loses no data except the data that the options select for deletion. In the list of
// changes, puts come before deletes, and a column that is put is not deleted. Integers that need
// 8 bytes stay in 8 bytes; OpenTSDB loses these integers when it rewrites a row.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/codec/rollup_tables.h"
#include "storage/store.h"
#include "tsd/tools/fsck_report.h"

namespace hg::tsd {

struct FsckOptions {
  bool fix = false;  // if false, fsck repairs nothing and ignores all other options
  bool compact = false;
  bool resolve_duplicates = false;
  bool last_write_wins = false;  // whether to keep the newest duplicate cell, not the oldest
  bool delete_orphans = false;
  bool delete_unknown_columns = false;
  bool delete_bad_values = false;
  bool delete_bad_rows = false;
  bool delete_bad_compacts = false;
  bool repair_appends = false;       // tsd.storage.repair_appends; callers set it only for old rows
  bool use_otsdb_timestamp = false;  // value of tsd.storage.use_otsdb_timestamp
  /// If set, columns of three bytes that belong to these aggregators count as rollups. If null,
  /// they count as future objects.
  const codec::RollupTables* rollups = nullptr;
};

struct FsckRow {
  FsckCounts counts;  // the counters of this row, except `rows`, which the caller counts
  std::vector<std::string> findings;  // one line of text for each finding, without the row key
  // The changes that repair the row. The list is empty if there is nothing to repair.
  std::vector<CellChange> changes;
  bool has_points = false;
};

/// Checks a row that has a valid key. `cells` are the cells of the row in family "t", sorted by
/// qualifier. The counters already include the repairs, so use the counters only after you have
/// stored the changes.
FsckRow CheckCells(std::span<const Cell> cells, const FsckOptions& options);

}  // namespace hg::tsd
