#pragma once
// A RowPart is the content that one memtable or one file has for a row-hour. Each memtable or file
// has at most one RowPart for a row. The complete row is the merge of its RowParts, newer RowParts
// over older ones. This file also has the functions that merge RowParts. The functions read no
// clock and no settings. Merging never changes the meaning of the data.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/qualifier.h"

namespace hg::points {

/// One stored number with its qualifier. `bits` has the same meaning as in PointValue: integers are
/// sign-extended, and floats are in the low 32 bits.
struct PartPoint {
  codec::Qualifier qualifier;
  /// The age of the point: the sequence number of its log record. If a raw cell has the same time
  /// as the point, the one with the greater sequence number is newer. If the memtable or file of
  /// the point has no raw cell for the row, the point may have any sequence number of that memtable
  /// or file. Equal sequence numbers mean that the points were written together, or that their
  /// order is unknown.
  uint64_t sequence = 0;
  uint64_t bits = 0;

  [[nodiscard]] uint32_t offset_ms() const { return qualifier.offset_ms(); }
  bool operator==(const PartPoint&) const = default;
};

/// A cell that is not a canonical single point. The engine stores it unchanged.
struct RawCell {
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  uint64_t sequence = 0;  // sequence number of the log record; 0 = the cell affects no points
  /// Whether the value is an operand, which will be appended to the value in older RowParts.
  bool operand = false;

  bool operator==(const RawCell&) const = default;
};

/// How the points of a row were written. Render uses the form to decide how to return the points of
/// a row. The numbers are part of the file format.
enum class RowForm : uint8_t {
  kNone = 0,    // the row has had no points since it was last cleared
  kAuto = 1,    // points written through the point store
  kSingle = 2,  // points put as single cells
  kOne = 3,     // points put as one compacted cell
};

/// Returns the form of a row that has points of form a and points of form b.
RowForm JoinForms(RowForm a, RowForm b);

/// The content of a row-hour in one memtable or file. RowPart is a plain value. A qualifier is in
/// at most one of `points`, `raw` and `gone`. The tombstones (`cleared` and `gone`) apply only to
/// older RowParts.
struct RowPart {
  bool cleared = false;  // whether all content of older RowParts is deleted; `gone` is then empty
  RowForm form = RowForm::kNone;
  std::vector<PartPoint> points;  // unique qualifiers; sorted by time; oldest first for equal times
  std::vector<RawCell> raw;       // sorted by qualifier; unique qualifiers
  std::vector<Bytes> gone;        // qualifiers deleted in older RowParts; sorted, unique

  [[nodiscard]] bool empty() const {
    return !cleared && points.empty() && raw.empty() && gone.empty();
  }
  bool operator==(const RowPart&) const = default;
};

/// Returns whether a cell with this qualifier may be a canonical single point. The qualifier must
/// have 2 bytes with offset ≤ 3599, or 4 bytes F… with offset ≤ 3599999 and zero reserved bits. Its
/// flags must be valid.
bool CanonicalQualifier(ByteView qualifier, codec::Qualifier* q);
/// Returns whether the cell is a canonical single point: the cell has a canonical qualifier, and
/// its value has the length that the flags define. All values are allowed, including −0.0, NaN and
/// integers that are wider than necessary.
bool CanonicalPoint(ByteView qualifier, ByteView value, PartPoint* point);

/// Returns whether a cell with this qualifier has points that are merged with other points of the
/// row. Such cells are compacted cells, non-canonical single points (with qualifiers of even
/// length) and the append cell 05….
bool TouchesPoints(ByteView qualifier);

/// Returns whether a delete of this column may delete several points, because the column has the
/// name of a compacted cell. The store must read the row for this delete.
bool NamesSeveralPoints(ByteView qualifier);

/// Returns the merge of `older` and `newer`. Merge is associative.
RowPart Merge(RowPart newer, RowPart older);

/// Simplifies a RowPart that is the merge of all RowParts of a row. Operands become values, and
/// tombstones are removed. A compacted cell becomes points of form kOne if it is the only cell of
/// the row that can have points and all its points are canonical. Render returns the same cells for
/// the RowPart before and after Settle.
void Settle(RowPart* part);

/// Sorts a RowPart that a caller has filled in any order, and removes duplicates. Points are sorted
/// by time; among points with equal times, later entries are newer. Among points with equal
/// qualifiers, the last entry is kept; this also applies to `raw` and `gone`. Raw cells that are
/// canonical points become points, the newest of their time and sequence. Points that have the
/// qualifier of a raw cell are removed. Qualifiers of cells in the RowPart are removed from `gone`.
void Normalize(RowPart* part);

}  // namespace hg::points
