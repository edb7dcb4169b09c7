#include "storage/points/split_row.h"

#include "storage/points/row_layout.h"

namespace hg::points {

bool SplitRow(ByteView encoded, Bytes* out) {
  if (!ReadRowSummary(encoded).ok()) return false;
  const size_t start = out->size();
  const uint8_t head = ByteAt(encoded, 0);
  if ((head & kRowMore) != 0) {
    out->append(encoded);
    return true;
  }
  ByteReader in(encoded);
  FieldMover mover([&in](RowField) -> ByteReader& { return in; },
                   [out](RowField, ByteView bytes) { out->append(bytes); });
  const bool moved = MoveRow(mover, [&](bool floats, size_t n) {
    if (!SplitStream(&in, floats, n, out)) mover.Fail();
  });
  if (!moved || !in.rest().empty()) {
    out->resize(start);
    return false;
  }
  (*out)[start] = static_cast<char>(head | kRowMore);
  out->insert(start + 1, 1, '\0');
  return true;
}

}  // namespace hg::points
