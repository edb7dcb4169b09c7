#pragma once
// Cells with qualifiers of even length: single points, and compacted cells that hold several points
// (opentsdb-schema.md §7.4, §8).
//
//   qualifier  q1 ‖ q2 ‖ … ‖ qn        value  v1 ‖ v2 ‖ … ‖ vn ‖ M
//
// M is one byte and exists only if n ≥ 2. M is 01 if second and millisecond qualifiers are mixed,
// and 00 otherwise.

#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/qualifier.h"

namespace hg::codec {

/// Appends the points of a cell to `points` in the way in which queries and compaction read them.
/// The function reads in the order of the cell until the qualifier or the value ends. It ignores M
/// (the last byte of the value) and the remaining bytes of the longer one of qualifier and value,
/// so a cell may have no point. A cell with a single 2-byte qualifier is repaired first
/// (opentsdb-schema.md §7.4), which sets `*repaired` to true; otherwise `*repaired` is unchanged.
/// Returns Corruption if the qualifier or value is incomplete, flags are invalid, or a value cannot
/// be repaired. `points` then has the points read so far. The caller adds the row to the message.
Status ReadPointCell(ByteView qualifier, ByteView value, std::vector<StoredPoint>* points,
                     bool* repaired);

/// The points of a cell, as ParsePointCell returns them.
struct StrictCell {
  // The points in ascending order of offsets. Points with equal offsets are in the order of the
  // cell.
  std::vector<StoredPoint> points;
  // Whether the points of the stored cell are in strictly ascending order of offsets.
  bool sorted = true;
  bool repaired = false;  // whether the value was repaired (opentsdb-schema.md §7.4)
  uint8_t trailer = 0;    // M, the last byte of the value; only for compacted cells
};

/// Parses a cell strictly, for the `scan` and fsck tools. Unlike ReadPointCell, ParsePointCell
/// requires that the points of a compacted cell end exactly one byte before the end of the value.
/// It also requires that the value of a single point has the width in its flags. Otherwise it
/// returns Corruption.
Result<StrictCell> ParsePointCell(ByteView qualifier, ByteView value);

/// Appends the cell for at least one point, in the given order, to `qualifier` and `value`. One
/// point makes a cell of a single point. Several points make a compacted cell with the trailer M.
void EncodePointCell(std::span<const StoredPoint> points, Bytes* qualifier, Bytes* value);

}  // namespace hg::codec
