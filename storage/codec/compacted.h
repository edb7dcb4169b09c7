#pragma once
// Cells with qualifiers of even length: single points, and compacted cells that hold several points
// (opentsdb-schema.md §7.4, §8).
//
//   qualifier  q1 ‖ q2 ‖ … ‖ qn        value  v1 ‖ v2 ‖ … ‖ vn ‖ M
//
// M is one byte and exists only if n ≥ 2. It is 01 if second and millisecond qualifiers are mixed,
// else 00.

#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/qualifier.h"

namespace hg::codec {

/// Appends the points of a cell as queries and compaction read them. The function reads in the
/// order of the cell until the qualifier or the value ends. It ignores M (the last byte of the
/// value) and the remaining bytes of the longer one of qualifier and value, so a cell may have no
/// point. A single 2-byte cell is repaired first (opentsdb-schema.md §7.4), which sets `*repaired`
/// to true; otherwise `*repaired` is unchanged. Corruption: incomplete qualifier or value, invalid
/// flags, or a value that cannot be repaired. `points` then has the points read so far. The caller
/// adds the row to the message.
Status ReadPointCell(ByteView qualifier, ByteView value, std::vector<StoredPoint>* points,
                     bool* repaired);

/// The result of ParsePointCell.
struct StrictCell {
  std::vector<StoredPoint>
      points;             // ascending by offset; for equal offsets in the order of the cell
  bool sorted = true;     // whether the points of the cell are in strictly ascending order
  bool repaired = false;  // whether the value was repaired (opentsdb-schema.md §7.4)
  uint8_t trailer = 0;    // M (see above); only for compacted cells
};

/// Parses a cell strictly, for the `scan` and fsck tools. Unlike ReadPointCell, it requires that
/// the values end exactly one byte before the end of a compacted cell's value, and that a single
/// point has the width in its flags. Otherwise returns Corruption.
Result<StrictCell> ParsePointCell(ByteView qualifier, ByteView value);

/// Appends the cell for at least one point, in the given order, to `qualifier` and `value`. One
/// point makes a plain cell. Several points make a compacted cell with M (see above).
void EncodePointCell(std::span<const StoredPoint> points, Bytes* qualifier, Bytes* value);

}  // namespace hg::codec
