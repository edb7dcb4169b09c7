#pragma once
// Cells of tables whose order is CellOrder::kByTime (region-store.md D9–D17). The content of a row
// in one memtable or file is one sorted list of all puts and tombstones. The complete row is the
// union of these lists. The functions in this file use the family descriptors to decide which cells
// readers see.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/column_choice.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

/// The kinds of cells, with HBase's codes. Among cells with equal times, the cell with the greater
/// code sorts first, so a tombstone comes before the put that it hides.
enum class CellKind : uint8_t {
  kPut = 4,
  kDelete = 8,  // tombstone of the version with exactly this time
  // Tombstone of the versions with exactly this time, in all columns of the family.
  kDeleteFamilyVersion = 10,
  kDeleteColumn = 12,  // tombstone of all versions up to this time
  kDeleteFamily = 14,  // tombstone of all versions up to this time, in all columns of the family
};

inline constexpr int64_t kNeverExpires = std::numeric_limits<int64_t>::max();

/// One put or one tombstone. A tombstone of a family has no qualifier.
struct CellVersion {
  uint8_t family = 0;  // number of the family: its index in TableEntry::families
  CellKind kind = CellKind::kPut;
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  // The last time at which the cell is visible (region-store.md D15).
  int64_t expires_ms = kNeverExpires;
  /// The order of writes. The number is 256 × the sequence number of the log record, plus the
  /// position in the record (at most 255). Among equal cells, a cell with the number 0 is the
  /// oldest.
  uint64_t sequence = 0;

  bool operator==(const CellVersion&) const = default;
};

[[nodiscard]] bool IsFamilyTombstone(const CellVersion& cell);

/// Returns whether cell a sorts before cell b (region-store.md D10). Cells are sorted by family and
/// qualifier in ascending order, and then by time, kind and sequence in descending order.
bool SortsBefore(const CellVersion& a, const CellVersion& b);

/// Cells in the order of SortsBefore. For each combination of family, qualifier, time and kind,
/// there is at most one cell: the cell that was written last.
using CellVersions = std::vector<CellVersion>;

/// The descriptors of the families of a table. They determine which cells to keep. A family without
/// a descriptor was dropped and keeps no cells.
using Families = std::span<const FamilyDescriptor>;

/// Adds cells, in the order in which they were written. Then removes cells that are no longer
/// needed: hidden cells, versions above the limit, and redundant tombstones. The removal does not
/// change what readers see. `row` may be a part of a row. It must contain the complete columns of
/// the new cells, and the tombstones of their families. Cells of other columns that a new tombstone
/// of a family hides are removed only if `row` contains them.
void AddVersions(Families families, CellVersions added, CellVersions* row);

/// Sorts cells by SortsBefore. The cells must be in the order in which they were written. Among
/// equal cells, the cell that was written last comes first; equal cells are not removed.
void SortVersions(CellVersions* written);

/// Returns the union of two lists of cells.
CellVersions MergeVersions(CellVersions newer, CellVersions older);

struct TidyOptions {
  int64_t now_ms = 0;
  /// Tombstones up to this time are dropped. Set this member only if no older file can have the
  /// row. By default, no tombstones are dropped because of their time.
  int64_t tombstones_until_ms = std::numeric_limits<int64_t>::min();
  /// Whether TidyVersions gets all cells of the row. If it gets only some columns, it keeps the
  /// tombstones of families that keep deleted cells, because other columns may need them.
  bool whole_row = true;
};
/// Removes all cells that no reader will see: hidden cells, expired cells, versions above the
/// limit, and the tombstones that `options` selects. Flushes, merges and AddVersions use it.
void TidyVersions(Families families, const TidyOptions& options, CellVersions* row);

/// Selects the versions that a reader requests, out of those that the family keeps.
struct VersionRange {
  int64_t min_ms = std::numeric_limits<int64_t>::min();
  // The bound max_ms is exclusive, unless it is the maximum value.
  int64_t max_ms = std::numeric_limits<int64_t>::max();
  int32_t max_versions = 1;  // maximum number of versions of each column; the newest are selected

  [[nodiscard]] bool Holds(int64_t time_ms) const {
    return time_ms >= min_ms && (time_ms < max_ms || max_ms == std::numeric_limits<int64_t>::max());
  }
};
/// Returns those puts of a whole row that a reader sees, sorted by family and qualifier, with the
/// newest version of each column first. The pointers are valid until `row` changes.
std::vector<const CellVersion*> VisibleVersions(Families families, int64_t now_ms,
                                                const VersionRange& range, const CellVersions& row);

/// EncodeVersions encodes versions (FORMAT.md "Versions"), and DecodeVersions decodes them.
/// DecodeVersions removes the bytes from the front of `in` and returns false if the bytes are
/// invalid. It also checks columns that are not selected, but does not return them.
void EncodeVersions(const CellVersions& row, Bytes* out);
bool DecodeVersions(ByteView* in, CellVersions* row, const ColumnChoice& wanted = {});

/// Returns the approximate size of the versions in memory, in bytes.
size_t VersionsBytes(std::span<const CellVersion> versions);

}  // namespace hg::lsm
