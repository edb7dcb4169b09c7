#pragma once
// The append cell is one growing cell per row with the qualifier 050000. Its value is a list of
// pairs (qualifier ‖ value) in the order in which the points were written (opentsdb-schema.md §10).

#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/qualifier.h"

namespace hg::codec {

inline constexpr ByteView kAppendQualifier{"\x05\x00\x00", 3};

/// Appends the qualifier and the value of one point to the value of an append cell.
void AppendPair(Bytes* out, const StoredPoint& point);

struct AppendCell {
  // The points in strictly ascending order of offsets. If several points have equal offsets, only
  // the point that was written last is kept.
  std::vector<StoredPoint> points;
  /// Whether the cell has duplicate or unordered points. A repair replaces the value of such a cell
  /// with the pairs of all points (AppendPair).
  bool needs_repair = false;
};

/// Parses the value of an append cell. Returns Corruption if a pair is incomplete or has invalid
/// flags. An empty value is a cell without points.
Result<AppendCell> ParseAppendCell(ByteView value);

}  // namespace hg::codec
