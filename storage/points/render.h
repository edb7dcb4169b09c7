#pragma once
// Converts a row to cells for get, scan and dump. The cells are the same before and after a flush,
// merge, split or restart.

#include <cstdint>
#include <vector>

#include "storage/points/row_part.h"
#include "storage/store.h"

namespace hg::points {

/// Column family of points, annotations and histograms in the data table (opentsdb-schema.md §2).
inline constexpr ByteView kFamily = "t";

struct RenderOptions {
  int64_t now_s = 0;              // the current time in seconds, which IsOldRow needs
  bool enable_compaction = true;  // tsd.storage.enable_compaction
  int64_t now_ms = 0;  // cells that have expired at this time are left out (stored_row.h)
};

/// Returns whether the row is so old that OpenTSDB would compact it (opentsdb-schema.md §9.1).
constexpr bool IsOldRow(uint32_t base, int64_t now_s) { return int64_t{base} <= now_s - 3601; }

/// Returns whether a row should be returned as one compacted cell. This is the case if the points
/// of the row were put as one compacted cell, or if OpenTSDB would have compacted the row. `base`
/// is the base time of the row in seconds. RendersAsOne also checks whether one cell is possible.
constexpr bool WantsOne(RowForm form, uint32_t base, const RenderOptions& options) {
  return form == RowForm::kOne || (options.enable_compaction && IsOldRow(base, options.now_s));
}

/// Returns whether the points of the row are returned as one compacted cell. A single point is
/// returned as a single cell.
bool RendersAsOne(const RowPart& row, uint32_t base, const RenderOptions& options);

/// Returns the cells of the row, sorted by qualifier. `row` must be the merge of all its RowParts.
/// Tombstones are ignored, and operands become values. The cell time of a point is the time of the
/// point in ms. If several points have the same time, their cell times differ, so that a reader
/// sees which of them is newer. In a row of form kSingle, points that were written in one record
/// have the same cell time. The time of a compacted cell is the time of its last point.
std::vector<Cell> Render(const RowPart& row, uint32_t base, const RenderOptions& options);

/// Returns the RowPart that deletes the column `qualifier` of the rendered row. For the qualifier
/// of a canonical single point (row_part.h), the RowPart deletes this point, even if Render returns
/// the point in a compacted cell. For a raw cell, the RowPart deletes the qualifier of this cell.
/// For a compacted cell that Render made from points, the RowPart deletes these points. For any
/// other qualifier, the RowPart is empty. The caller must ensure that the stored row does not
/// change between reading `row` and applying the result.
RowPart DeleteRendered(const RowPart& row, uint32_t base, ByteView qualifier,
                       const RenderOptions& options);

}  // namespace hg::points
