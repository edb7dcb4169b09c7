#pragma once
// A RowPart is what one memtable or file holds of a row-hour, at most one for each row. The row is
// the merge of its RowParts, newest over oldest. This file also has the function that merges them.
// The functions read no clock and no settings. Merging changes only the form, never the meaning of
// the data.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/qualifier.h"

namespace hg::points {

/// One stored number with its qualifier. `bits` is as in PointValue: integers are sign-extended,
/// and floats are in the low 32 bits.
struct PartPoint {
  codec::Qualifier qualifier;
  /// The age of the point. If a raw cell has the same time, the one with the greater sequence is
  /// newer. It is the sequence number of the point's log record. A point without a raw cell in its
  /// memtable or file may have any sequence number of that memtable or file. Equal sequences mean
  /// that the points were written together, or that the order is unknown.
  uint64_t sequence = 0;
  uint64_t bits = 0;

  [[nodiscard]] uint32_t offset_ms() const { return qualifier.offset_ms(); }
  bool operator==(const PartPoint&) const = default;
};

/// A cell that is not a canonical single point. It is kept byte by byte.
struct RawCell {
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  uint64_t sequence = 0;  // sequence number of its log record; 0: it affects no points
  /// True if the value is an operand: it must be appended to the value that older RowParts hold.
  bool operand = false;

  bool operator==(const RawCell&) const = default;
};

/// The way in which the points of a row were written. Render decides how an old row is shown,
/// whatever its form is. The numbers are part of the file format.
enum class RowForm : uint8_t {
  kNone = 0,    // the row has had no points since it was last cleared
  kAuto = 1,    // points written through the point store
  kSingle = 2,  // points put as single cells
  kOne = 3,     // points put as one compacted cell
};

/// Returns the form of a row that has points of both forms.
RowForm JoinForms(RowForm a, RowForm b);

/// Plain value. No qualifier is in more than one of `points`, `raw` and `gone`. The tombstones
/// (`cleared` and `gone`) apply only to older RowParts.
struct RowPart {
  bool cleared = false;  // true if everything in older RowParts is deleted; `gone` is then empty
  RowForm form = RowForm::kNone;
  std::vector<PartPoint> points;  // unique qualifiers; by time, and oldest first for equal times
  std::vector<RawCell> raw;       // by qualifier, unique
  std::vector<Bytes> gone;        // qualifiers that are deleted in older RowParts; sorted, unique

  [[nodiscard]] bool empty() const {
    return !cleared && points.empty() && raw.empty() && gone.empty();
  }
  bool operator==(const RowPart&) const = default;
};

/// Returns true if a cell with this qualifier may be a canonical single point: the qualifier has 2
/// bytes with offset ≤ 3599, or 4 bytes F… with offset ≤ 3599999 and zero reserved bits, and its
/// flags are valid.
bool CanonicalQualifier(ByteView qualifier, codec::Qualifier* q);
/// Returns true if the cell is a canonical single point: it has a canonical qualifier, and a value
/// of the length that the flags define. All values are allowed, also −0.0, NaN and integers wider
/// than necessary.
bool CanonicalPoint(ByteView qualifier, ByteView value, PartPoint* point);

/// Returns true for qualifiers of cells whose points are merged with other points of the row:
/// compacted cells, non-canonical single points (of even length) and the append cell 05….
bool TouchesPoints(ByteView qualifier);

/// Returns the merge of `older` and `newer`. The operation is associative.
RowPart Merge(RowPart newer, RowPart older);

/// Simplifies the merge of all RowParts of a row. Operands become values, and tombstones are
/// dropped. A compacted cell becomes points of form kOne if it is the only cell of the row that can
/// hold points and all its points are canonical. Render gives the same cells before and after.
void Settle(RowPart* part);

/// Sorts a RowPart that a caller has filled in any order, and removes duplicates. Points are sorted
/// by time; if times are equal, later entries are newer. If qualifiers are equal, the last entry is
/// kept, also in `raw` and `gone`. Raw cells that are canonical points become points and are the
/// newest of their time. Points with the qualifier of a raw cell are removed. Qualifiers of cells
/// that the RowPart holds are removed from `gone`.
void Normalize(RowPart* part);

}  // namespace hg::points
