#pragma once
// A part of a row-hour, and the one function that joins parts (engine.md §1). Memory, frozen memory
// and each file hold at most one part of a row; the row is their merge, newest over oldest. Nothing
// here reads a clock or a setting: merging changes form only, never meaning.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/qualifier.h"

namespace hg::points {

/// One stored number, named by its qualifier (engine.md §1). `bits` as in PointValue: integers
/// sign-extended, singles in the low 32.
struct PartPoint {
  codec::Qualifier qualifier;
  /// When it was written: decides between this point and a raw cell of the same instant (see
  /// Later).
  uint32_t generation = 0;
  uint64_t bits = 0;

  [[nodiscard]] uint32_t offset_ms() const { return qualifier.offset_ms(); }
  bool operator==(const PartPoint&) const = default;
};

/// A cell that is not a canonical single point, kept byte by byte.
struct RawCell {
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  uint32_t generation = 0;
  /// The value is to be appended to what older parts hold.
  bool operand = false;

  bool operator==(const RawCell&) const = default;
};

/// Generations are the low 32 bits of a record's sequence, and of a point that met no raw cell in
/// its memory or file, of any sequence of that memory or file. Equal: written together, or nobody
/// knows. They wrap: of two writes more than 2^31 records apart the wrong one would count as the
/// later.
inline bool Later(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

/// How the points of a row are rendered as cells (engine.md §8). Stored: the values are fixed.
enum class RowForm : uint8_t {
  kNone = 0,    // the part never held points since it was last cleared
  kAuto = 1,    // written as points
  kSingle = 2,  // put as single cells
  kOne = 3,     // put as one compacted cell
};

/// The form of points of both forms.
RowForm JoinForms(RowForm a, RowForm b);

/// Plain value. No qualifier is in two of points, raw and gone; the marks speak of older parts
/// only.
struct Part {
  bool cleared = false;  // everything in older parts is deleted; then `gone` is empty
  RowForm form = RowForm::kNone;
  std::vector<PartPoint>
      points;                // unique qualifiers; by instant, among equal instants oldest first
  std::vector<RawCell> raw;  // by qualifier, unique
  std::vector<Bytes> gone;   // qualifiers deleted in older parts; sorted, unique

  [[nodiscard]] bool empty() const {
    return !cleared && points.empty() && raw.empty() && gone.empty();
  }
  bool operator==(const Part&) const = default;
};

/// True if a cell of this qualifier may be a canonical single point: 2 bytes with offset ≤ 3599, or
/// 4 bytes F… with offset ≤ 3599999 and zero reserved bits; valid flags.
bool CanonicalQualifier(ByteView qualifier, codec::Qualifier* q);
/// True if the cell is a canonical single point: such a qualifier and the value length of its
/// flags. Every value counts: −0.0, NaN, integers wider than they need.
bool CanonicalPoint(ByteView qualifier, ByteView value, PartPoint* point);

/// True for columns that take part in the merge of points: compacted cells, odd single points (even
/// length) and the append cell 05….
bool TouchesPoints(ByteView qualifier);

/// The row that `older`, then `newer` make. Associative.
Part Merge(Part newer, Part older);

/// What a part means when nothing older can exist: operands become values, marks go, and a lone
/// compacted cell becomes points of form kOne (engine.md §8, "Accept"). Render is the same before
/// and after.
void Settle(Part* part);

/// Sorts what a caller filled in any order: points stably by instant (among equal instants the
/// later entry is the newer; the last entry of a qualifier stays), raw and gone by qualifier, the
/// last one staying. Raw cells that are canonical points become points, newest of their instant; a
/// qualifier of raw leaves points; what the part holds leaves gone.
void Normalize(Part* part);

}  // namespace hg::points
