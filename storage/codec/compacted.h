#pragma once
// Cells of even qualifier length: single points and the compacted cells that hold several (spec
// schema.md §7.4, §8).
//
//   qualifier  q1 ‖ q2 ‖ … ‖ qn        value  v1 ‖ v2 ‖ … ‖ vn ‖ M
//
// M (one byte, only if n ≥ 2): 01 if second and millisecond qualifiers are mixed, else 00.

#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/qualifier.h"

namespace hg::codec {

/// Appends the points of a cell as queries and compaction read them: in the order of the cell,
/// until qualifier or value is exhausted; what is left of the other one, and M, is not looked at.
/// Hence a cell may give no point at all. A single 2-byte cell is repaired first (schema.md §7.4);
/// `*repaired` then becomes true, otherwise it stays. Corruption, with `points` as far as it got: a
/// qualifier or a value cut in the middle, flags no value can have, or a value that cannot be
/// repaired. The caller names the row.
Status ReadPointCell(ByteView qualifier, ByteView value, std::vector<StoredPoint>* points,
                     bool* repaired);

/// Result of the strict reading.
struct StrictCell {
  std::vector<StoredPoint>
      points;             // ascending by offset, in the order of the cell where offsets are equal
  bool sorted = true;     // the cell itself ascends strictly
  bool repaired = false;  // §7.4
  uint8_t trailer = 0;    // M; only of a compacted cell
};

/// Reads a cell as `scan` and fsck do: as above, but the values must end exactly one byte before
/// the end of a compacted cell's value, and a single point must have the width its flags say.
/// Corruption otherwise.
Result<StrictCell> ParsePointCell(ByteView qualifier, ByteView value);

/// The cell of ≥ 1 points in the order given: plain for one, compacted with M for more. Appends to
/// both.
void EncodePointCell(std::span<const StoredPoint> points, Bytes* qualifier, Bytes* value);

}  // namespace hg::codec
