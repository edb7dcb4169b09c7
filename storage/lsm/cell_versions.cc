#include "storage/lsm/cell_versions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"

namespace hg::lsm {
namespace {

constexpr int64_t kTimeMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kTimeMax = std::numeric_limits<int64_t>::max();

bool HasFamily(Families families, uint8_t family) {
  return family < families.size() && !families[family].name.empty();
}

bool IsPut(const CellVersion& cell) { return cell.kind == CellKind::kPut; }
bool OfOneTime(CellKind kind) {
  return kind == CellKind::kDelete || kind == CellKind::kDeleteFamilyVersion;
}
bool SameColumn(const CellVersion& a, const CellVersion& b) {
  return a.family == b.family && a.qualifier == b.qualifier;
}
bool SameName(const CellVersion& a, const CellVersion& b) {
  return a.timestamp_ms == b.timestamp_ms && a.kind == b.kind && SameColumn(a, b);
}

// What the tombstones of one column, or of one family, hide. A tombstone hides only cells that sort
// after it by time and kind. Therefore the object need not store all tombstones: Add must be called
// for the tombstones in their order, and Hides for a cell that sorts after these and before all
// further tombstones.
//
// A tombstone is hidden if another tombstone hides everything that it hides. Then it is redundant.
class HiddenCells {
 public:
  void Add(const FamilyDescriptor& family, const CellVersion& tombstone) {
    // HBase's default: a tombstone also hides cells that are written later with an older time
    // (HBASE-2256).
    const uint64_t sequence = family.new_version_behavior ? tombstone.sequence : UINT64_MAX;
    if (OfOneTime(tombstone.kind)) {
      time_ms_ = tombstone.timestamp_ms;
      of_one_time_ = sequence;
    } else {
      up_to_time_ = std::max(up_to_time_, std::optional(sequence));
    }
  }
  [[nodiscard]] bool Hides(const CellVersion& cell) const {
    return up_to_time_ >= cell.sequence ||
           (time_ms_ == cell.timestamp_ms && of_one_time_ >= cell.sequence);
  }

 private:
  // Cells up to these sequence numbers are hidden. nullopt means that no cells are hidden.
  std::optional<uint64_t> up_to_time_;
  std::optional<uint64_t> of_one_time_;  // for the cells with the time time_ms_
  int64_t time_ms_ = 0;
};

// The tombstones of a family that `range` holds, for searches.
class FamilyTombstones {
 public:
  // [first, last) are all cells of the family.
  FamilyTombstones(const FamilyDescriptor& family, const VersionRange& range,
                   CellVersions::const_iterator first, CellVersions::const_iterator last) {
    HiddenCells hidden;
    for (; first != last && first->qualifier.empty(); ++first) {
      if (!IsFamilyTombstone(*first) || !range.Holds(first->timestamp_ms)) continue;
      hidden.Add(family, *first);
      tombstones_.push_back({first->timestamp_ms, first->kind, hidden});
    }
  }
  [[nodiscard]] bool Hide(const CellVersion& cell) const {
    const auto after = std::partition_point(tombstones_.begin(), tombstones_.end(),
                                            [&cell](const Tombstone& tombstone) {
                                              return std::tie(tombstone.time_ms, tombstone.kind) >
                                                     std::tie(cell.timestamp_ms, cell.kind);
                                            });
    return after != tombstones_.begin() && std::prev(after)->hidden.Hides(cell);
  }

 private:
  struct Tombstone {
    int64_t time_ms;
    CellKind kind;
    HiddenCells hidden;  // by this tombstone and the preceding ones
  };
  std::vector<Tombstone> tombstones_;  // in the order of SortsBefore
};

// Decides which cells of one column the family keeps. The functions must be called for all cells of
// the column, in their order.
class Column {
 public:
  Column(const FamilyDescriptor& family, const FamilyTombstones& of_family, int64_t now_ms)
      : family_(family), of_family_(of_family), now_ms_(now_ms) {
    if (family.ttl_s != kTtlForever && now_ms > kTimeMin + family.ttl_s * 1000) {
      oldest_ms_ = now_ms - family.ttl_s * 1000;
    }
  }
  void AddTombstone(const CellVersion& tombstone) { hidden_.Add(family_, tombstone); }
  [[nodiscard]] bool Hides(const CellVersion& cell) const {
    return of_family_.Hide(cell) || (!IsFamilyTombstone(cell) && hidden_.Hides(cell));
  }
  // A put does not count as a version if it is hidden (unless deleted cells are kept), or if its
  // own TTL is over.
  bool KeepsPut(const CellVersion& put) {
    if (put.expires_ms < now_ms_) return false;
    if (!family_.keep_deleted_cells && Hides(put)) return false;
    ++rank_;
    if (rank_ > family_.versions) return false;
    return put.timestamp_ms >= oldest_ms_ || rank_ <= family_.min_versions;
  }

 private:
  const FamilyDescriptor& family_;
  const FamilyTombstones& of_family_;
  const int64_t now_ms_;
  HiddenCells hidden_;  // by the tombstones of the column
  int64_t oldest_ms_ = kTimeMin;
  int32_t rank_ = 0;
};

template <typename Iterator>
Iterator EndOfFamily(Iterator first, Iterator end) {
  return std::partition_point(first, end,
                              [&](const CellVersion& c) { return c.family == first->family; });
}
template <typename Iterator>
Iterator EndOfColumn(Iterator first, Iterator end) {
  return std::find_if(first, end,
                      [&](const CellVersion& c) { return c.qualifier != first->qualifier; });
}

// Moves the cells in [first, last) that the family keeps to `to`. These are all cells of the
// family. Returns the end of the moved cells.
CellVersions::iterator MoveKept(const FamilyDescriptor& family, const TidyOptions& options,
                                CellVersions::iterator first, CellVersions::iterator last,
                                CellVersions::iterator to) {
  const FamilyTombstones of_family(family, {}, first, last);
  const auto is_old = [&](const CellVersion& tombstone) {
    return options.tombstones_until_ms > kTimeMin &&
           tombstone.timestamp_ms <= options.tombstones_until_ms;
  };
  const auto family_to = to;
  int64_t oldest_of_family = kTimeMax;
  while (first != last) {
    const auto end = EndOfColumn(first, last);
    const auto column_to = to;
    int64_t oldest_put = kTimeMax;
    Column column(family, of_family, options.now_ms);
    for (; first != end; ++first) {
      bool keeps;
      if (IsPut(*first)) {
        keeps = column.KeepsPut(*first);
        if (keeps) oldest_put = first->timestamp_ms;
      } else {
        keeps = family.keep_deleted_cells || !(is_old(*first) || column.Hides(*first));
        if (!IsFamilyTombstone(*first)) column.AddTombstone(*first);
      }
      if (!keeps) continue;
      if (to != first) *to = std::move(*first);
      ++to;
    }
    if (!family.keep_deleted_cells) continue;
    oldest_of_family = std::min(oldest_of_family, oldest_put);
    // If deleted cells are kept, a tombstone is kept as long as any put that it hides.
    to = std::remove_if(column_to, to, [&](const CellVersion& c) {
      return !IsPut(c) && !IsFamilyTombstone(c) && is_old(c) && c.timestamp_ms < oldest_put;
    });
  }
  if (!family.keep_deleted_cells || !options.whole_row) return to;
  return std::remove_if(family_to, to, [&](const CellVersion& c) {
    return IsFamilyTombstone(c) && is_old(c) && c.timestamp_ms < oldest_of_family;
  });
}

enum : uint8_t { kKindMask = 0x0F, kSameColumn = 0x10, kExpires = 0x20 };

// The fields by which encoded versions are sorted.
struct VersionName {
  uint8_t family = 0;
  CellKind kind = CellKind::kPut;
  ByteView qualifier;
  int64_t timestamp_ms = 0;
  uint64_t sequence = 0;
};

// Returns whether `name` sorts after `before` in the order of SortsBefore. There is at most one
// version for each family, qualifier, time and kind.
bool SortsBehind(const VersionName& before, const VersionName& name) {
  return std::tie(before.family, before.qualifier, name.timestamp_ms, name.kind) <
         std::tie(name.family, name.qualifier, before.timestamp_ms, before.kind);
}

bool KnownKind(uint8_t kind) {
  return kind == 4 || kind == 8 || kind == 10 || kind == 12 || kind == 14;
}

}  // namespace

bool SortsBefore(const CellVersion& a, const CellVersion& b) {
  return std::tie(a.family, a.qualifier, b.timestamp_ms, b.kind, b.sequence) <
         std::tie(b.family, b.qualifier, a.timestamp_ms, a.kind, a.sequence);
}

bool IsFamilyTombstone(const CellVersion& cell) {
  return cell.kind == CellKind::kDeleteFamily || cell.kind == CellKind::kDeleteFamilyVersion;
}

void SortVersions(CellVersions* written) {
  // Of equal cells, the one that was written last must come first, because std::unique keeps it.
  std::reverse(written->begin(), written->end());
  std::stable_sort(written->begin(), written->end(), SortsBefore);
}

void AddVersions(Families families, CellVersions added, CellVersions* row) {
  SortVersions(&added);
  // Merges the two lists from the end, so that only the cells after the first new one are moved.
  size_t old = row->size();
  row->resize(row->size() + added.size());
  auto to = row->end();
  while (!added.empty()) {
    CellVersion& newest = added.back();
    if (old > 0 && !SortsBefore((*row)[old - 1], newest)) {
      *--to = std::move((*row)[--old]);
    } else {
      *--to = std::move(newest);
      added.pop_back();
    }
  }
  if (to != row->begin()) --to;
  row->erase(std::unique(to, row->end(), SameName), row->end());
  TidyVersions(families, {kTimeMin, kTimeMin}, row);
  if (row->capacity() > 2 * row->size()) row->shrink_to_fit();
}

CellVersions MergeVersions(CellVersions newer, CellVersions older) {
  if (older.empty()) return newer;
  if (newer.empty()) return older;
  CellVersions result;
  result.reserve(newer.size() + older.size());
  std::merge(std::make_move_iterator(newer.begin()), std::make_move_iterator(newer.end()),
             std::make_move_iterator(older.begin()), std::make_move_iterator(older.end()),
             std::back_inserter(result), SortsBefore);
  // Several versions may have the same name; the first of them was written last and is kept.
  result.erase(std::unique(result.begin(), result.end(), SameName), result.end());
  return result;
}

void TidyVersions(Families families, const TidyOptions& options, CellVersions* row) {
  auto to = row->begin();
  for (auto it = row->begin(); it != row->end();) {
    const uint8_t family = it->family;
    const auto end = EndOfFamily(it, row->end());
    if (HasFamily(families, family)) to = MoveKept(families[family], options, it, end, to);
    it = end;
  }
  row->erase(to, row->end());
}

std::vector<const CellVersion*> VisibleVersions(Families families, int64_t now_ms,
                                                const VersionRange& range,
                                                const CellVersions& row) {
  std::vector<const CellVersion*> seen;
  for (auto it = row.begin(); it != row.end();) {
    const auto family_end = EndOfFamily(it, row.end());
    if (!HasFamily(families, it->family)) {
      it = family_end;
      continue;
    }
    const FamilyDescriptor& family = families[it->family];
    // A read returns kept deleted cells whose tombstone lies outside of the time range of the read
    // (region-store.md D16).
    const VersionRange deleting = family.keep_deleted_cells ? range : VersionRange();
    const FamilyTombstones of_family(family, deleting, it, family_end);
    while (it != family_end) {
      const auto end = EndOfColumn(it, family_end);
      Column column(family, of_family, now_ms);
      int32_t given = 0;
      for (; it != end; ++it) {
        if (IsPut(*it)) {
          if (!column.KeepsPut(*it) || !range.Holds(it->timestamp_ms)) continue;
          if (family.keep_deleted_cells && column.Hides(*it)) continue;
          if (given < range.max_versions) {
            seen.push_back(&*it);
            ++given;
          }
        } else if (!IsFamilyTombstone(*it) && deleting.Holds(it->timestamp_ms)) {
          column.AddTombstone(*it);
        }
      }
    }
  }
  return seen;
}

void EncodeVersions(const CellVersions& row, Bytes* out) {
  AppendVarint(out, row.size());
  const CellVersion* before = nullptr;
  for (const CellVersion& cell : row) {
    const bool same = before != nullptr && SameColumn(*before, cell);
    const bool expires = cell.expires_ms != kNeverExpires;
    out->push_back(static_cast<char>(static_cast<int>(cell.kind) | (same ? kSameColumn : 0) |
                                     (expires ? kExpires : 0)));
    if (!same) {
      out->push_back(static_cast<char>(cell.family));
      AppendSized(out, cell.qualifier);
    }
    AppendVarint(out, ZigZag(cell.timestamp_ms));
    AppendVarint(out, cell.sequence);
    if (expires) AppendVarint(out, ZigZag(cell.expires_ms));
    if (IsPut(cell)) AppendSized(out, cell.value);
    before = &cell;
  }
}

bool DecodeVersions(ByteView* in, CellVersions* row, const ColumnChoice& wanted) {
  row->clear();
  uint64_t count;
  if (!GetVarint64(in, &count) || count > in->size()) return false;
  if (wanted.all()) row->reserve(count);
  VersionName before;
  for (uint64_t i = 0; i < count; ++i) {
    if (in->empty()) return false;
    const uint8_t flags = ByteAt(*in, 0);
    in->remove_prefix(1);
    const auto kind = static_cast<uint8_t>(flags & kKindMask);
    if (!KnownKind(kind) || (flags & ~(kKindMask | kSameColumn | kExpires)) != 0) return false;
    VersionName name = before;
    name.kind = static_cast<CellKind>(kind);
    if ((flags & kSameColumn) != 0) {
      if (i == 0) return false;
    } else {
      if (in->empty()) return false;
      name.family = ByteAt(*in, 0);
      in->remove_prefix(1);
      if (!TakeSized(in, &name.qualifier)) return false;
    }
    uint64_t v;
    if (!GetVarint64(in, &v)) return false;
    name.timestamp_ms = UnZigZag(v);
    if (!GetVarint64(in, &name.sequence)) return false;
    int64_t expires_ms = kNeverExpires;
    if ((flags & kExpires) != 0) {
      if (!GetVarint64(in, &v)) return false;
      expires_ms = UnZigZag(v);
    }
    ByteView value;
    if (name.kind == CellKind::kPut && !TakeSized(in, &value)) return false;
    // Other code relies on the order of the versions.
    if (i > 0 && !SortsBehind(before, name)) return false;
    before = name;
    if (!wanted.Has(name.qualifier) && !name.qualifier.empty()) continue;
    row->push_back({name.family, name.kind, Bytes(name.qualifier), Bytes(value), name.timestamp_ms,
                    expires_ms, name.sequence});
  }
  return true;
}

size_t VersionsBytes(std::span<const CellVersion> versions) {
  size_t bytes = 0;
  for (const CellVersion& cell : versions) {
    bytes += sizeof cell + (cell.value.size() > 15 ? cell.value.size() : 0) +
             (cell.qualifier.size() > 15 ? cell.qualifier.size() : 0);
  }
  return bytes;
}

}  // namespace hg::lsm
