// Stored bytes: decoding any bytes gives a value or a Status, and decoded values are encoded and
// decoded again without a change.

#include <cstddef>
#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/base/invariant.h"
#include "storage/codec/annotation.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/compacted.h"
#include "storage/codec/histogram.h"
#include "storage/codec/qualifier.h"
#include "storage/codec/rollup.h"
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

void Histogram(ByteView value) {
  const auto histogram = DecodeSimpleHistogram(value);
  if (!histogram.ok()) return;
  const auto written = EncodeSimpleHistogram(*histogram);
  INVARIANT(written.ok());
  const auto again = DecodeSimpleHistogram(*written);
  INVARIANT(again.ok());
  const auto twice = EncodeSimpleHistogram(*again);
  INVARIANT(twice.ok() && *twice == *written);
}

void Key(ByteView key, uint8_t shape) {
  KeyLayout layout;
  layout.salt_width = shape % 3;
  layout.metric_width = 1 + shape / 4 % 4;
  layout.tagv_width = 1 + shape / 16 % 4;
  (void)IsGlobalRowKey(layout, key);
  const auto row = RowKey::Decode(layout, key);
  if (!row.ok()) {
    INVARIANT(row.status().code() == StatusCode::kCorruption);
    return;
  }
  const Bytes tsuid = row->tsuid();
  INVARIANT(CheckTsuid(layout, tsuid).ok());
  Bytes pairs;
  for (size_t i = 0; i < row->pair_count(); ++i) pairs.append(row->tagk(i)).append(row->tagv(i));
  INVARIANT(pairs == row->pairs());
  // The salt follows from the series. All other parts of the key are restored.
  const Bytes made = MakeRowKey(layout, tsuid, row->base());
  INVARIANT(made.size() == key.size());
  INVARIANT(made.substr(row->salt().size()) == key.substr(row->salt().size()));
  INVARIANT(*TsuidOf(layout, made) == tsuid);
}

void Qualifiers(ByteView bytes) {
  if (const auto rollup = DecodeRollupQualifier(bytes); rollup.ok()) {
    INVARIANT(rollup->Encode() == bytes && rollup->aggregator_id < 128);
  }
  (void)HistogramOffsetMs(bytes);
  for (Qualifier one; !bytes.empty();) {
    const ByteView before = bytes;
    if (!TakeQualifier(&bytes, &one)) break;
    INVARIANT(one.Encode() == before.substr(0, before.size() - bytes.size()));
    INVARIANT(one.with_flags(one.flags()) == one);
  }
}

}  // namespace
}  // namespace hg::codec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hg;
  if (size < 2) return 0;
  const ByteView rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t cut = data[1] % (rest.size() + 1);
  switch (data[0] % 6) {
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
      codec::Histogram(rest);
      break;
    case 4:
      codec::Key(rest, data[1]);
      break;
    case 5:
      codec::Qualifiers(rest);
      break;
  }
  return 0;
}
