#pragma once
// The representation of a row of any table in the engine. A regular row of a points table is a
// RowPart (storage/points/row_part.h). All other rows consist of cells.

#include <string>
#include <vector>

#include "storage/lsm/cell_row.h"
#include "storage/model/key_layout.h"
#include "storage/points/render.h"
#include "storage/points/row_part.h"
#include "storage/store.h"

namespace hg::engine {

/// An immutable description of a table. When a table is altered, a new object is created.
struct Table {
  uint32_t id = 0;
  TableDescriptor descriptor;
  // The families of the table; the index is the family number. A family without a name was dropped.
  std::vector<FamilyDescriptor> families;
  int points_family = -1;  // number of the family that holds points; -1 = none
  lsm::CellOrder order = lsm::CellOrder::kByArrival;

  /// Returns the number of the family, or -1 if the table does not have the family.
  [[nodiscard]] int FamilyIndex(ByteView family) const;
  /// Returns whether each change of a row must get a greater server time than the previous change
  /// of this row. This is necessary if a column of the table may have several versions.
  [[nodiscard]] bool needs_strict_times() const;
};

/// The id of the hidden table of series. Its row keys are series numbers, big-endian. Each of its
/// rows has one cell without family and qualifier, whose value is the TSUID.
inline constexpr uint32_t kSeriesTable = 0;
inline constexpr uint32_t kFirstTable = 1;

/// Returns InvalidArgument if a value of this size is larger than HBase's largest value, 10 MiB
/// (region-store.md D10).
Status CheckValueSize(size_t size);

/// Returns whether the key identifies an hour of a series, and sets *tsuid and *base in this case.
/// Such a key fits the layout, its metric is not zero, it has at least one tag pair, and it has the
/// salt of its series. A row with any other key is irregular and has only cells.
bool IsRegularKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base);

/// The content of a row. It comes from one source, or was merged from several sources.
struct StoredRow {
  bool regular = false;
  uint32_t base = 0;         // base time of the row; set only if the row is regular
  points::RowPart row_part;  // points family; set only if the row is regular
  lsm::CellRow cells;        // other families; all families if the row is irregular
};

/// Stores a raw cell of the points family in `cells`. The sequence number of the cell is stored in
/// the field for the time of a tombstone (storage/lsm/FORMAT.md "Row").
void PutRaw(uint8_t points_family, const points::RawCell& cell, lsm::CellRow* cells);
/// Moves the cells of the points family from `cells` to `row_part`, as raw cells and tombstones.
void CellsIntoRowPart(uint8_t points_family, lsm::CellRow* cells, points::RowPart* row_part);
/// Reverses CellsIntoRowPart, for writing files: converts the content of `row_part`, except its
/// points, to cells.
void RowPartIntoCells(uint8_t points_family, const points::RowPart& row_part, lsm::CellRow* cells);

StoredRow MergeStored(const Table& table, StoredRow newer, StoredRow older);

/// Returns the earliest time of cells that are not expired. If the family has no TTL, returns the
/// lowest possible time.
int64_t OldestSeenMs(const FamilyDescriptor& family, int64_t now_ms);

/// Removes expired content from a complete row. A point expires by its own time. Any other cell of
/// a regular row expires by the end of the row's hour. A cell of an irregular row expires by its
/// timestamp. In tables ordered by time, RenderStored hides expired cells instead.
void Expire(const Table& table, int64_t now_ms, StoredRow* row);

/// Returns the cells of a complete row that the cell store returns at the time options.now_ms.
std::vector<Cell> RenderStored(const Table& table, const StoredRow& row,
                               const points::RenderOptions& options,
                               const lsm::VersionRange& range = {});

/// Returns the version of a column. `seen` must be the result of VisibleVersions for one version of
/// each column. Returns null if `seen` has no version of the column.
const lsm::CellVersion* FindVersion(const std::vector<const lsm::CellVersion*>& seen, int family,
                                    ByteView qualifier);

/// Returns the newest version of a column. `cells` must be in the order of RenderStored. Returns
/// null if `cells` has no version of the column.
const Cell* FindColumn(const std::vector<Cell>& cells, ByteView family, ByteView qualifier);

}  // namespace hg::engine
