#pragma once
// One row as a reader sees it: OpenTSDB's merge of the columns of a row, with its rules for
// duplicates and its repairs (spec schema.md §9.3, §9.4, §7.4, §10); and what that merge would
// write back. Pure: neither clock nor store; whether a row is old enough to be rewritten is the
// caller's question (compaction/row_fold).
//
// Errors: InvalidArgument for two values at one instant that the options do not settle, Corruption
// for a cell that cannot be read. Neither names the row: the caller knows its key.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/points/part.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::points {

struct ReconciledRow {
  std::vector<codec::StoredPoint> points;  // ascending by instant, one at each
  /// A rewrite by PlanFold or PlanAppendRepair would change nothing.
  bool as_stored = true;
};

/// `cells`: the cells of one row and family, by qualifier. Annotations, histograms and unknown
/// columns are passed over.
Result<ReconciledRow> Reconcile(std::span<const Cell> cells, const ReconcileOptions& options);

/// The same for a row held as a part. Of equal instants the later one in `row.points` is the newer;
/// between a point and a raw cell the generation decides, and if it is the same the smaller
/// qualifier is the newer.
Result<ReconciledRow> Reconcile(const Part& row, const ReconcileOptions& options);

/// The changes that leave the row as its merge, one compacted cell: the put first, then the deletes
/// of all other sources. Empty where the only source is the result already, and for rows with an
/// append cell.
Result<std::vector<CellChange>> PlanFold(std::span<const Cell> cells,
                                         const ReconcileOptions& options);

/// The same for a store that keeps points natively (engine.md §3): survivors that are no single
/// cell yet are put as such, then all other sources are deleted. Empty wherever PlanFold is, and
/// where only the split into cells differs.
Result<std::vector<CellChange>> PlanPointFold(std::span<const Cell> cells,
                                              const ReconcileOptions& options);

/// A put for each append cell with repeated or unordered points; empty unless
/// options.repair_appends.
Result<std::vector<CellChange>> PlanAppendRepair(std::span<const Cell> cells,
                                                 const ReconcileOptions& options);

}  // namespace hg::points
