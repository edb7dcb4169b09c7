#include "storage/lsm/cell_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "storage/base/invariant.h"

namespace hg::lsm {
namespace {

// Approximate size of a map node with the objects of key and row, and the overhead of an
// allocation.
constexpr size_t kNodeBytes = 96;
constexpr size_t kAllocationBytes = 16;
// Maximum bytes of a value that is packed. Larger values may be appended to repeatedly, so they are
// not packed.
constexpr size_t kPackedMax = 128;
// A row with more cells and tombstones than this is wide.
constexpr size_t kCellsMax = 64;

size_t CellsOf(const CellRow& row) { return row.cells.size() + row.versions.size(); }

Bytes ColumnKey(uint8_t family, ByteView qualifier) {
  Bytes key(1, static_cast<char>(family));
  key += qualifier;
  return key;
}

// Appends a column to the row. The column must sort after all columns of the row.
void Join(CellRow column, CellRow* row) {
  if (row->versions.empty()) row->versions.swap(column.versions);
  std::move(column.cells.begin(), column.cells.end(), std::back_inserter(row->cells));
  std::move(column.versions.begin(), column.versions.end(), std::back_inserter(row->versions));
}

bool IsSmallPut(const CellRow& row) {
  if (!row.family_tombstones.empty() || row.cells.size() + row.versions.size() != 1) return false;
  if (row.cells.empty()) {
    const CellVersion& cell = row.versions.front();
    return cell.kind == CellKind::kPut && cell.qualifier.size() + cell.value.size() <= kPackedMax;
  }
  const StoredCell& cell = row.cells.front();
  return cell.has_value && !cell.operand && cell.tombstone_ms == kNoTombstone &&
         cell.qualifier.size() + cell.value.size() <= kPackedMax;
}

uint16_t SizeOf(const char* packed) {
  uint16_t size;
  std::memcpy(&size, packed, sizeof size);
  return size;
}

}  // namespace

// A row that is not packed: one CellRow, or a map of columns for a wide row.
struct HeldRow::Large {
  CellRow row;  // the whole row if it is not wide; else its family tombstones
  std::map<Bytes, HeldRow, std::less<>> columns;  // for wide rows: by family, then qualifier
  size_t cells = 0;                               // number of cells in `columns`
  size_t bytes = 0;                               // size of `columns`
  // For one column of a wide row: the cells that were written since `row` was last tidied, in the
  // order in which they were written.
  CellVersions later;
  size_t later_bytes = 0;  // VersionsBytes(later)

  [[nodiscard]] size_t cells_of_column() const { return CellsOf(row) + later.size(); }
  // Moves the cells of `later` to row.versions.
  void MergeLater() {
    if (later.empty()) return;
    SortVersions(&later);
    row.versions = MergeVersions(std::move(later), std::move(row.versions));
    later = {};
    later_bytes = 0;
  }
};

HeldRow::HeldRow() = default;
HeldRow::~HeldRow() = default;
HeldRow::HeldRow(HeldRow&&) noexcept = default;
HeldRow& HeldRow::operator=(HeldRow&&) noexcept = default;

bool HeldRow::wide() const { return large_ != nullptr && !large_->columns.empty(); }

size_t HeldRow::cells() const {
  if (packed_ != nullptr) return 1;
  if (large_ == nullptr) return 0;
  return large_->cells + large_->cells_of_column();
}

CellRow HeldRow::Unpack() const {
  CellRow row;
  INVARIANT(DecodeCellRow({packed_.get() + sizeof(uint16_t), SizeOf(packed_.get())}, &row));
  return row;
}

CellRow HeldRow::Get(const ColumnChoice& wanted) const {
  CellRow row;
  if (!wide()) {
    if (packed_ != nullptr) row = Unpack();
    if (large_ != nullptr) {
      row = large_->row;
      CellVersions later = large_->later;
      SortVersions(&later);
      row.versions = MergeVersions(std::move(later), std::move(row.versions));
    }
    row.Keep(wanted);
    return row;
  }
  row.family_tombstones = large_->row.family_tombstones;
  ForEachColumn(wanted, [&row](const HeldRow& column) { Join(column.Get(), &row); });
  return row;
}

// For wide rows. Returns the number of families, among them families that the table no longer has.
size_t HeldRow::FamilyCount() const {
  size_t count = 0;
  for (auto at = large_->columns.begin(); at != large_->columns.end(); ++count) {
    const auto number = static_cast<uint8_t>(at->first.front());
    if (number == UINT8_MAX) return count + 1;
    at = large_->columns.lower_bound(Bytes(1, static_cast<char>(number + 1)));
  }
  return count;
}

// For wide rows. Calls visit(column) for each selected column, in order.
template <typename Visit>
void HeldRow::ForEachColumn(const ColumnChoice& wanted, const Visit& visit) const {
  const auto& columns = large_->columns;
  if (wanted.all()) {
    for (const auto& [name, column] : columns) visit(column);
    return;
  }
  if (wanted.qualifiers().size() * FamilyCount() > columns.size()) {
    for (const auto& [name, column] : columns) {
      if (name.size() == 1 || wanted.Has(ByteView(name).substr(1))) visit(column);
    }
    return;
  }
  for (auto family = columns.begin(); family != columns.end();) {
    const char number = family->first.front();
    if (family->first.size() == 1) visit(family->second);  // the tombstones of the family
    for (const Bytes& qualifier : wanted.qualifiers()) {
      if (qualifier.empty()) continue;
      const auto column = columns.find(number + qualifier);
      if (column != columns.end()) visit(column->second);
    }
    if (static_cast<uint8_t>(number) == UINT8_MAX) break;
    family = columns.lower_bound(Bytes(1, static_cast<char>(number + 1)));
  }
}

CellRow HeldRow::Take() {
  if (wide()) {
    CellRow row;
    row.family_tombstones = large_->row.family_tombstones;
    for (auto& [name, column] : large_->columns) Join(column.Take(), &row);
    return row;
  }
  if (packed_ != nullptr) return Unpack();
  if (large_ == nullptr) return {};
  large_->MergeLater();
  return std::move(large_->row);
}

void HeldRow::Set(CellRow row) { Set(std::move(row), kCellsMax); }

void HeldRow::Set(CellRow row, size_t cells_max) {
  if (IsSmallPut(row)) {
    Bytes bytes;
    EncodeCellRow(row, &bytes);
    INVARIANT(bytes.size() <= UINT16_MAX);
    const auto size = static_cast<uint16_t>(bytes.size());
    packed_ = std::make_unique_for_overwrite<char[]>(sizeof size + bytes.size());
    std::memcpy(packed_.get(), &size, sizeof size);
    std::memcpy(packed_.get() + sizeof size, bytes.data(), bytes.size());
    large_.reset();
    return;
  }
  packed_.reset();
  if (large_ == nullptr || wide()) large_ = std::make_unique<Large>();
  if (CellsOf(row) <= cells_max) {
    large_->row = std::move(row);
    return;
  }
  large_->row = CellRow();
  large_->row.family_tombstones = std::move(row.family_tombstones);
  PutColumns(std::move(row));
}

CellRow HeldRow::TakeColumn(uint8_t family, ByteView qualifier) {
  const auto at = large_->columns.find(ColumnKey(family, qualifier));
  if (at == large_->columns.end()) return {};
  HeldRow& column = at->second;
  const size_t bytes = at->first.size() + column.MemoryBytes();
  INVARIANT(large_->cells >= column.cells() && large_->bytes >= bytes);
  large_->cells -= column.cells();
  large_->bytes -= bytes;
  CellRow taken = column.Take();
  large_->columns.erase(at);
  return taken;
}

void HeldRow::PutColumn(uint8_t family, ByteView qualifier, CellRow column) {
  if (column.empty()) return;
  const auto at = large_->columns.try_emplace(ColumnKey(family, qualifier)).first;
  at->second.Set(std::move(column), SIZE_MAX);
  large_->cells += at->second.cells();
  large_->bytes += at->first.size() + at->second.MemoryBytes();
}

void HeldRow::PutColumns(CellRow row) {
  for (StoredCell& cell : row.cells) {
    const uint8_t family = cell.family;
    const Bytes qualifier = cell.qualifier;
    CellRow column;
    column.cells.push_back(std::move(cell));
    PutColumn(family, qualifier, std::move(column));
  }
  CellVersions& versions = row.versions;
  for (auto first = versions.begin(); first != versions.end();) {
    const uint8_t family = first->family;
    const Bytes qualifier = first->qualifier;
    const auto last = std::find_if(first, versions.end(), [&](const CellVersion& cell) {
      return cell.family != family || cell.qualifier != qualifier;
    });
    CellRow column;
    if (first == versions.begin() && last == versions.end()) {
      column.versions = std::move(versions);
      PutColumn(family, qualifier, std::move(column));
      return;
    }
    column.versions.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    PutColumn(family, qualifier, std::move(column));
    first = last;
  }
}

void HeldRow::DeleteFamily(uint8_t family, int64_t tombstone_ms) {
  if (!wide()) {
    CellRow row = Take();
    row.DeleteFamily(family, tombstone_ms);
    Set(std::move(row));
    return;
  }
  EraseFamily(family);
  large_->row.DeleteFamily(family, tombstone_ms);
}

void HeldRow::EraseFamily(uint8_t family) {
  if (!wide()) {
    CellRow row = Take();
    std::erase_if(row.cells, [family](const StoredCell& cell) { return cell.family == family; });
    Set(std::move(row));
    return;
  }
  auto& columns = large_->columns;
  auto at = columns.lower_bound(Bytes(1, static_cast<char>(family)));
  while (at != columns.end() && static_cast<uint8_t>(at->first.front()) == family) {
    large_->cells -= at->second.cells();
    large_->bytes -= at->first.size() + at->second.MemoryBytes();
    at = columns.erase(at);
  }
}

void HeldRow::AddVersions(Families families, CellVersions added) {
  if (!wide()) {
    CellRow row = Take();
    lsm::AddVersions(families, std::move(added), &row.versions);
    Set(std::move(row));
    return;
  }
  for (CellVersion& cell : added) AddToColumn(families, std::move(cell));
}

void HeldRow::AddToColumn(Families families, CellVersion cell) {
  const uint8_t family = cell.family;
  const Bytes key = ColumnKey(family, cell.qualifier);
  const auto size = [this](const Bytes& name) {
    const auto at = large_->columns.find(name);
    return at == large_->columns.end() ? 0 : at->second.cells();
  };
  // A tombstone of a family is added only to the family's tombstones. The puts that it hides stay
  // in memory until they are tidied with their own column, or until the flush.
  const bool no_qualifier = cell.qualifier.empty();
  const size_t read = size(key) + (no_qualifier ? 0 : size(ColumnKey(family, "")));
  if (read > kCellsMax && AppendToColumn(key, &cell, read / 2)) return;
  CellRow row;
  if (!no_qualifier) Join(TakeColumn(family, ""), &row);
  Join(TakeColumn(family, cell.qualifier), &row);
  lsm::AddVersions(families, {std::move(cell)}, &row.versions);
  PutColumns(std::move(row));
}

// Appends a cell to `later` of a column. Returns false, and moves nothing, if `later` has `max`
// cells.
bool HeldRow::AppendToColumn(const Bytes& key, CellVersion* cell, size_t max) {
  HeldRow& column = large_->columns[key];
  if (column.large_ == nullptr) {
    const bool is_new = column.packed_ == nullptr;
    if (!is_new) large_->bytes -= key.size() + column.MemoryBytes();
    CellRow row = column.Take();
    column.packed_.reset();
    column.large_ = std::make_unique<Large>();
    column.large_->row = std::move(row);
    large_->bytes += key.size() + column.MemoryBytes();
  }
  Large& to = *column.large_;
  if (to.later.size() >= max) return false;
  const size_t bytes = VersionsBytes(std::span(cell, 1));
  to.later.push_back(std::move(*cell));
  to.later_bytes += bytes;
  large_->bytes += bytes;
  ++large_->cells;
  return true;
}

size_t HeldRow::CopiedBytes(const ColumnChoice& wanted) const {
  if (!wide() || wanted.all()) return MemoryBytes();
  size_t bytes = 0;
  ForEachColumn(wanted, [&bytes](const HeldRow& column) { bytes += column.MemoryBytes(); });
  return bytes;
}

size_t HeldRow::MemoryBytes() const {
  size_t bytes = kNodeBytes;
  if (packed_ != nullptr) bytes += kAllocationBytes + SizeOf(packed_.get());
  if (large_ != nullptr)
    bytes += kAllocationBytes + sizeof(Large) + large_->row.MemoryBytes() + large_->bytes +
             large_->later_bytes;
  return bytes;
}

bool CellMemory::Writer::MoveTo(ByteView key) {
  PutBack();
  at_ = memory_.rows_.find(key);
  return at_ != memory_.rows_.end();
}

void CellMemory::Writer::Make(ByteView key) {
  at_ = memory_.rows_.emplace(Bytes(key), HeldRow()).first;
  memory_.size_.store(memory_.rows_.size(), std::memory_order_release);
  row_ = CellRow();
  accounted_ = 0;
}

CellRow& CellMemory::Writer::Row(ByteView key) {
  if (Has(key) && !column_) return row_;
  if (MoveTo(key)) {
    TakeOut();
  } else {
    Make(key);
  }
  return row_;
}

CellRow* CellMemory::Writer::Find(ByteView key) {
  if (Has(key) && !column_) return &row_;
  if (!MoveTo(key)) return nullptr;
  TakeOut();
  return &row_;
}

CellRow& CellMemory::Writer::Column(ByteView key, uint8_t family, ByteView qualifier) {
  CellRow* row = FindColumn(key, family, qualifier);
  if (row != nullptr) return *row;
  Make(key);
  return row_;
}

CellRow* CellMemory::Writer::FindColumn(ByteView key, uint8_t family, ByteView qualifier) {
  const bool same =
      column_ ? column_->family == family && ByteView(column_->qualifier) == qualifier
              : CellsOf(row_) <= kCellsMax;  // a larger row is put back, so that it becomes wide
  if (Has(key) && same) return &row_;
  if (!MoveTo(key)) return nullptr;
  if (at_->second.wide()) {
    TakeOutColumn(family, qualifier);
  } else {
    TakeOut();
  }
  return &row_;
}

size_t HeldRow::ValueBytes(uint8_t family, ByteView qualifier) const {
  if (packed_ != nullptr) return SizeOf(packed_.get());
  if (large_ == nullptr) return 0;
  if (wide()) {
    const auto at = large_->columns.find(ColumnKey(family, qualifier));
    return at == large_->columns.end() ? 0 : at->second.ValueBytes(family, qualifier);
  }
  const StoredCell* const cell = large_->row.Find(family, qualifier);
  return cell == nullptr ? 0 : cell->value.size();
}

HeldRow& CellMemory::Writer::Held(ByteView key) {
  if (MoveTo(key)) {
    accounted_ = at_->first.size() + at_->second.MemoryBytes();
  } else {
    Make(key);
  }
  return at_->second;
}

void CellMemory::Writer::EraseFamily(ByteView key, uint8_t family) {
  if (!MoveTo(key)) return;
  Held(key).EraseFamily(family);
  Account();
}

void CellMemory::Writer::DeleteFamily(ByteView key, uint8_t family, int64_t tombstone_ms) {
  Held(key).DeleteFamily(family, tombstone_ms);
  Account();
}

void CellMemory::Writer::AddVersions(ByteView key, Families families, CellVersions added) {
  Held(key).AddVersions(families, std::move(added));
  Account();
}

void CellMemory::Writer::TakeOut() {
  accounted_ = at_->first.size() + at_->second.MemoryBytes();
  row_ = at_->second.Take();
}

void CellMemory::Writer::TakeOutColumn(uint8_t family, ByteView qualifier) {
  accounted_ = at_->first.size() + at_->second.MemoryBytes();
  row_ = at_->second.TakeColumn(family, qualifier);
  column_ = ColumnName{family, Bytes(qualifier)};
}

void CellMemory::Writer::PutBack() {
  if (at_ == memory_.rows_.end()) return;
  if (column_) {
    at_->second.PutColumn(column_->family, column_->qualifier, std::move(row_));
    column_.reset();
  } else {
    at_->second.Set(std::move(row_));
  }
  Account();
}

void CellMemory::Writer::Account() {
  const size_t now = at_->first.size() + at_->second.MemoryBytes();
  memory_.bytes_.fetch_add(now - accounted_, std::memory_order_relaxed);
  memory_.total_.fetch_add(now - accounted_, std::memory_order_relaxed);
  at_ = memory_.rows_.end();
}

bool CellMemory::Get(ByteView key, CellRow* row) const {
  const Result<bool> found = Get(key, {}, nullptr, row);
  return found.ok() && *found;  // without a tally, Get cannot fail
}

Result<bool> CellMemory::Get(ByteView key, const ColumnChoice& wanted, MemoryTally* memory,
                             CellRow* row) const {
  if (empty()) return false;
  RETURN_IF_ERROR(Charge(key, wanted, memory));
  std::shared_lock lock(mutex_);
  const auto it = rows_.find(key);
  if (it == rows_.end()) return false;
  *row = it->second.Get(wanted);
  return true;
}

Status CellMemory::Charge(ByteView key, const ColumnChoice& wanted, MemoryTally* memory) const {
  if (memory == nullptr || empty()) return {};
  size_t cells, bytes;
  {
    std::shared_lock lock(mutex_);
    const auto it = rows_.find(key);
    if (it == rows_.end()) return {};
    const HeldRow& held = it->second;
    cells = wanted.all() ? held.cells() : wanted.qualifiers().size();
    bytes = held.CopiedBytes(wanted);
  }
  return ChargeRow(cells, bytes, memory);  // without the lock, because Step may wait
}

size_t CellMemory::ValueBytes(ByteView key, uint8_t family, ByteView qualifier) const {
  std::shared_lock lock(mutex_);
  const auto it = rows_.find(key);
  return it == rows_.end() ? 0 : it->second.ValueBytes(family, qualifier);
}

void CellMemory::Copy(ByteView first, bool after, ByteView stop, size_t max,
                      std::vector<KeyedRow>* out) const {
  if (empty()) return;
  std::shared_lock lock(mutex_);
  auto it = after ? rows_.upper_bound(first) : rows_.lower_bound(first);
  for (; max > 0 && it != rows_.end() && (stop.empty() || it->first < stop); ++it, --max) {
    if (it->second.wide() || it->second.MemoryBytes() > kCopiedBytes) {
      out->push_back({it->first, {}, true});
    } else {
      out->push_back({it->first, it->second.Get()});
    }
  }
}

void CellMemory::SampleKeys(ByteView start, ByteView stop, size_t n,
                            std::vector<Bytes>* keys) const {
  // After this many rows, the lock is released for a moment, so that writers do not wait long.
  constexpr size_t kRowsAtOnce = 4096;
  if (empty()) return;
  std::shared_lock lock(mutex_);
  size_t i = 0;
  for (auto it = rows_.lower_bound(start); it != rows_.end() && (stop.empty() || it->first < stop);
       ++it) {
    if (i > 0 && i % kRowsAtOnce == 0) {
      const Bytes here = it->first;
      lock.unlock();
      lock.lock();
      it = rows_.lower_bound(here);  // finds the same row: rows are never removed
    }
    if (i++ % n == 0) keys->push_back(it->first);
  }
}

}  // namespace hg::lsm
