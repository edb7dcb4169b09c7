#pragma once
// A RowPart is the content of a row-hour in one memtable or file, which has at most one for each
// row. The row is the merge of its RowParts, newest over oldest. This file also has the function
// that merges RowParts. The functions read no clock and no settings. Merging changes only the form,
// never the meaning of the data.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/qualifier.h"

namespace hg::points {

/// One stored number with its qualifier. `bits` is as in PointValue: integers are sign-extended,
/// and floats are in the low 32 bits.
struct PartPoint {
  codec::Qualifier qualifier;
  /// The age of the point: the sequence number of its log record. If a raw cell has the same time,
  /// the one with the greater sequence number is newer. A point without a raw cell in its memtable
  /// or file may have any sequence number of that memtable or file. Equal numbers mean that the
  /// points were written together, or that the order is unknown.
  uint64_t sequence = 0;
  uint64_t bits = 0;

  [[nodiscard]] uint32_t offset_ms() const { return qualifier.offset_ms(); }
  bool operator==(const PartPoint&) const = default;
};

/// A cell that is not a canonical single point. It is kept unchanged.
struct RawCell {
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  uint64_t sequence = 0;  // sequence number of its log record; 0: it affects no points
  /// Whether the value is an operand, to be appended to the value that older RowParts have.
  bool operand = false;

  bool operator==(const RawCell&) const = default;
};

/// How the points of a row were written. Render decides how an old row is shown, in any form. The
/// numbers are part of the file format.
enum class RowForm : uint8_t {
  kNone = 0,    // the row has had no points since it was last cleared
  kAuto = 1,    // points written through the point store
  kSingle = 2,  // points put as single cells
  kOne = 3,     // points put as one compacted cell
};

/// Returns the form of a row that has points of form a and points of form b.
RowForm JoinForms(RowForm a, RowForm b);

/// Plain value. A qualifier is in at most one of `points`, `raw` and `gone`. The tombstones
/// (`cleared` and `gone`) apply only to older RowParts.
struct RowPart {
  bool cleared = false;  // whether everything in older RowParts is deleted; `gone` is empty then
  RowForm form = RowForm::kNone;
  std::vector<PartPoint> points;  // unique qualifiers; by time; oldest first for equal times
  std::vector<RawCell> raw;       // by qualifier, unique
  std::vector<Bytes> gone;        // qualifiers that are deleted in older RowParts; sorted, unique

  [[nodiscard]] bool empty() const {
    return !cleared && points.empty() && raw.empty() && gone.empty();
  }
  bool operator==(const RowPart&) const = default;
};

/// Returns whether a cell with this qualifier may be a canonical single point: the qualifier has 2
/// bytes with offset ≤ 3599, or 4 bytes F… with offset ≤ 3599999 and zero reserved bits, and its
/// flags are valid.
bool CanonicalQualifier(ByteView qualifier, codec::Qualifier* q);
/// Returns whether the cell is a canonical single point: it has a canonical qualifier, and a value
/// with the length in the flags. All values are allowed, including −0.0, NaN and integers that are
/// wider than necessary.
bool CanonicalPoint(ByteView qualifier, ByteView value, PartPoint* point);

/// Returns whether a cell with this qualifier has points that are merged with other points of the
/// row: compacted cells, non-canonical single points (of even length) and the append cell 05….
bool TouchesPoints(ByteView qualifier);

/// Returns the merge of `older` and `newer`. The operation is associative.
RowPart Merge(RowPart newer, RowPart older);

/// Simplifies the merge of all RowParts of a row. Operands become values, and tombstones are
/// removed. A compacted cell becomes points of form kOne if it is the only cell of the row that can
/// have points and all its points are canonical. Render returns the same cells before and after.
void Settle(RowPart* part);

/// Sorts a RowPart that a caller has filled in any order, and removes duplicates. Points are sorted
/// by time; if times are equal, later entries are newer. If qualifiers are equal, the last entry is
/// kept; this also applies to `raw` and `gone`. Raw cells that are canonical points become points
/// and are the newest of their time. Points with the qualifier of a raw cell are removed.
/// Qualifiers of cells in the RowPart are removed from `gone`.
void Normalize(RowPart* part);

}  // namespace hg::points
