#pragma once
// The values and tombstones that one memtable or file has for a row of cells. The complete row is
// the merge of these contents in all memtables and files. Newer contents replace older ones.

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/lsm/cell_versions.h"

namespace hg::lsm {

/// Decides which of two writes to a column is newer.
enum class CellOrder : uint8_t {
  // The write with the later cell time is newer. If both times are equal, the write that arrived
  // later is newer. Tables with this order use CellRow::versions.
  kByTime,
  // The write that arrived later is newer. Points tables have this order. Tables with this order
  // use CellRow::cells.
  kByArrival,
};

inline constexpr int64_t kNoTombstone = std::numeric_limits<int64_t>::min();

/// The content of one column of a row in one memtable or file, in a table with the order
/// kByArrival. The content is a value, a tombstone, or both. The tombstone hides only values in
/// older memtables and files.
struct StoredCell {
  uint8_t family = 0;  // number of the family: its index in TableEntry::families
  bool has_value = false;
  bool operand = false;  // whether to append the value to the value in older memtables or files
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  int64_t tombstone_ms = kNoTombstone;

  bool operator==(const StoredCell&) const = default;
};

/// A row in one memtable or file. CellRow is a plain value. Tables with the order kByArrival use
/// `cells` and `family_tombstones`. Tables with the order kByTime use `versions`.
struct CellRow {
  std::vector<StoredCell> cells;  // sorted by family and then by qualifier; without duplicates
  std::vector<int64_t> family_tombstones;  // index: family; value: tombstone time, or kNoTombstone
  CellVersions versions;

  [[nodiscard]] bool empty() const {
    return cells.empty() && family_tombstones.empty() && versions.empty();
  }
  /// Returns the number of cells, including versions of cells and tombstones of columns.
  [[nodiscard]] size_t count() const { return cells.size() + versions.size(); }
  [[nodiscard]] const StoredCell* Find(uint8_t family, ByteView qualifier) const;
  [[nodiscard]] int64_t FamilyTombstone(uint8_t family) const {
    return family < family_tombstones.size() ? family_tombstones[family] : kNoTombstone;
  }

  // The following functions are for tables with the order kByArrival.
  void Put(uint8_t family, ByteView qualifier, ByteView value, int64_t timestamp_ms);
  /// Appends bytes to the value of the column. If this row has neither a value nor a tombstone of
  /// the column, a merge will append the bytes to the value in an older row. Sets
  /// StoredCell::tombstone_ms of the column to `tombstone_ms`.
  void Append(uint8_t family, ByteView qualifier, ByteView more, int64_t timestamp_ms,
              int64_t tombstone_ms);
  void DeleteColumn(uint8_t family, ByteView qualifier, int64_t tombstone_ms);
  void DeleteFamily(uint8_t family, int64_t tombstone_ms);
  /// Removes all columns that are not selected.
  void Keep(const ColumnChoice& wanted);
  /// Removes a column without adding a tombstone.
  void Erase(uint8_t family, ByteView qualifier);
  /// Removes the tombstones, and makes operands complete values. Call DropTombstones only if no
  /// older memtable or file has the row.
  void DropTombstones();
  /// Returns whether the row has a tombstone that no newer value replaces. A merge with the oldest
  /// file can drop such tombstones.
  [[nodiscard]] bool HasTombstones() const;

  /// Returns the approximate size of the row in memory, in bytes.
  [[nodiscard]] size_t MemoryBytes() const;

  bool operator==(const CellRow&) const = default;

 private:
  std::vector<StoredCell>::iterator Place(uint8_t family, ByteView qualifier);
};

/// Returns the merge of `older` and `newer`. MergeRows is associative.
CellRow MergeRows(CellOrder order, CellRow newer, CellRow older);

/// EncodeCellRow appends an encoded row to *out (FORMAT.md "Row"), and DecodeCellRow decodes it.
/// DecodeCellRow returns false if `in` is not an encoded row. It also checks columns that are not
/// selected, but does not return them.
void EncodeCellRow(const CellRow& row, Bytes* out);
bool DecodeCellRow(ByteView in, CellRow* row, const ColumnChoice& wanted = {});
/// Returns the number of cells and tombstones in an encoded row. Returns 0 if the row has none, or
/// if `in` is not an encoded row.
uint64_t CellsIn(ByteView in);

/// The number of copies of a row for which memory is charged. A row is copied from its memtable or
/// file and merged with its content in other memtables and files. Then its cells are copied again.
inline constexpr int64_t kRowCopies = 2;

/// Reports the work and charges the memory for copying a row with `cells` cells and tombstones and
/// `bytes` bytes. Call it before the copy. If it fails, do not copy. `memory` may be null.
Status ChargeRow(uint64_t cells, uint64_t bytes, MemoryTally* memory);

/// Returns the value of an encoded row that consists of exactly one put, so that such a row need
/// not be decoded. The result is a view of `in`. Returns nullopt if the row may have other content,
/// or if `in` is not an encoded row.
std::optional<ByteView> OnlyValueOf(ByteView in);

}  // namespace hg::lsm
