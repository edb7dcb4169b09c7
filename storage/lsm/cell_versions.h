#pragma once
// Cells of tables whose versions are told apart by time (spec region-store.md D9–D17): every put
// and delete mark of a row as one sorted list. A part of a row is such a list, the row is the union
// of its parts; what a reader sees of it follows from the family's descriptor, here and only here.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

/// HBase's codes; at one time a greater one stands first, so a mark before the put it hides.
enum class CellKind : uint8_t {
  kPut = 4,
  kDelete = 8,                // the version of exactly its time
  kDeleteFamilyVersion = 10,  // the same, of all columns of the family
  kDeleteColumn = 12,         // all versions up to its time
  kDeleteFamily = 14,         // the same, of all columns of the family
};

inline constexpr int64_t kNeverExpires = std::numeric_limits<int64_t>::max();

/// One put or one delete mark. Marks of a family have no qualifier.
struct CellVersion {
  uint8_t family = 0;  // index in the table's descriptor
  CellKind kind = CellKind::kPut;
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  int64_t expires_ms = kNeverExpires;  // last moment at which it is seen (D15)
  /// Order of writing: 256 × the sequence of its record + its place there, 255 at most; 0 = before
  /// all others.
  uint64_t sequence = 0;

  bool operator==(const CellVersion&) const = default;
};

/// D10: family, qualifier, then time, kind and sequence falling.
bool SortsBefore(const CellVersion& a, const CellVersion& b);

/// Sorted; of one family, qualifier, time and kind there is one, the last written.
using CellVersions = std::vector<CellVersion>;

/// How cells of a family are kept. A family without a descriptor (it was dropped) keeps nothing.
using Families = std::span<const FamilyDescriptor>;

/// Adds one cell, then drops of its column (a family's mark: of its family) what it replaces:
/// hidden cells, versions above the limit, marks that say nothing new. What a reader sees does not
/// change by that.
void AddVersion(Families families, CellVersion cell, CellVersions* row);

/// The union of two parts.
CellVersions MergeVersions(CellVersions newer, CellVersions older);

struct TidyOptions {
  int64_t now_ms = 0;
  /// Marks up to it go: only where no older part can exist.
  int64_t marks_until_ms = std::numeric_limits<int64_t>::min();
};
/// Drops what no reader will see: hidden, expired and excess cells, and marks as told. For files.
void TidyVersions(Families families, const TidyOptions& options, CellVersions* row);

/// Which of the versions that a family keeps a reader wants.
struct VersionRange {
  int64_t min_ms = std::numeric_limits<int64_t>::min();
  int64_t max_ms = std::numeric_limits<int64_t>::max();  // not included, except as the greatest
  int32_t max_versions = 1;                              // of each column, the newest

  [[nodiscard]] bool Holds(int64_t time_ms) const {
    return time_ms >= min_ms && (time_ms < max_ms || max_ms == std::numeric_limits<int64_t>::max());
  }
};
/// Of a whole row: the puts a reader sees, by family and qualifier, newest first.
std::vector<const CellVersion*> VisibleVersions(Families families, int64_t now_ms,
                                                const VersionRange& range, const CellVersions& row);

/// FORMAT.md "Versions"; takes the bytes off `in`. False if they are none.
void EncodeVersions(const CellVersions& row, Bytes* out);
bool DecodeVersions(ByteView* in, CellVersions* row);

/// Rough size in memory.
size_t VersionsBytes(const CellVersions& row);

}  // namespace hg::lsm
