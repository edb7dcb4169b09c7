#include "storage/lsm/cell_memory.h"

#include <cstring>
#include <utility>

#include "storage/base/invariant.h"

namespace hg::lsm {
namespace {

// A node of the map with its key's and row's heads, and what malloc needs for a piece.
constexpr size_t kNodeBytes = 96;
constexpr size_t kPieceBytes = 16;
// Larger values may be appended to again and again.
constexpr size_t kPackedMax = 128;

bool IsSmallPut(const CellRow& row) {
  if (!row.family_marks.empty() || row.cells.size() + row.versions.size() != 1) return false;
  if (row.cells.empty()) {
    const CellVersion& cell = row.versions.front();
    return cell.kind == CellKind::kPut && cell.qualifier.size() + cell.value.size() <= kPackedMax;
  }
  const StoredCell& cell = row.cells.front();
  return cell.has_value && !cell.operand && cell.mark_ms == kNoMark &&
         cell.qualifier.size() + cell.value.size() <= kPackedMax;
}

uint16_t SizeOf(const char* packed) {
  uint16_t size;
  std::memcpy(&size, packed, sizeof size);
  return size;
}

}  // namespace

CellRow HeldRow::Unpack() const {
  CellRow row;
  INVARIANT(DecodeCellRow({packed_.get() + sizeof(uint16_t), SizeOf(packed_.get())}, &row));
  return row;
}

CellRow HeldRow::Get() const {
  if (packed_ != nullptr) return Unpack();
  return row_ != nullptr ? *row_ : CellRow();
}

CellRow HeldRow::Take() {
  if (packed_ != nullptr) return Unpack();
  return row_ != nullptr ? std::move(*row_) : CellRow();
}

void HeldRow::Set(CellRow row) {
  if (!IsSmallPut(row)) {
    packed_.reset();
    if (row_ == nullptr) row_ = std::make_unique<CellRow>();
    *row_ = std::move(row);
    return;
  }
  Bytes bytes;
  EncodeCellRow(row, &bytes);
  const auto size = static_cast<uint16_t>(bytes.size());
  packed_ = std::make_unique_for_overwrite<char[]>(sizeof size + bytes.size());
  std::memcpy(packed_.get(), &size, sizeof size);
  std::memcpy(packed_.get() + sizeof size, bytes.data(), bytes.size());
  row_.reset();
}

size_t HeldRow::MemoryBytes() const {
  size_t bytes = kNodeBytes;
  if (packed_ != nullptr) bytes += kPieceBytes + SizeOf(packed_.get());
  if (row_ != nullptr) bytes += kPieceBytes + sizeof(CellRow) + row_->MemoryBytes();
  return bytes;
}

CellRow& CellMemory::Writer::Row(ByteView key) {
  if (Has(key)) return row_;
  PutBack();
  at_ = memory_.rows_.lower_bound(key);
  if (Has(key)) {
    TakeOut();
    return row_;
  }
  at_ = memory_.rows_.emplace_hint(at_, Bytes(key), HeldRow());
  memory_.size_.store(memory_.rows_.size(), std::memory_order_release);
  row_ = CellRow();
  accounted_ = 0;
  return row_;
}

CellRow* CellMemory::Writer::Find(ByteView key) {
  if (Has(key)) return &row_;
  PutBack();
  at_ = memory_.rows_.find(key);
  if (at_ == memory_.rows_.end()) return nullptr;
  TakeOut();
  return &row_;
}

void CellMemory::Writer::TakeOut() {
  accounted_ = at_->first.size() + at_->second.MemoryBytes();
  row_ = at_->second.Take();
}

void CellMemory::Writer::PutBack() {
  if (at_ == memory_.rows_.end()) return;
  at_->second.Set(std::move(row_));
  const size_t now = at_->first.size() + at_->second.MemoryBytes();
  memory_.bytes_.fetch_add(now - accounted_, std::memory_order_relaxed);
  memory_.total_.fetch_add(now - accounted_, std::memory_order_relaxed);
  at_ = memory_.rows_.end();
}

bool CellMemory::Get(ByteView key, CellRow* row) const {
  if (empty()) return false;
  std::shared_lock lock(mutex_);
  auto it = rows_.find(key);
  if (it == rows_.end()) return false;
  *row = it->second.Get();
  return true;
}

void CellMemory::Copy(ByteView first, bool after, ByteView stop, size_t max,
                      std::vector<KeyedRow>* out) const {
  if (empty()) return;
  std::shared_lock lock(mutex_);
  auto it = after ? rows_.upper_bound(first) : rows_.lower_bound(first);
  for (; max > 0 && it != rows_.end() && (stop.empty() || it->first < stop); ++it, --max) {
    out->push_back({it->first, it->second.Get()});
  }
}

void CellMemory::SampleKeys(ByteView start, ByteView stop, size_t n,
                            std::vector<Bytes>* keys) const {
  if (empty()) return;
  std::shared_lock lock(mutex_);
  size_t i = 0;
  for (auto it = rows_.lower_bound(start); it != rows_.end() && (stop.empty() || it->first < stop);
       ++it) {
    if (i++ % n == 0) keys->push_back(it->first);
  }
}

}  // namespace hg::lsm
