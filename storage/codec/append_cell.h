#pragma once
// The append cell: one growing cell per row, 050000, of pairs qualifier ‖ value in order of arrival
// (spec schema.md §10).

#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/qualifier.h"

namespace hg::codec {

inline constexpr ByteView kAppendQualifier{"\x05\x00\x00", 3};

/// What one point adds to the cell.
void AppendPair(Bytes* out, const StoredPoint& point);

struct AppendCell {
  std::vector<StoredPoint>
      points;  // strictly ascending by offset; of equal offsets the last one in the cell
  /// The cell has duplicates or disorder: worth a repair, which is to put AppendPair of all points
  /// as its new value.
  bool needs_repair = false;
};

/// Corruption: a pair is cut short, or flags no value can have. An empty value is an empty cell.
Result<AppendCell> ParseAppendCell(ByteView value);

}  // namespace hg::codec
