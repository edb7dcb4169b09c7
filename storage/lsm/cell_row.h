#pragma once
// The content that one memtable or file has for a row of cells: values and tombstones. The row is
// the merge of its contents in all memtables and files, newest over oldest.

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
  // The write with the later cell time; for equal times the one that arrived later. Used with
  // CellRow::versions.
  kByTime,
  kByArrival,  // the write that arrived later; for points tables, with CellRow::cells
};

inline constexpr int64_t kNoTombstone = std::numeric_limits<int64_t>::min();

/// The content of one column of a row in one memtable or file, in a table with the order
/// kByArrival. It is a value, a tombstone, or both. The tombstone hides only values in older
/// memtables and files.
struct StoredCell {
  uint8_t family = 0;  // index in the table descriptor
  bool has_value = false;
  bool operand = false;  // whether to append the value to that in older memtables or files
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  int64_t tombstone_ms = kNoTombstone;

  bool operator==(const StoredCell&) const = default;
};

/// A row in one memtable or file. Plain value. Tables with the order kByArrival use `cells` and
/// `family_tombstones`. Tables with the order kByTime use `versions`.
struct CellRow {
  std::vector<StoredCell> cells;  // sorted by family, then qualifier; unique
  std::vector<int64_t>
      family_tombstones;  // index: family; value: time of the tombstone, or kNoTombstone
  CellVersions versions;

  [[nodiscard]] bool empty() const {
    return cells.empty() && family_tombstones.empty() && versions.empty();
  }
  /// Returns the number of cells, with their versions and with tombstones of columns.
  [[nodiscard]] size_t count() const { return cells.size() + versions.size(); }
  [[nodiscard]] const StoredCell* Find(uint8_t family, ByteView qualifier) const;
  [[nodiscard]] int64_t FamilyTombstone(uint8_t family) const {
    return family < family_tombstones.size() ? family_tombstones[family] : kNoTombstone;
  }

  // The following functions are for tables with the order kByArrival.
  void Put(uint8_t family, ByteView qualifier, ByteView value, int64_t timestamp_ms);
  /// Appends bytes to the value of the column. If this row has no value, a merge will append the
  /// bytes to the value in an older row. `tombstone_ms` is the time of the tombstone, if there is
  /// one.
  void Append(uint8_t family, ByteView qualifier, ByteView more, int64_t timestamp_ms,
              int64_t tombstone_ms);
  void DeleteColumn(uint8_t family, ByteView qualifier, int64_t tombstone_ms);
  void DeleteFamily(uint8_t family, int64_t tombstone_ms);
  /// Removes all columns that are not selected.
  void Keep(const ColumnChoice& wanted);
  /// Removes a column without adding a tombstone.
  void Erase(uint8_t family, ByteView qualifier);
  /// Removes the tombstones. The result is what readers see if no older memtable or file has the
  /// row.
  void DropTombstones();
  /// Returns whether the row has a tombstone that no newer value replaces. A merge with the oldest
  /// file can drop such tombstones.
  [[nodiscard]] bool HasTombstones() const;

  /// Returns the approximate size in memory, in bytes.
  [[nodiscard]] size_t MemoryBytes() const;

  bool operator==(const CellRow&) const = default;

 private:
  std::vector<StoredCell>::iterator Place(uint8_t family, ByteView qualifier);
};

/// Returns the merge of `older` and `newer`. The operation is associative.
CellRow MergeRows(CellOrder order, CellRow newer, CellRow older);

/// Encodes and decodes a row (FORMAT.md "Row"). DecodeCellRow returns false if the bytes are not a
/// row. It checks columns that are not selected, too, but does not return them.
void EncodeCellRow(const CellRow& row, Bytes* out);
bool DecodeCellRow(ByteView in, CellRow* row, const ColumnChoice& wanted = {});
/// Returns the number of cells and tombstones in an encoded row. Returns 0 if there are none, or if
/// the bytes are not a row.
uint64_t CellsIn(ByteView in);

/// Reports the work and charges the memory for copying a row with `cells` cells and tombstones and
/// `bytes` bytes. Call this function before the copy. If `memory` is null, there is no limit.
Status ChargeRow(uint64_t cells, uint64_t bytes, MemoryTally* memory);

/// Returns the value of an encoded row that consists of exactly one put, as a view of `in`, so that
/// such rows need not be decoded. Returns nullopt if the row may have other content, or if the
/// bytes are not a row.
std::optional<ByteView> OnlyValueOf(ByteView in);

}  // namespace hg::lsm
