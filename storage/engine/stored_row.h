#pragma once
// A row of any table as the engine holds it: a regular row of a points table is a part (engine.md
// §1), every other row is cells.

#include <string>
#include <vector>

#include "storage/lsm/cell_row.h"
#include "storage/model/key_layout.h"
#include "storage/points/part.h"
#include "storage/points/render.h"
#include "storage/store.h"

namespace hg::points {

/// Immutable; altering a table makes another one.
struct Table {
  uint32_t id = 0;
  TableDescriptor descriptor;
  std::vector<FamilyDescriptor> families;  // by their number in rows; without name = dropped
  int points_family = -1;  // number of the family that holds points natively; -1 = none
  lsm::CellOrder order = lsm::CellOrder::kByArrival;

  /// Number of a family, or -1.
  [[nodiscard]] int FamilyIndex(ByteView family) const;
  /// Several versions of a column need several times.
  [[nodiscard]] bool needs_strict_times() const;
};

/// The hidden table of series: key = number, big-endian; one cell without family and qualifier, the
/// TSUID.
inline constexpr uint32_t kSeriesTable = 0;
inline constexpr uint32_t kFirstTable = 1;

/// A key that names a series' hour: it fits the layout, has a metric that is not zero, at least one
/// pair, and the salt of its series. Anything else is an irregular row: cells only.
bool IsRegularKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base);

/// Part of a row, from one source or merged.
struct StoredRow {
  bool regular = false;
  uint32_t base = 0;   // regular
  Part part;           // regular: the points family
  lsm::CellRow cells;  // other families; irregular and generic rows: all
};

/// Puts a cell that touches points: its generation is kept as its mark's time (FORMAT.md).
void PutRaw(uint8_t points_family, const RawCell& cell, lsm::CellRow* cells);
/// Moves the cells of the points family over into the part, as raw cells and marks.
void CellsIntoPart(uint8_t points_family, lsm::CellRow* cells, Part* part);
/// The reverse, for files: everything of the part but its points.
void PartIntoCells(uint8_t points_family, const Part& part, lsm::CellRow* cells);

StoredRow MergeStored(const Table& table, StoredRow newer, StoredRow older);

/// Before this moment the family's TTL is over.
int64_t OldestSeenMs(const FamilyDescriptor& family, int64_t now_ms);

/// Takes out of a whole row what its families' TTL is over for (engine.md §11): points from their
/// instant, other cells of a regular row from the end of its hour, cells of other rows from their
/// time. Rows by time are left to RenderStored.
void Expire(const Table& table, int64_t now_ms, StoredRow* row);

/// What the cells door shows of a whole row, at options.now_ms.
std::vector<Cell> RenderStored(const Table& table, const StoredRow& row,
                               const RenderOptions& options, const lsm::VersionRange& range = {});

}  // namespace hg::points
