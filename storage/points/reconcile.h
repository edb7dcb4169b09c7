#pragma once
// Merges the columns of one row like OpenTSDB, with its rules for duplicates and its repairs
// (opentsdb-schema.md §9.3, §9.4, §7.4, §10). This file also computes the changes that replace the
// stored columns by the merged columns. Pure functions, without clock or store. The caller decides
// whether a row is old enough to be rewritten (compaction/row_compactor).
//
// InvalidArgument means that two values have the same time and the options do not resolve this.
// Corruption means that a cell cannot be decoded. The messages do not name the row; the caller adds
// its key.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/points/points.h"
#include "storage/points/row_part.h"
#include "storage/store.h"

namespace hg::points {

struct ReconciledRow {
  std::vector<codec::StoredPoint> points;  // ascending by time, one per time
  /// Whether PlanRowCompaction and PlanAppendRepair would return no changes for this row.
  bool as_stored = true;
};

/// Merges the cells of one row and family, which must be sorted by qualifier. Ignores annotations,
/// histograms and unknown columns.
Result<ReconciledRow> Reconcile(std::span<const Cell> cells, const ReconcileOptions& options);

/// Reconciles a row in the form of a RowPart. If points have equal times, the later one in
/// `row.points` is newer. Between a point and a raw cell, the one with the greater sequence number
/// is newer. If the sequence numbers are equal, the smaller qualifier is newer.
Result<ReconciledRow> Reconcile(const RowPart& row, const ReconcileOptions& options);

/// Returns the changes that replace the row by its merge in one compacted cell: first the put, then
/// the deletes of all other source cells. The result is empty if the row already consists of that
/// cell, or if it has an append cell.
Result<std::vector<CellChange>> PlanRowCompaction(std::span<const Cell> cells,
                                                  const ReconcileOptions& options);

/// Returns a put for each append cell with repeated or unordered points. The result is empty unless
/// options.repair_appends is set.
Result<std::vector<CellChange>> PlanAppendRepair(std::span<const Cell> cells,
                                                 const ReconcileOptions& options);

}  // namespace hg::points
