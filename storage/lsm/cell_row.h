#pragma once
// The part of a row of cells in one memtable or file: values and tombstones. Each memtable and each
// file holds at most one part of a row. The row is the merge of its parts, newest over oldest.

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/lsm/cell_versions.h"

namespace hg::lsm {

/// Which of two writes to a column is newer.
enum class CellOrder : uint8_t {
  kByTime,     // the later cell time, then the later arrival: CellRow::versions
  kByArrival,  // the later arrival: points tables, CellRow::cells
};

inline constexpr int64_t kNoMark = std::numeric_limits<int64_t>::min();

/// A column in a part of a table ordered by arrival: a value, a tombstone, or both. The tombstone
/// applies only to older parts.
struct StoredCell {
  uint8_t family = 0;  // index in the table descriptor
  bool has_value = false;
  bool operand = false;  // the value must be appended to the value that older parts hold
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  int64_t mark_ms = kNoMark;

  bool operator==(const StoredCell&) const = default;
};

/// Plain value. Tables ordered by arrival use `cells` and `family_marks`. Tables ordered by time
/// use `versions`.
struct CellRow {
  std::vector<StoredCell> cells;      // by family, then qualifier; unique
  std::vector<int64_t> family_marks;  // tombstones by family index; missing = kNoMark
  CellVersions versions;

  [[nodiscard]] bool empty() const {
    return cells.empty() && family_marks.empty() && versions.empty();
  }
  [[nodiscard]] const StoredCell* Find(uint8_t family, ByteView qualifier) const;
  [[nodiscard]] int64_t FamilyMark(uint8_t family) const {
    return family < family_marks.size() ? family_marks[family] : kNoMark;
  }

  // The following functions are for tables ordered by arrival.
  void Put(uint8_t family, ByteView qualifier, ByteView value, int64_t timestamp_ms);
  /// Appends to the value of the column. If there is none here, the bytes will be appended to the
  /// value of older parts. `mark_ms` is set.
  void Append(uint8_t family, ByteView qualifier, ByteView more, int64_t timestamp_ms,
              int64_t mark_ms);
  void DeleteColumn(uint8_t family, ByteView qualifier, int64_t mark_ms);
  void DeleteFamily(uint8_t family, int64_t mark_ms);
  /// Removes all columns that are not selected.
  void Keep(const ColumnChoice& wanted);
  /// Removes a column without adding a tombstone.
  void Erase(uint8_t family, ByteView qualifier);
  /// Drops the tombstones. The result is the row if nothing older exists.
  void DropMarks();
  /// Whether something was deleted without a new value. A merge with the oldest part can drop it.
  [[nodiscard]] bool HasMarks() const;

  /// Approximate size in memory.
  [[nodiscard]] size_t MemoryBytes() const;

  bool operator==(const CellRow&) const = default;

 private:
  std::vector<StoredCell>::iterator Place(uint8_t family, ByteView qualifier);
};

/// Returns the merge of `older` and `newer`. Associative.
CellRow MergeRows(CellOrder order, CellRow newer, CellRow older);

/// The encoding is described in FORMAT.md "Row". DecodeCellRow returns false if the bytes are no
/// row. Columns that are not selected are checked and skipped.
void EncodeCellRow(const CellRow& row, Bytes* out);
bool DecodeCellRow(ByteView in, CellRow* row, const ColumnChoice& wanted = {});
/// Returns the number of cells and tombstones in an encoded row. Returns 0 if there are none or if
/// the bytes are not a row.
uint64_t CellsIn(ByteView in);

/// Counts the work and charges the memory of copying a row with this many cells, tombstones and
/// bytes. Call it before the copy. `memory` null means no limit.
Status ChargeRow(uint64_t cells, uint64_t bytes, MemoryTally* memory);

/// Returns the value of an encoded row that consists of exactly one put, as a view into `in`. Such
/// rows need no decoding. Returns none if the row may be different or is no row.
std::optional<ByteView> OnlyValueOf(ByteView in);

}  // namespace hg::lsm
