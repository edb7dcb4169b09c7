#include "storage/codec/append_cell.h"

#include <algorithm>

#include "storage/codec/value.h"

namespace hg::codec {
namespace {

Status Damaged(ByteView value, size_t at, const char* why) {
  return Status::Corruption(std::string("append cell at byte ") + std::to_string(at) + ": " + why +
                            " (value " + ToHexUpper(value) + ")");
}

// Sorts the points. If several have equal offsets, keeps the last one.
void SortAndDropDuplicates(std::vector<StoredPoint>* points) {
  std::stable_sort(points->begin(), points->end(), [](const StoredPoint& a, const StoredPoint& b) {
    return a.offset_ms() < b.offset_ms();
  });
  size_t kept = 0;
  for (size_t i = 0; i < points->size(); ++i) {
    if (kept > 0 && (*points)[kept - 1].offset_ms() == (*points)[i].offset_ms()) --kept;
    (*points)[kept++] = (*points)[i];
  }
  points->resize(kept);
}

}  // namespace

void AppendPair(Bytes* out, const StoredPoint& point) {
  point.qualifier.AppendTo(out);
  AppendValue(out, point.value());
}

Result<AppendCell> ParseAppendCell(ByteView value) {
  AppendCell cell;
  ByteView rest = value;
  while (!rest.empty()) {
    const size_t at = value.size() - rest.size();
    Qualifier qualifier;
    if (!TakeQualifier(&rest, &qualifier)) return Damaged(value, at, "qualifier is cut short");
    if (!qualifier.valid_flags()) return Damaged(value, at, "flags that no value can have");
    const auto width = static_cast<size_t>(qualifier.value_width());
    if (rest.size() < width) return Damaged(value, at, "value is cut short");
    if (!cell.points.empty() && qualifier.offset_ms() <= cell.points.back().offset_ms())
      cell.needs_repair = true;
    cell.points.push_back({qualifier, ReadValueBits(rest.data(), qualifier.flags())});
    rest.remove_prefix(width);
  }
  if (cell.needs_repair) SortAndDropDuplicates(&cell.points);
  return cell;
}

}  // namespace hg::codec
