#include "storage/lsm/cell_memory.h"

namespace hg::lsm {
namespace {
// A node of the map with its key's and row's heads, measured with malloc.
constexpr size_t kNodeBytes = 144;
}  // namespace

CellRow& CellMemory::Writer::Row(ByteView key) {
  at_ = memory_.rows_.lower_bound(key);
  if (at_ == memory_.rows_.end() || at_->first != key) {
    at_ = memory_.rows_.emplace_hint(at_, Bytes(key), Held{});
    memory_.size_.store(memory_.rows_.size(), std::memory_order_release);
  }
  return at_->second.row;
}

CellRow* CellMemory::Writer::Find(ByteView key) {
  at_ = memory_.rows_.find(key);
  return at_ == memory_.rows_.end() ? nullptr : &at_->second.row;
}

void CellMemory::Writer::Changed(ByteView key) {
  // Mostly the row that was asked for last.
  if (at_ == memory_.rows_.end() || at_->first != key) at_ = memory_.rows_.find(key);
  if (at_ == memory_.rows_.end()) return;
  Held& held = at_->second;
  const size_t now = kNodeBytes + key.size() + held.row.MemoryBytes();
  memory_.bytes_.fetch_add(now - held.accounted, std::memory_order_relaxed);
  memory_.total_.fetch_add(now - held.accounted, std::memory_order_relaxed);
  held.accounted = now;
}

bool CellMemory::Get(ByteView key, CellRow* row) const {
  if (empty()) return false;
  std::shared_lock lock(mutex_);
  auto it = rows_.find(key);
  if (it == rows_.end()) return false;
  *row = it->second.row;
  return true;
}

void CellMemory::Copy(ByteView first, bool after, ByteView stop, size_t max,
                      std::vector<KeyedRow>* out) const {
  if (empty()) return;
  std::shared_lock lock(mutex_);
  auto it = after ? rows_.upper_bound(first) : rows_.lower_bound(first);
  for (; max > 0 && it != rows_.end() && (stop.empty() || it->first < stop); ++it, --max) {
    out->push_back({it->first, it->second.row});
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
