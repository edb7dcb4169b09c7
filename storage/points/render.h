#pragma once
// A whole row as the cells the cells door shows: get, scan, dump (engine.md §8). The same before
// and after flush, merge, split and restart.

#include <cstdint>
#include <vector>

#include "storage/points/part.h"
#include "storage/store.h"

namespace hg::points {

/// Family of points, annotations and histograms in the data table (spec schema.md §2).
inline constexpr ByteView kFamily = "t";

struct RenderOptions {
  int64_t now_s = 0;              // rows with base ≤ now − 3601 are old
  bool enable_compaction = true;  // tsd.storage.enable_compaction
  int64_t now_ms = 0;             // what has expired then is not shown (stored_row.h)
};

/// True if OpenTSDB would join the cells of such a row (spec schema.md §9.1).
constexpr bool IsOldRow(uint32_t base, int64_t now_s) { return int64_t{base} <= now_s - 3601; }

/// True if the points of a row in this form are to be shown as one cell, where they can be.
constexpr bool WantsOne(RowForm form, uint32_t base, const RenderOptions& options) {
  return form == RowForm::kOne ||
         (form != RowForm::kSingle && options.enable_compaction && IsOldRow(base, options.now_s));
}

/// True if the points come as one compacted cell (a lone point: as itself).
bool RendersAsOne(const Part& row, uint32_t base, const RenderOptions& options);

/// Cells of the row, by qualifier. `row` is the merge of all its parts; marks say nothing here,
/// operands are values. Cell time of a point: its data time in ms, moved where the ages of several
/// of one instant must show; those of a row of single cells (form kSingle) that stand as one record
/// leaves them have the same time. Of a compacted cell: that of its last point.
std::vector<Cell> Render(const Part& row, uint32_t base, const RenderOptions& options);

/// The part that deletes column `qualifier` of the row as rendered: a single cell by its name; a
/// compacted cell that stands for points: those points; nothing if there is no such cell. A
/// read-modify-write: `row` must still be the row when the result is applied.
Part DeleteRendered(const Part& row, uint32_t base, ByteView qualifier,
                    const RenderOptions& options);

}  // namespace hg::points
