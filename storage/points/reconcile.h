#pragma once
// Merges the columns of one row as OpenTSDB does, with OpenTSDB's rules for duplicates and its
// repairs (opentsdb-schema.md §9.3, §9.4, §7.4, §10). This file also computes the changes that
// replace the stored columns by the merged columns. All functions are pure and use neither clock
// nor store. The caller decides whether a row is old enough to be rewritten
// (compaction/row_compactor).
//
// The functions return InvalidArgument if two values have the same time and the options do not
// resolve the conflict. They return Corruption if a cell cannot be decoded. The messages do not
// name the row; the caller adds the row key.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/points/points.h"
#include "storage/points/row_part.h"
#include "storage/store.h"

namespace hg::points {

struct ReconciledRow {
  std::vector<codec::StoredPoint> points;  // ascending by time; one point per time
  /// Whether PlanRowCompaction and PlanAppendRepair would return no changes for this row.
  bool as_stored = true;
};

/// Merges the cells of one row and one family. The cells must be sorted by qualifier. Annotations,
/// histograms and unknown columns are ignored.
Result<ReconciledRow> Reconcile(std::span<const Cell> cells, const ReconcileOptions& options);

/// Returns an upper limit for the number of points that Reconcile reads from the raw cells of the
/// row. The function decodes no values and allocates no memory.
size_t CountRawPoints(const RowPart& row);
/// Approximate memory in bytes that Settle and Reconcile need for each of these points.
inline constexpr size_t kReconcileBytes = 120;

/// Merges the points and raw cells of a RowPart. If points have equal times, the later point in
/// `row.points` is newer. If a point and a raw cell have equal times, the one with the greater
/// sequence number is newer. If the sequence numbers are equal, the one with the smaller qualifier
/// is newer.
Result<ReconciledRow> Reconcile(const RowPart& row, const ReconcileOptions& options);

/// Returns the changes that replace the row by one compacted cell with the merged points: first the
/// put, followed by the deletes of all other source cells. The result is empty if the row already
/// consists of only this compacted cell, or if the row has an append cell.
Result<std::vector<CellChange>> PlanRowCompaction(std::span<const Cell> cells,
                                                  const ReconcileOptions& options);

/// Returns a put for each append cell with repeated or unordered points. The result is empty if
/// options.repair_appends is false.
Result<std::vector<CellChange>> PlanAppendRepair(std::span<const Cell> cells,
                                                 const ReconcileOptions& options);

}  // namespace hg::points
