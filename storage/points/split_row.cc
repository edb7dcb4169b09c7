#include "storage/points/split_row.h"

#include "storage/points/row_codec.h"
#include "storage/points/row_layout.h"

namespace hg::points {

namespace {

// Returns whether the stream is already split. Such a stream is copied, so merging a row again does
// not decode it.
bool IsSplit(ByteView stream) {
  const int how = stream.empty() ? kEqual : ByteAt(stream, 0) & 0xF;
  return how == kSplit || how == kSplitBits;
}

}  // namespace

bool SplitRow(ByteView encoded, Bytes* out) {
  if (!ReadRowSummary(encoded).ok()) return false;
  const size_t start = out->size();
  const uint8_t head = ByteAt(encoded, 0);
  const bool more = (head & kRowMore) != 0;
  if (more && ByteAt(encoded, 1) != kRowHasStatistics) {
    out->append(encoded);
    return true;
  }
  ByteReader in(encoded);
  FieldMover mover([&in](RowField) -> ByteReader& { return in; },
                   [out](RowField, ByteView bytes) { out->append(bytes); });
  const bool moved = MoveRow(mover, [&](bool floats, size_t n) {
    if (IsSplit(in.rest())) {
      MoveStream(mover, floats, n);
    } else if (!SplitStream(&in, floats, n, out)) {
      mover.Fail();
    }
  });
  if (!moved || !in.rest().empty()) {
    out->resize(start);
    return false;
  }
  if (more) return true;
  (*out)[start] = static_cast<char>(head | kRowMore);
  out->insert(start + 1, 1, '\0');
  return true;
}

}  // namespace hg::points
