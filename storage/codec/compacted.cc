#include "storage/codec/compacted.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/codec/value.h"

namespace hg::codec {
namespace {

Status Damaged(ByteView qualifier, ByteView value, const char* why) {
  return Status::Corruption(std::string(why) + " (qualifier " + ToHexUpper(qualifier) + ", value " +
                            ToHexUpper(value) + ")");
}

// Applies the repair of opentsdb-schema.md §7.4. `value` must not be empty.
Status RepairSecondPoint(ByteView cell_qualifier, Qualifier* qualifier, ByteView* value,
                         bool* repaired) {
  const ByteView whole = *value;
  if (qualifier->flags() == kFloat32 && value->size() == 8) {
    if (ReadBig32(value->data()) != 0) {
      return Damaged(cell_qualifier, whole,
                     "8 bytes under a 4-byte float flag do not begin with zeros");
    }
    value->remove_prefix(4);
    *repaired = true;
  }
  if (value->size() > 8) return Damaged(cell_qualifier, whole, "value longer than 8 bytes");
  const auto flags = static_cast<uint8_t>((qualifier->flags() & kFloatFlag) | (value->size() - 1));
  if (flags != qualifier->flags()) {
    *qualifier = qualifier->with_flags(flags);
    *repaired = true;
  }
  return Status::Ok();
}

// Takes one point from the front of `value`, which must not be empty.
Status TakePoint(ByteView cell_qualifier, ByteView cell_value, Qualifier qualifier, ByteView* value,
                 std::vector<StoredPoint>* points) {
  if (!qualifier.valid_flags()) {
    return Damaged(cell_qualifier, cell_value,
                   qualifier.is_float() ? "floating point value not on 4 or 8 bytes"
                                        : "integer value not on 1, 2, 4 or 8 bytes");
  }
  const auto width = static_cast<size_t>(qualifier.value_width());
  if (value->size() < width) return Damaged(cell_qualifier, cell_value, "value is cut short");
  points->push_back({qualifier, ReadValueBits(value->data(), qualifier.flags())});
  value->remove_prefix(width);
  return Status::Ok();
}

// Sets `rest` to the bytes that belong to no point.
Status ReadPoints(ByteView qualifier, ByteView value, std::vector<StoredPoint>* points,
                  bool* repaired, ByteView* rest) {
  if (qualifier.empty()) return Status::Corruption("empty qualifier");
  ByteView qualifiers = qualifier;
  *rest = value;
  while (!qualifiers.empty() && !rest->empty()) {
    Qualifier q;
    if (!TakeQualifier(&qualifiers, &q)) return Damaged(qualifier, value, "qualifier is cut short");
    if (qualifier.size() == 2) RETURN_IF_ERROR(RepairSecondPoint(qualifier, &q, rest, repaired));
    RETURN_IF_ERROR(TakePoint(qualifier, value, q, rest, points));
  }
  return Status::Ok();
}

}  // namespace

Status ReadPointCell(ByteView qualifier, ByteView value, std::vector<StoredPoint>* points,
                     bool* repaired) {
  ByteView rest;
  return ReadPoints(qualifier, value, points, repaired, &rest);
}

Result<StrictCell> ParsePointCell(ByteView qualifier, ByteView value) {
  StrictCell cell;
  ByteView rest;
  RETURN_IF_ERROR(ReadPoints(qualifier, value, &cell.points, &cell.repaired, &rest));
  size_t qualifier_bytes = 0;
  for (const StoredPoint& point : cell.points)
    qualifier_bytes += static_cast<size_t>(point.qualifier.width());
  if (qualifier_bytes != qualifier.size()) return Damaged(qualifier, value, "value is cut short");
  const bool single = cell.points.size() == 1;
  if (rest.size() != (single ? 0 : 1)) {
    return Damaged(
        qualifier, value,
        single ? "value and flags differ in length" : "values do not end before the last byte");
  }
  if (!single) cell.trailer = ByteAt(rest, 0);
  const auto before = [](const StoredPoint& a, const StoredPoint& b) {
    return a.offset_ms() < b.offset_ms();
  };
  for (size_t i = 1; i < cell.points.size(); ++i) {
    if (!before(cell.points[i - 1], cell.points[i])) cell.sorted = false;
  }
  if (!cell.sorted) std::stable_sort(cell.points.begin(), cell.points.end(), before);
  return cell;
}

void EncodePointCell(std::span<const StoredPoint> points, Bytes* qualifier, Bytes* value) {
  INVARIANT(!points.empty());
  bool seconds = false;
  bool millis = false;
  for (const StoredPoint& point : points) {
    point.qualifier.AppendTo(qualifier);
    AppendValue(value, point.value());
    (point.qualifier.is_millis() ? millis : seconds) = true;
  }
  if (points.size() >= 2) value->push_back(seconds && millis ? 1 : 0);
}

}  // namespace hg::codec
