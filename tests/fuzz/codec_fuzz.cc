// Stored bytes: whatever they are, decoding ends with a value or a Status, and what was decoded can
// be written and read again without a change.

#include <cstddef>
#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/base/invariant.h"
#include "storage/codec/annotation.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/compacted.h"
#include "storage/codec/histogram.h"
#include "storage/codec/row_key.h"
#include "storage/model/key_layout.h"

namespace hg::codec {
namespace {

void PointCell(ByteView qualifier, ByteView value) {
  std::vector<StoredPoint> lenient;
  bool repaired = false;
  (void)ReadPointCell(qualifier, value, &lenient, &repaired);
  const auto strict = ParsePointCell(qualifier, value);
  if (!strict.ok() || strict->points.empty()) return;
  Bytes written_qualifier, written_value;
  EncodePointCell(strict->points, &written_qualifier, &written_value);
  const auto again = ParsePointCell(written_qualifier, written_value);
  INVARIANT(again.ok());
  INVARIANT(again->points == strict->points);
}

void Append(ByteView value) {
  const auto cell = ParseAppendCell(value);
  if (!cell.ok()) return;
  Bytes written;
  for (const StoredPoint& point : cell->points) AppendPair(&written, point);
  const auto again = ParseAppendCell(written);
  INVARIANT(again.ok() && !again->needs_repair);
  INVARIANT(again->points == cell->points);
}

void Note(ByteView json) {
  const auto note = DecodeAnnotation(json);
  if (!note.ok()) return;
  const Bytes written = EncodeAnnotation(*note);
  const auto again = DecodeAnnotation(written);
  INVARIANT(again.ok());
  INVARIANT(EncodeAnnotation(*again) == written);
}

}  // namespace
}  // namespace hg::codec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hg;
  if (size < 2) return 0;
  const ByteView rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t cut = data[1] % (rest.size() + 1);
  switch (data[0] % 5) {
    case 0:
      codec::PointCell(rest.substr(0, cut), rest.substr(cut));
      break;
    case 1:
      codec::Append(rest);
      break;
    case 2:
      codec::Note(rest);
      break;
    case 3:
      (void)codec::DecodeSimpleHistogram(rest);
      break;
    case 4: {
      KeyLayout layout;
      layout.salt_width = data[1] % 3;
      (void)codec::RowKey::Decode(layout, rest);
      break;
    }
  }
  return 0;
}
