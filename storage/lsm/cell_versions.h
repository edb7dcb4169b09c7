#pragma once
// Cells of tables ordered by time (region-store.md D9–D17). A part of a row is one sorted list of
// all puts and tombstones. The row is the union of its parts. Only this file decides, by the family
// descriptor, which of them readers see.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/column_choice.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

/// The codes of HBase. At equal times the greater code sorts first, so a tombstone precedes the put
/// that it hides.
enum class CellKind : uint8_t {
  kPut = 4,
  kDelete = 8,                // the version of exactly this time
  kDeleteFamilyVersion = 10,  // the versions of exactly this time, in all columns of the family
  kDeleteColumn = 12,         // all versions up to this time
  kDeleteFamily = 14,         // all versions up to this time, in all columns of the family
};

inline constexpr int64_t kNeverExpires = std::numeric_limits<int64_t>::max();

/// One put or one tombstone. Tombstones of a family have no qualifier.
struct CellVersion {
  uint8_t family = 0;  // index in the table descriptor
  CellKind kind = CellKind::kPut;
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  int64_t expires_ms = kNeverExpires;  // last time at which it is visible (region-store.md D15)
  /// The order of writes: 256 × the sequence number of the log record, plus the position in the
  /// record (at most 255). 0 sorts before all others.
  uint64_t sequence = 0;

  bool operator==(const CellVersion&) const = default;
};

/// The order of region-store.md D10: family and qualifier ascending, then time, kind and sequence
/// descending.
bool SortsBefore(const CellVersion& a, const CellVersion& b);

/// Sorted. For each family, qualifier, time and kind there is one cell, the last one written.
using CellVersions = std::vector<CellVersion>;

/// The descriptors that determine which cells are kept. A family without a descriptor was dropped
/// and keeps nothing.
using Families = std::span<const FamilyDescriptor>;

/// Adds one cell and removes what it makes superfluous from its column (for a tombstone of a
/// family: from the family). That is hidden cells, versions above the limit and redundant
/// tombstones. Visible data does not change otherwise.
void AddVersion(Families families, CellVersion cell, CellVersions* row);

/// Returns the union of two parts.
CellVersions MergeVersions(CellVersions newer, CellVersions older);

struct TidyOptions {
  int64_t now_ms = 0;
  /// Drop tombstones up to this time. Set it only if no older part can exist.
  int64_t marks_until_ms = std::numeric_limits<int64_t>::min();
};
/// Removes everything that no reader will see: hidden, expired and excess cells, and tombstones by
/// the options. Used when files are written.
void TidyVersions(Families families, const TidyOptions& options, CellVersions* row);

/// Selects versions for a reader among those that the family keeps.
struct VersionRange {
  int64_t min_ms = std::numeric_limits<int64_t>::min();
  int64_t max_ms =
      std::numeric_limits<int64_t>::max();  // exclusive, unless it is the maximum value
  int32_t max_versions = 1;                 // the newest ones of each column

  [[nodiscard]] bool Holds(int64_t time_ms) const {
    return time_ms >= min_ms && (time_ms < max_ms || max_ms == std::numeric_limits<int64_t>::max());
  }
};
/// Returns the puts of a whole row that a reader sees, by family and qualifier, newest first.
std::vector<const CellVersion*> VisibleVersions(Families families, int64_t now_ms,
                                                const VersionRange& range, const CellVersions& row);

/// The encoding is described in FORMAT.md "Versions". DecodeVersions takes the bytes from the front
/// of `in` and returns false if they are invalid. Columns that are not selected are checked and
/// skipped.
void EncodeVersions(const CellVersions& row, Bytes* out);
bool DecodeVersions(ByteView* in, CellVersions* row, const ColumnChoice& wanted = {});

/// Approximate size in memory.
size_t VersionsBytes(const CellVersions& row);

}  // namespace hg::lsm
