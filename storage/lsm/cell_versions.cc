#include "storage/lsm/cell_versions.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"

namespace hg::lsm {
namespace {

using Iterator = CellVersions::iterator;
constexpr int64_t kTimeMin = std::numeric_limits<int64_t>::min();

bool IsFamilyTombstone(const CellVersion& cell) {
  return cell.kind == CellKind::kDeleteFamily || cell.kind == CellKind::kDeleteFamilyVersion;
}
bool IsPut(const CellVersion& cell) { return cell.kind == CellKind::kPut; }
bool OfOneTime(CellKind kind) {
  return kind == CellKind::kDelete || kind == CellKind::kDeleteFamilyVersion;
}
bool SameColumn(const CellVersion& a, const CellVersion& b) {
  return a.family == b.family && a.qualifier == b.qualifier;
}
bool SameName(const CellVersion& a, const CellVersion& b) {
  return SameColumn(a, b) && a.timestamp_ms == b.timestamp_ms && a.kind == b.kind;
}

bool Hides(const FamilyDescriptor& family, const CellVersion& tombstone, const CellVersion& put) {
  const bool reaches = OfOneTime(tombstone.kind) ? put.timestamp_ms == tombstone.timestamp_ms
                                                 : put.timestamp_ms <= tombstone.timestamp_ms;
  // HBase's default: a tombstone also hides cells that are written later with an older time
  // (HBASE-2256).
  return reaches && (!family.new_version_behavior || tombstone.sequence >= put.sequence);
}

// Returns whether `wider` hides everything that `tombstone` hides.
bool Covers(const FamilyDescriptor& family, const CellVersion& wider,
            const CellVersion& tombstone) {
  if (&wider == &tombstone || IsPut(wider)) return false;
  if (IsFamilyTombstone(tombstone) && !IsFamilyTombstone(wider)) return false;
  if (family.new_version_behavior && wider.sequence < tombstone.sequence) return false;
  if (OfOneTime(wider.kind)) {
    return OfOneTime(tombstone.kind) && wider.timestamp_ms == tombstone.timestamp_ms &&
           wider.kind != tombstone.kind;
  }
  // If two tombstones cover each other, the one with the later time is kept. No two tombstones have
  // the same kind and time.
  return tombstone.timestamp_ms < wider.timestamp_ms ||
         (tombstone.timestamp_ms == wider.timestamp_ms && tombstone.kind != wider.kind);
}

using Tombstones = std::vector<const CellVersion*>;

bool Hidden(const FamilyDescriptor& family, const Tombstones& tombstones, const CellVersion& put) {
  return std::any_of(tombstones.begin(), tombstones.end(),
                     [&](const CellVersion* tombstone) { return Hides(family, *tombstone, put); });
}

// Decides which puts of one column the family keeps. Keeps must be called for all puts of the
// column, newest first. A put does not count as a version if it is hidden (unless deleted cells are
// kept), or if its own TTL is over.
class Keeper {
 public:
  Keeper(const FamilyDescriptor& family, int64_t now_ms) : family_(family), now_ms_(now_ms) {
    if (family.ttl_s != kTtlForever && now_ms > kTimeMin + family.ttl_s * 1000) {
      oldest_ms_ = now_ms - family.ttl_s * 1000;
    }
  }
  bool Keeps(const Tombstones& tombstones, const CellVersion& put) {
    if (put.expires_ms < now_ms_) return false;
    if (!family_.keep_deleted_cells && Hidden(family_, tombstones, put)) return false;
    ++rank_;
    if (rank_ > family_.versions) return false;
    return put.timestamp_ms >= oldest_ms_ || rank_ <= family_.min_versions;
  }

 private:
  const FamilyDescriptor& family_;
  const int64_t now_ms_;
  int64_t oldest_ms_ = kTimeMin;
  int32_t rank_ = 0;
};

Tombstones FamilyTombstones(Iterator first, Iterator last) {
  Tombstones tombstones;
  for (; first != last && first->qualifier.empty(); ++first) {
    if (IsFamilyTombstone(*first)) tombstones.push_back(&*first);
  }
  return tombstones;
}

// Flags the cells of a family that can be dropped. `drop` is parallel to [first, last).
class Tidier {
 public:
  Tidier(const FamilyDescriptor& family, const TidyOptions& options)
      : family_(family), options_(options) {}

  void Column(const Tombstones& family_tombstones, Iterator first, Iterator last, bool* drop) {
    Tombstones tombstones = family_tombstones;
    for (auto it = first; it != last; ++it) {
      if (!IsPut(*it) && !IsFamilyTombstone(*it)) tombstones.push_back(&*it);
    }
    Keeper keeper(family_, options_.now_ms);
    int64_t oldest_put = std::numeric_limits<int64_t>::max();
    for (auto it = first; it != last; ++it) {
      if (!IsPut(*it)) continue;
      drop[it - first] = !keeper.Keeps(tombstones, *it);
      if (!drop[it - first]) oldest_put = it->timestamp_ms;
    }
    oldest_of_family_ = std::min(oldest_of_family_, oldest_put);
    for (auto it = first; it != last; ++it) {
      if (!IsPut(*it) && !IsFamilyTombstone(*it))
        drop[it - first] = Goes(tombstones, *it, oldest_put);
    }
  }
  /// Returns whether a tombstone of the family can be dropped. Call this function after Column was
  /// called for all columns of the family.
  bool FamilyTombstoneGoes(const Tombstones& family_tombstones,
                           const CellVersion& tombstone) const {
    return Goes(family_tombstones, tombstone, oldest_of_family_);
  }

 private:
  bool Goes(const Tombstones& tombstones, const CellVersion& tombstone, int64_t oldest_put) const {
    // If deleted cells are kept, a tombstone is kept as long as any put that it hides.
    if (tombstone.timestamp_ms <= options_.tombstones_until_ms) {
      if (!family_.keep_deleted_cells || tombstone.timestamp_ms < oldest_put) return true;
    }
    return !family_.keep_deleted_cells &&
           std::any_of(tombstones.begin(), tombstones.end(), [&](const CellVersion* wider) {
             return Covers(family_, *wider, tombstone);
           });
  }

  const FamilyDescriptor& family_;
  const TidyOptions options_;
  int64_t oldest_of_family_ = std::numeric_limits<int64_t>::max();
};

std::pair<Iterator, Iterator> FamilyRange(CellVersions* row, uint8_t family) {
  const auto first = std::partition_point(
      row->begin(), row->end(), [family](const CellVersion& c) { return c.family < family; });
  const auto last = std::partition_point(
      first, row->end(), [family](const CellVersion& c) { return c.family == family; });
  return {first, last};
}

std::pair<Iterator, Iterator> ColumnRange(CellVersions* row, uint8_t family, ByteView qualifier) {
  const auto before = [&](const CellVersion& c) {
    return c.family != family ? c.family < family : c.qualifier < qualifier;
  };
  const auto first = std::partition_point(row->begin(), row->end(), before);
  const auto last = std::partition_point(first, row->end(), [&](const CellVersion& c) {
    return c.family == family && c.qualifier == qualifier;
  });
  return {first, last};
}

void EraseFlagged(CellVersions* row, Iterator first, Iterator last, const bool* drop) {
  auto to = first;
  for (auto it = first; it != last; ++it) {
    if (drop[it - first]) continue;
    if (to != it) *to = std::move(*it);
    ++to;
  }
  row->erase(to, last);
}

// Flags of a range. std::vector<bool> has no plain references to its elements.
struct Flags {
  explicit Flags(size_t n) : size(n), at(std::make_unique<bool[]>(n)) {}
  size_t size;
  std::unique_ptr<bool[]> at;
};

void TidyFamily(const FamilyDescriptor& family, const TidyOptions& options, CellVersions* row,
                Iterator first, Iterator last) {
  Flags drop(static_cast<size_t>(last - first));
  const Tombstones tombstones = FamilyTombstones(first, last);
  Tidier tidier(family, options);
  for (auto column = first; column != last;) {
    const auto next = std::find_if(
        column, last, [&](const CellVersion& c) { return c.qualifier != column->qualifier; });
    tidier.Column(tombstones, column, next, &drop.at[static_cast<size_t>(column - first)]);
    column = next;
  }
  for (const CellVersion* tombstone : tombstones) {
    drop.at[static_cast<size_t>(tombstone - &*first)] =
        tidier.FamilyTombstoneGoes(tombstones, *tombstone);
  }
  EraseFlagged(row, first, last, drop.at.get());
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

void AddVersion(Families families, CellVersion cell, CellVersions* row) {
  const uint8_t family = cell.family;
  if (family >= families.size() || families[family].name.empty()) return;
  const bool of_family = IsFamilyTombstone(cell);
  const Bytes qualifier = cell.qualifier;
  auto at = std::lower_bound(row->begin(), row->end(), cell, SortsBefore);
  if (at != row->end() && SameName(*at, cell)) {
    *at = std::move(cell);  // the new cell is the later write, because records arrive in order
  } else if (at != row->begin() && SameName(*std::prev(at), cell)) {
    return;
  } else {
    row->insert(at, std::move(cell));
  }
  const TidyOptions nothing_expires{kTimeMin, kTimeMin};
  const auto [first, last] = FamilyRange(row, family);
  if (of_family) {
    TidyFamily(families[family], nothing_expires, row, first, last);
    return;
  }
  const auto [column, column_end] = ColumnRange(row, family, qualifier);
  if (column_end - column == 1 && (first == column || !first->qualifier.empty())) return;
  Flags drop(static_cast<size_t>(column_end - column));
  Tidier(families[family], nothing_expires)
      .Column(FamilyTombstones(first, last), column, column_end, drop.at.get());
  EraseFlagged(row, column, column_end, drop.at.get());
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
  for (size_t end = row->size(); end > 0;) {
    const auto [first, last] = FamilyRange(row, (*row)[end - 1].family);
    const uint8_t family = first->family;
    end = static_cast<size_t>(first - row->begin());
    if (family < families.size() && !families[family].name.empty()) {
      TidyFamily(families[family], options, row, first, last);
    } else {
      row->erase(first, last);
    }
  }
}

std::vector<const CellVersion*> VisibleVersions(Families families, int64_t now_ms,
                                                const VersionRange& range,
                                                const CellVersions& row) {
  std::vector<const CellVersion*> seen;
  for (auto it = row.begin(); it != row.end();) {
    const uint8_t index = it->family;
    const auto family_end =
        std::find_if(it, row.end(), [index](const CellVersion& c) { return c.family != index; });
    if (index >= families.size() || families[index].name.empty()) {
      it = family_end;
      continue;
    }
    const FamilyDescriptor& family = families[index];
    Tombstones family_tombstones;
    for (auto m = it; m != family_end && m->qualifier.empty(); ++m) {
      if (IsFamilyTombstone(*m)) family_tombstones.push_back(&*m);
    }
    while (it != family_end) {
      const auto column_end = std::find_if(
          it, family_end, [&](const CellVersion& c) { return c.qualifier != it->qualifier; });
      Tombstones tombstones = family_tombstones;
      for (auto m = it; m != column_end; ++m) {
        if (!IsPut(*m) && !IsFamilyTombstone(*m)) tombstones.push_back(&*m);
      }
      // A read returns kept deleted cells whose tombstone lies outside of the time range of the
      // read (region-store.md D16).
      Tombstones in_range;
      if (family.keep_deleted_cells) {
        std::copy_if(
            tombstones.begin(), tombstones.end(), std::back_inserter(in_range),
            [&](const CellVersion* tombstone) { return range.Holds(tombstone->timestamp_ms); });
      }
      Keeper keeper(family, now_ms);
      int32_t given = 0;
      for (; it != column_end; ++it) {
        if (!IsPut(*it) || !keeper.Keeps(tombstones, *it) || !range.Holds(it->timestamp_ms))
          continue;
        if (family.keep_deleted_cells && Hidden(family, in_range, *it)) continue;
        if (given < range.max_versions) {
          seen.push_back(&*it);
          ++given;
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

size_t VersionsBytes(const CellVersions& row) {
  size_t bytes = 0;
  for (const CellVersion& cell : row) {
    bytes += sizeof cell + (cell.value.size() > 15 ? cell.value.size() : 0) +
             (cell.qualifier.size() > 15 ? cell.qualifier.size() : 0);
  }
  return bytes;
}

}  // namespace hg::lsm
