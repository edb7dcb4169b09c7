#pragma once
// Renders a row as cells for get, scan and dump. The cells are the same before and after flush,
// merge, split and restart.

#include <cstdint>
#include <vector>

#include "storage/points/row_part.h"
#include "storage/store.h"

namespace hg::points {

/// Column family of points, annotations and histograms in the data table (opentsdb-schema.md §2).
inline constexpr ByteView kFamily = "t";

struct RenderOptions {
  int64_t now_s = 0;              // the current time, by which IsOldRow decides
  bool enable_compaction = true;  // tsd.storage.enable_compaction
  int64_t now_ms = 0;  // cells that have expired at this time are not rendered (stored_row.h)
};

/// Returns true if the row is so old that OpenTSDB would compact it (opentsdb-schema.md §9.1).
constexpr bool IsOldRow(uint32_t base, int64_t now_s) { return int64_t{base} <= now_s - 3601; }

/// Returns true if the points of a row in this form should be rendered as one cell, if possible.
/// That is so if they were put as one cell, or if OpenTSDB would have compacted the row.
constexpr bool WantsOne(RowForm form, uint32_t base, const RenderOptions& options) {
  return form == RowForm::kOne || (options.enable_compaction && IsOldRow(base, options.now_s));
}

/// Returns true if the points are rendered as one compacted cell. A single point is rendered as a
/// single cell.
bool RendersAsOne(const RowPart& row, uint32_t base, const RenderOptions& options);

/// Returns the cells of the row by qualifier. `row` must be the merge of all its RowParts.
/// Tombstones are ignored, and operands are rendered as values. The cell time of a point is its own
/// time in ms. If several points have the same time, their cell times differ, so that a reader sees
/// which one is newer. In a row of form kSingle, points that were written in one record have the
/// same cell time. The time of a compacted cell is that of its last point.
std::vector<Cell> Render(const RowPart& row, uint32_t base, const RenderOptions& options);

/// Returns the RowPart that deletes the column `qualifier` of the rendered row. For a single cell
/// it deletes that qualifier. For a compacted cell rendered from points it deletes those points. If
/// there is no such cell it is empty. The caller must make sure that the stored row does not change
/// between reading `row` and applying the result.
RowPart DeleteRendered(const RowPart& row, uint32_t base, ByteView qualifier,
                       const RenderOptions& options);

}  // namespace hg::points
