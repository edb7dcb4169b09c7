#include "storage/lsm/cell_row.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"

namespace hg::lsm {
namespace {

bool Before(const StoredCell& cell, uint8_t family, ByteView qualifier) {
  return cell.family != family ? cell.family < family : cell.qualifier < qualifier;
}
bool Same(const StoredCell& cell, uint8_t family, ByteView qualifier) {
  return cell.family == family && cell.qualifier == qualifier;
}

enum : uint8_t { kHasValue = 1, kHasTombstone = 2, kOperand = 4 };
// Marks a row with versions. This number is stored in the field for the number of family
// tombstones.
constexpr uint64_t kHasVersions = 257;

bool TakeSigned(ByteView* in, int64_t* out) {
  uint64_t v;
  if (!GetVarint64(in, &v)) return false;
  *out = UnZigZag(v);
  return true;
}

}  // namespace

std::vector<StoredCell>::iterator CellRow::Place(uint8_t family, ByteView qualifier) {
  return std::lower_bound(
      cells.begin(), cells.end(), qualifier,
      [family](const StoredCell& cell, ByteView q) { return Before(cell, family, q); });
}

const StoredCell* CellRow::Find(uint8_t family, ByteView qualifier) const {
  auto it = const_cast<CellRow*>(this)->Place(family, qualifier);
  return it != cells.end() && Same(*it, family, qualifier) ? &*it : nullptr;
}

void CellRow::Put(uint8_t family, ByteView qualifier, ByteView value, int64_t timestamp_ms) {
  auto it = Place(family, qualifier);
  if (it == cells.end() || !Same(*it, family, qualifier)) {
    it = cells.insert(it, StoredCell{});
    it->family = family;
    it->qualifier = qualifier;
  }
  it->has_value = true;
  it->operand = false;
  it->value = value;
  it->timestamp_ms = timestamp_ms;
}

void CellRow::Append(uint8_t family, ByteView qualifier, ByteView more, int64_t timestamp_ms,
                     int64_t tombstone_ms) {
  auto it = Place(family, qualifier);
  if (it == cells.end() || !Same(*it, family, qualifier)) {
    it = cells.insert(it, StoredCell{});
    it->family = family;
    it->qualifier = qualifier;
    it->operand = true;
  }
  it->has_value = true;
  it->value += more;
  it->timestamp_ms = timestamp_ms;
  it->tombstone_ms = tombstone_ms;
}

void CellRow::DeleteColumn(uint8_t family, ByteView qualifier, int64_t tombstone_ms) {
  auto it = Place(family, qualifier);
  if (it == cells.end() || !Same(*it, family, qualifier)) {
    it = cells.insert(it, StoredCell{});
    it->family = family;
    it->qualifier = qualifier;
  }
  it->tombstone_ms = std::max(it->tombstone_ms, tombstone_ms);
  it->has_value = it->operand = false;
  it->value.clear();
  it->timestamp_ms = 0;
}

void CellRow::DeleteFamily(uint8_t family, int64_t tombstone_ms) {
  if (family_tombstones.size() <= family)
    family_tombstones.resize(family + size_t{1}, kNoTombstone);
  family_tombstones[family] = std::max(family_tombstones[family], tombstone_ms);
  std::erase_if(cells, [family](const StoredCell& cell) { return cell.family == family; });
}

void CellRow::Erase(uint8_t family, ByteView qualifier) {
  auto it = Place(family, qualifier);
  if (it != cells.end() && Same(*it, family, qualifier)) cells.erase(it);
}

void CellRow::Keep(const ColumnChoice& wanted) {
  if (wanted.all()) return;
  std::erase_if(cells, [&](const StoredCell& cell) { return !wanted.Has(cell.qualifier); });
  std::erase_if(versions, [&](const CellVersion& cell) {
    return !cell.qualifier.empty() && !wanted.Has(cell.qualifier);
  });
}

void CellRow::DropTombstones() {
  family_tombstones.clear();
  std::erase_if(cells, [](StoredCell& cell) {
    cell.tombstone_ms = kNoTombstone;
    cell.operand = false;
    return !cell.has_value;
  });
}

bool CellRow::HasTombstones() const {
  return std::any_of(family_tombstones.begin(), family_tombstones.end(),
                     [](int64_t tombstone) { return tombstone != kNoTombstone; }) ||
         std::any_of(cells.begin(), cells.end(),
                     [](const StoredCell& cell) { return !cell.has_value; }) ||
         std::any_of(versions.begin(), versions.end(),
                     [](const CellVersion& cell) { return cell.kind != CellKind::kPut; });
}

size_t CellRow::MemoryBytes() const {
  size_t bytes = family_tombstones.capacity() * sizeof(int64_t) + VersionsBytes(versions);
  for (const StoredCell& cell : cells) {
    bytes +=
        sizeof cell + cell.value.size() + (cell.qualifier.size() > 15 ? cell.qualifier.size() : 0);
  }
  return bytes;
}

CellRow MergeRows(CellOrder order, CellRow newer, CellRow older) {
  if (order == CellOrder::kByTime) {
    newer.versions = MergeVersions(std::move(newer.versions), std::move(older.versions));
    return newer;
  }
  if (older.empty()) return newer;
  if (newer.empty()) return older;
  CellRow result;
  result.family_tombstones = newer.family_tombstones;
  if (result.family_tombstones.size() < older.family_tombstones.size()) {
    result.family_tombstones.resize(older.family_tombstones.size(), kNoTombstone);
  }
  for (size_t i = 0; i < older.family_tombstones.size(); ++i) {
    result.family_tombstones[i] = std::max(result.family_tombstones[i], older.family_tombstones[i]);
  }
  result.cells.reserve(newer.cells.size() + older.cells.size());
  auto n = newer.cells.begin();
  for (StoredCell& cell : older.cells) {
    if (newer.FamilyTombstone(cell.family) != kNoTombstone) continue;
    for (; n != newer.cells.end() && Before(*n, cell.family, cell.qualifier); ++n) {
      result.cells.push_back(std::move(*n));
    }
    const bool both = n != newer.cells.end() && Same(*n, cell.family, cell.qualifier);
    if (!both) {
      result.cells.push_back(std::move(cell));
    } else {
      // The tombstone of either row applies to everything older than both rows.
      n->tombstone_ms = std::max(n->tombstone_ms, cell.tombstone_ms);
      if (n->operand) {
        n->value = cell.value + n->value;
        // If the older cell is not an operand, the result is a value.
        n->operand = cell.operand;
      }
      result.cells.push_back(std::move(*n++));
    }
  }
  std::move(n, newer.cells.end(), std::back_inserter(result.cells));
  return result;
}

void EncodeCellRow(const CellRow& row, Bytes* out) {
  if (!row.versions.empty()) {
    INVARIANT(row.cells.empty() && row.family_tombstones.empty());
    AppendVarint(out, kHasVersions);
    EncodeVersions(row.versions, out);
    return;
  }
  AppendVarint(out, row.family_tombstones.size());
  for (const int64_t tombstone : row.family_tombstones) {
    out->push_back(tombstone != kNoTombstone ? 1 : 0);
    if (tombstone != kNoTombstone) AppendVarint(out, ZigZag(tombstone));
  }
  AppendVarint(out, row.cells.size());
  for (const StoredCell& cell : row.cells) {
    const int flags = (cell.has_value ? kHasValue : 0) |
                      (cell.tombstone_ms != kNoTombstone ? kHasTombstone : 0) |
                      (cell.operand ? kOperand : 0);
    out->push_back(static_cast<char>(flags));
    out->push_back(static_cast<char>(cell.family));
    AppendSized(out, cell.qualifier);
    if (cell.tombstone_ms != kNoTombstone) AppendVarint(out, ZigZag(cell.tombstone_ms));
    if (!cell.has_value) continue;
    AppendVarint(out, ZigZag(cell.timestamp_ms));
    AppendSized(out, cell.value);
  }
}

bool DecodeCellRow(ByteView in, CellRow* row, const ColumnChoice& wanted) {
  *row = CellRow();
  uint64_t count;
  if (!GetVarint64(&in, &count) || count > kHasVersions) return false;
  if (count == kHasVersions) return DecodeVersions(&in, &row->versions, wanted) && in.empty();
  row->family_tombstones.assign(count, kNoTombstone);
  for (int64_t& tombstone : row->family_tombstones) {
    if (in.empty() || ByteAt(in, 0) > 1) return false;
    const bool has = in[0] != 0;
    in.remove_prefix(1);
    if (has && !TakeSigned(&in, &tombstone)) return false;
  }
  if (!GetVarint64(&in, &count) || count > in.size()) return false;
  if (wanted.all()) row->cells.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (in.size() < 2) return false;
    const uint8_t flags = ByteAt(in, 0);
    const uint8_t family = ByteAt(in, 1);
    in.remove_prefix(2);
    const bool known = flags != 0 && flags <= 7 && (flags & (kHasValue | kOperand)) != kOperand;
    ByteView qualifier, value;
    if (!known || !TakeSized(&in, &qualifier)) return false;
    int64_t tombstone_ms = kNoTombstone, timestamp_ms = 0;
    if ((flags & kHasTombstone) != 0 && !TakeSigned(&in, &tombstone_ms)) return false;
    const bool has_value = (flags & kHasValue) != 0;
    if (has_value && (!TakeSigned(&in, &timestamp_ms) || !TakeSized(&in, &value))) return false;
    if (!wanted.Has(qualifier)) continue;
    row->cells.push_back({family, has_value, (flags & kOperand) != 0, Bytes(qualifier),
                          Bytes(value), timestamp_ms, tombstone_ms});
  }
  return in.empty();
}

uint64_t CellsIn(ByteView in) {
  uint64_t count;
  if (!GetVarint64(&in, &count) || count > kHasVersions) return 0;
  if (count == kHasVersions) return GetVarint64(&in, &count) ? count : 0;
  for (uint64_t tombstones = count; tombstones > 0; --tombstones) {
    if (in.empty()) return 0;
    const bool has = in[0] != 0;
    in.remove_prefix(1);
    int64_t tombstone;
    if (has && !TakeSigned(&in, &tombstone)) return 0;
  }
  return GetVarint64(&in, &count) ? count : 0;
}

Status ChargeRow(uint64_t cells, uint64_t bytes, MemoryTally* memory) {
  constexpr uint64_t kStepsPerRow = 64, kStepsPerCell = 32, kBytesPerStep = 64;
  if (memory == nullptr) return {};
  RETURN_IF_ERROR(memory->Step(kStepsPerRow + cells * kStepsPerCell + bytes / kBytesPerStep));
  return memory->Add(kRowCopies * static_cast<int64_t>(cells * sizeof(StoredCell) + bytes));
}

std::optional<ByteView> OnlyValueOf(ByteView in) {
  // A row that consists of one put begins with four bytes: no tombstones, one cell, a cell that has
  // only a value, and the family of the cell.
  constexpr size_t kHead = 4;
  if (in.size() < kHead || in[0] != 0 || in[1] != 1 || in[2] != kHasValue) return {};
  in.remove_prefix(kHead);
  uint64_t size, timestamp;
  if (!GetVarint64(&in, &size) || size > in.size()) return {};
  in.remove_prefix(size);
  if (!GetVarint64(&in, &timestamp) || !GetVarint64(&in, &size) || size != in.size()) return {};
  return in;
}

}  // namespace hg::lsm
