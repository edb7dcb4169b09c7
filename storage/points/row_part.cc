#include "storage/points/row_part.h"

#include <algorithm>
#include <iterator>

#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/value.h"

namespace hg::points {
namespace {

constexpr uint32_t kReservedBits = 0x30;  // reserved bits of the millisecond form
constexpr uint32_t kRowMillis = kRowSpan * 1000;

// Function objects, so that sorting inlines them.
constexpr auto Earlier = [](const PartPoint& a, const PartPoint& b) {
  return a.offset_ms() < b.offset_ms();
};
constexpr auto ByQualifier = [](const RawCell& a, const RawCell& b) {
  return a.qualifier < b.qualifier;
};

template <typename Cells>
auto FindRaw(Cells& raw, ByteView qualifier) {
  auto it = std::lower_bound(
      raw.begin(), raw.end(), qualifier,
      [](const RawCell& cell, ByteView q) { return cell.qualifier.compare(q) < 0; });
  return it != raw.end() && it->qualifier == qualifier ? it : raw.end();
}

bool Contains(const std::vector<Bytes>& sorted, ByteView qualifier) {
  return std::binary_search(sorted.begin(), sorted.end(), qualifier);
}

std::vector<PartPoint>::iterator FindPoint(std::vector<PartPoint>& points, codec::Qualifier q) {
  auto it = std::lower_bound(points.begin(), points.end(), PartPoint{q, 0, 0}, Earlier);
  for (; it != points.end() && it->offset_ms() == q.offset_ms(); ++it) {
    if (it->qualifier == q) return it;
  }
  return points.end();
}

// Inserts a point as the newest of its time and sequence. Its qualifier must not be present yet.
void InsertPoint(PartPoint point, std::vector<PartPoint>* points) {
  auto at = std::upper_bound(points->begin(), points->end(), point, Earlier);
  while (at != points->begin() && !Earlier(at[-1], point) && at[-1].sequence > point.sequence) {
    --at;
  }
  points->insert(at, point);
}

// Returns the form of a row. A row with an operand under the qualifier of a point counts as written
// by single cells, whatever the operand becomes.
RowForm FormOf(const RowPart& part) {
  for (const RawCell& cell : part.raw) {
    codec::Qualifier q;
    if (cell.operand && CanonicalQualifier(cell.qualifier, &q)) {
      return JoinForms(part.form, RowForm::kSingle);
    }
  }
  return part.form;
}

// Appends the newer operand to the value that the older RowPart holds under its qualifier, and
// removes that value from the older RowPart.
void JoinOperand(RowPart* older, RawCell* operand) {
  Bytes before;
  if (auto raw = FindRaw(older->raw, operand->qualifier); raw != older->raw.end()) {
    before = std::move(raw->value);
    operand->operand = raw->operand;
    older->raw.erase(raw);
  } else if (codec::Qualifier q; CanonicalQualifier(operand->qualifier, &q)) {
    auto point = FindPoint(older->points, q);
    if (point != older->points.end()) {
      codec::AppendValue(&before, {point->bits, q.flags()});
      operand->operand = false;
      older->points.erase(point);
    }
  }
  if (older->cleared || Contains(older->gone, operand->qualifier)) operand->operand = false;
  operand->value = before + operand->value;
}

// Moves raw cells that are canonical points to the points. JoinOperand may have completed the value
// of such a cell.
void MoveCanonicalRaw(RowPart* part) {
  std::erase_if(part->raw, [part](const RawCell& cell) {
    PartPoint point;
    if (cell.operand || !CanonicalPoint(cell.qualifier, cell.value, &point)) return false;
    point.sequence = cell.sequence;
    InsertPoint(point, &part->points);
    part->form = JoinForms(part->form, RowForm::kSingle);
    return true;
  });
}

void DropOlderPoints(const RowPart& newer, std::vector<PartPoint>* older) {
  if (older->empty()) return;
  if (!newer.raw.empty() || !newer.gone.empty()) {
    std::erase_if(*older, [&](const PartPoint& point) {
      Bytes q = point.qualifier.Encode();
      return FindRaw(newer.raw, q) != newer.raw.end() || Contains(newer.gone, q);
    });
  }
  // Both lists are in ascending order of time, so one pass finds the common qualifiers.
  auto from = newer.points.begin();
  std::erase_if(*older, [&](const PartPoint& point) {
    while (from != newer.points.end() && Earlier(*from, point)) ++from;
    for (auto it = from; it != newer.points.end() && it->offset_ms() == point.offset_ms(); ++it) {
      if (it->qualifier == point.qualifier) return true;
    }
    return false;
  });
}

bool NewerHas(const RowPart& newer, std::vector<PartPoint>* newer_points, ByteView qualifier) {
  if (FindRaw(newer.raw, qualifier) != newer.raw.end() || Contains(newer.gone, qualifier))
    return true;
  codec::Qualifier q;
  return CanonicalQualifier(qualifier, &q) && FindPoint(*newer_points, q) != newer_points->end();
}

// Removes from `gone` the qualifiers for which the RowPart has a raw cell or a point.
void DropHeld(RowPart* part) {
  if (part->cleared) {
    part->gone.clear();
    return;
  }
  std::erase_if(part->gone, [part](const Bytes& qualifier) {
    if (FindRaw(part->raw, qualifier) != part->raw.end()) return true;
    codec::Qualifier q;
    return CanonicalQualifier(qualifier, &q) && FindPoint(part->points, q) != part->points.end();
  });
}

// Decodes the points of a compacted cell that a client wrote. Returns false unless they ascend
// strictly, are all canonical, and give the same cell when they are encoded.
bool LoadedPoints(const RawCell& cell, std::vector<PartPoint>* points) {
  if (codec::ClassifyQualifier(cell.qualifier) != codec::CellClass::kCompacted) return false;
  auto parsed = codec::ParsePointCell(cell.qualifier, cell.value);
  if (!parsed.ok() || !parsed->sorted || parsed->points.size() < 2) return false;
  Bytes qualifier;
  Bytes value;
  codec::EncodePointCell(parsed->points, &qualifier, &value);
  if (qualifier != cell.qualifier || value != cell.value) return false;
  for (const auto& point : parsed->points) {
    codec::Qualifier q;
    if (!CanonicalQualifier(point.qualifier.Encode(), &q)) return false;
  }
  for (const auto& point : parsed->points) {
    points->push_back({point.qualifier, cell.sequence, point.bits});
  }
  return true;
}

// Sorts the points; the sort is stable. Points from several connections are usually a few positions
// out of order, which an insertion sort fixes quickly. For other orders, std::stable_sort is used.
void SortNearlySorted(std::vector<PartPoint>* points) {
  size_t swaps_left = 4 * points->size();
  for (size_t i = 1; i < points->size(); ++i) {
    for (size_t j = i; j > 0 && Earlier((*points)[j], (*points)[j - 1]); --j) {
      if (swaps_left-- == 0) {
        std::stable_sort(points->begin(), points->end(), Earlier);
        return;
      }
      std::swap((*points)[j], (*points)[j - 1]);
    }
  }
}

// Sorts by time and keeps the last point of each qualifier. Most rows arrive in order and need no
// work.
void SortPoints(std::vector<PartPoint>* points) {
  const auto not_rising = [](const PartPoint& a, const PartPoint& b) { return !Earlier(a, b); };
  if (std::adjacent_find(points->begin(), points->end(), not_rising) == points->end()) return;
  SortNearlySorted(points);
  // At most 12 points have the same time: two resolutions and six types.
  std::vector<codec::Qualifier> newer;
  auto keep = points->end();
  for (auto it = points->end(); it != points->begin();) {
    --it;
    if (keep != points->end() && keep->offset_ms() != it->offset_ms()) newer.clear();
    if (std::find(newer.begin(), newer.end(), it->qualifier) != newer.end()) continue;
    newer.push_back(it->qualifier);
    *--keep = *it;
  }
  points->erase(points->begin(), keep);
}

}  // namespace

RowForm JoinForms(RowForm a, RowForm b) {
  if (a == RowForm::kNone) return b;
  if (b == RowForm::kNone) return a;
  return a == b ? a : RowForm::kAuto;
}

bool CanonicalQualifier(ByteView qualifier, codec::Qualifier* q) {
  ByteView rest = qualifier;
  if (!codec::TakeQualifier(&rest, q) || !rest.empty()) return false;
  return q->valid_flags() && q->offset_ms() < kRowMillis &&
         !(q->is_millis() && (q->bits & kReservedBits) != 0);
}

bool CanonicalPoint(ByteView qualifier, ByteView value, PartPoint* point) {
  codec::Qualifier q;
  if (!CanonicalQualifier(qualifier, &q)) return false;
  if (value.size() != static_cast<size_t>(q.value_width())) return false;
  *point = {q, 0, codec::ReadValueBits(value.data(), q.flags())};
  return true;
}

bool TouchesPoints(ByteView qualifier) {
  return !codec::IsObjectQualifier(qualifier) ||
         codec::ClassifyQualifier(qualifier) == codec::CellClass::kAppend;
}

bool NamesSeveralPoints(ByteView qualifier) {
  codec::Qualifier q;
  return codec::ClassifyQualifier(qualifier) == codec::CellClass::kCompacted &&
         !CanonicalQualifier(qualifier, &q);
}

RowPart Merge(RowPart newer, RowPart older) {
  if (newer.cleared) {
    newer.gone.clear();
    return newer;
  }
  const RowForm form = JoinForms(FormOf(newer), FormOf(older));
  for (RawCell& cell : newer.raw) {
    if (cell.operand) JoinOperand(&older, &cell);
  }
  DropOlderPoints(newer, &older.points);
  std::erase_if(older.raw, [&](const RawCell& cell) {
    return NewerHas(newer, &newer.points, cell.qualifier);
  });

  RowPart result;
  result.cleared = older.cleared;
  result.form = form;
  // For equal elements, std::merge takes from its first range. So older points precede newer ones
  // of the same time.
  result.points.reserve(older.points.size() + newer.points.size());
  std::merge(older.points.begin(), older.points.end(), newer.points.begin(), newer.points.end(),
             std::back_inserter(result.points), Earlier);
  std::merge(std::make_move_iterator(older.raw.begin()), std::make_move_iterator(older.raw.end()),
             std::make_move_iterator(newer.raw.begin()), std::make_move_iterator(newer.raw.end()),
             std::back_inserter(result.raw), ByQualifier);
  std::set_union(older.gone.begin(), older.gone.end(), newer.gone.begin(), newer.gone.end(),
                 std::back_inserter(result.gone));
  MoveCanonicalRaw(&result);
  DropHeld(&result);
  return result;
}

void Settle(RowPart* part) {
  for (RawCell& cell : part->raw) cell.operand = false;
  MoveCanonicalRaw(part);
  part->cleared = false;
  part->gone.clear();
  if (part->points.empty()) part->form = RowForm::kNone;

  const RawCell* lone = nullptr;
  for (const RawCell& cell : part->raw) {
    if (!TouchesPoints(cell.qualifier)) continue;
    if (lone != nullptr) return;
    lone = &cell;
  }
  if (lone == nullptr || !part->points.empty() || !LoadedPoints(*lone, &part->points)) {
    return;
  }
  part->form = RowForm::kOne;
  part->raw.erase(part->raw.begin() + (lone - part->raw.data()));
}

void Normalize(RowPart* part) {
  SortPoints(&part->points);

  std::stable_sort(part->raw.begin(), part->raw.end(), ByQualifier);
  auto same = [](const RawCell& a, const RawCell& b) { return a.qualifier == b.qualifier; };
  part->raw.erase(part->raw.begin(),
                  std::unique(part->raw.rbegin(), part->raw.rend(), same).base());
  if (!part->raw.empty() && !part->points.empty()) {
    std::erase_if(part->points, [part](const PartPoint& point) {
      return FindRaw(part->raw, point.qualifier.Encode()) != part->raw.end();
    });
  }
  part->form = FormOf(*part);
  MoveCanonicalRaw(part);
  std::sort(part->gone.begin(), part->gone.end());
  part->gone.erase(std::unique(part->gone.begin(), part->gone.end()), part->gone.end());
  DropHeld(part);
}

}  // namespace hg::points
