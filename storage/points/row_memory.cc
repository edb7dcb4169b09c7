#include "storage/points/row_memory.h"

#include <algorithm>
#include <new>

#include "storage/base/invariant.h"

namespace hg::points {
namespace {

constexpr uint32_t kWalkMax = 4;
constexpr size_t kNodeBytes = 56;  // of by_base_ and series_, measured with malloc
// How far back simultaneous points of one record are looked for (engine.md §3).
constexpr uint32_t kLookBack = 16;

// History entries are a qualifier as it stands (2-byte form below 2^16, 4-byte form F…), or one of:
constexpr uint32_t kClear = 0x20000000;
constexpr uint32_t kDeleteSeconds = 0x10000000;  // or-ed with the 2-byte form
constexpr uint32_t kDeleteMillis = 0xE0000000;   // in place of the F of the 4-byte form
constexpr uint32_t kKindMask = 0xF0000000;

uint64_t RowId(uint32_t series, uint32_t base) { return uint64_t{series} << 32 | base; }

bool IsPut(uint32_t op) { return op <= UINT16_MAX || op >= codec::kMillisMark; }

uint32_t OffsetMs(uint32_t qualifier) { return codec::Qualifier{qualifier}.offset_ms(); }

}  // namespace

RowHourMemory* RowMemory::FindOlder(RowHourMemory* head, uint32_t base) {
  if (head->depth_ >= kWalkMax) {
    auto it = by_base_.find(RowId(head->series_, base));
    return it == by_base_.end() ? nullptr : it->second;
  }
  RowHourMemory* row = head->older_;
  while (row != nullptr && row->base_ != base) row = row->older_;
  return row;
}

RowHourMemory* RowMemory::Make(uint32_t series, uint32_t base) {
  RowHourMemory* head = heads_.Get(series);
  if (head == nullptr) {
    series_.push_back(series);
    extra_bytes_.fetch_add(sizeof(uint32_t), std::memory_order_relaxed);
  }
  static_assert(sizeof(RowHourMemory) == 64);
  char* place =
      arena_.Take(sizeof(RowHourMemory) + RowHourMemory::Chunk::Bytes(RowHourMemory::kFirstSlots));
  auto* row = new (place) RowHourMemory();
  row->series_ = series;
  row->base_ = base;
  row->older_ = head;
  row->depth_ = head == nullptr ? 0 : static_cast<uint16_t>(std::min(head->depth_ + 1, 0xFFFF));
  row->first_ = row->last_ = new (place + sizeof(RowHourMemory))
      RowHourMemory::Chunk{nullptr, RowHourMemory::kFirstSlots, 0};
  if (row->depth_ == kWalkMax) {
    for (RowHourMemory* r = row; r != nullptr; r = r->older_) by_base_[RowId(series, r->base_)] = r;
    extra_bytes_.fetch_add(kNodeBytes * (kWalkMax + 1), std::memory_order_relaxed);
  } else if (row->depth_ > kWalkMax) {
    by_base_[RowId(series, base)] = row;
    extra_bytes_.fetch_add(kNodeBytes, std::memory_order_relaxed);
  }
  heads_.Set(series, row);
  return row;
}

void RowMemory::GrowLast(RowHourMemory* row) {
  const uint32_t slots = std::min(row->last_->slots * 2, RowHourMemory::kSlotsMax);
  auto* chunk =
      new (arena_.Take(RowHourMemory::Chunk::Bytes(slots))) RowHourMemory::Chunk{nullptr, slots, 0};
  row->last_->next = chunk;
  row->last_ = chunk;
  row->last_used_ = 0;
}

inline void RowMemory::Push(RowHourMemory* row, uint32_t op, uint64_t bits) {
  if (row->last_used_ == row->last_->slots) GrowLast(row);
  row->last_->bits()[row->last_used_] = bits;
  row->last_->ops()[row->last_used_] = op;
  ++row->last_used_;
  ++row->written_;
}

void RowMemory::Write(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
                      RowForm form) {
  const auto form_before = static_cast<RowForm>(row->form_.load(std::memory_order_relaxed));
  if (form_before != form) {
    const RowForm joined = form_before == RowForm::kNone ? form : RowForm::kAuto;
    row->form_.store(static_cast<uint8_t>(joined), std::memory_order_relaxed);
  }
  const bool same_record = row->last_sequence_ == sequence;
  if (!same_record) {
    row->last_sequence_ = sequence;
    row->record_start_ = row->written_;
  }
  const uint32_t offset = OffsetMs(qualifier);
  const bool rising = row->written_ == row->record_start_ || offset > row->last_offset_ms_;
  row->last_offset_ms_ = offset;
  Push(row, qualifier, bits);
  if (!rising) RepeatSmaller(row, qualifier);
  points_.store(points_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Entries are never moved: a smaller qualifier of the same record and instant is written once more,
// behind the one just written, which makes it the newer.
void RowMemory::RepeatSmaller(RowHourMemory* row, uint32_t qualifier) {
  struct Entry {
    uint32_t op;
    uint64_t bits;
  };
  const uint32_t last = row->written_ - 1;
  const uint32_t from = std::max(row->record_start_, last > kLookBack ? last - kLookBack : 0);
  std::vector<Entry> smaller;
  uint32_t index = 0;
  for (RowHourMemory::Chunk* chunk = row->first_; chunk != nullptr; chunk = chunk->next) {
    for (uint32_t i = 0; i < chunk->slots && index < last; ++i, ++index) {
      if (index < from) continue;
      const uint32_t op = chunk->ops()[i];
      if (!IsPut(op)) {
        smaller.clear();  // a delete lies between
      } else if (op < qualifier && OffsetMs(op) == OffsetMs(qualifier)) {
        std::erase_if(smaller, [op](const Entry& entry) { return entry.op == op; });
        smaller.push_back({op, chunk->bits()[i]});
      }
    }
  }
  std::sort(smaller.begin(), smaller.end(),
            [](const Entry& a, const Entry& b) { return a.op > b.op; });
  for (const Entry& entry : smaller) Push(row, entry.op, entry.bits);
}

void RowMemory::WriteDelete(RowHourMemory* row, uint64_t sequence, uint32_t qualifier) {
  row->last_sequence_ = sequence;
  Push(row,
       qualifier <= UINT16_MAX ? kDeleteSeconds | qualifier
                               : (qualifier & ~kKindMask) | kDeleteMillis,
       0);
  row->record_start_ = row->written_;
}

void RowMemory::WriteClear(RowHourMemory* row, uint64_t sequence) {
  row->last_sequence_ = sequence;
  Push(row, kClear, 0);
  row->record_start_ = row->written_;
  row->form_.store(static_cast<uint8_t>(RowForm::kNone), std::memory_order_relaxed);
}

void RowHourMemory::Read(Part* part) const {
  const uint32_t count = count_.load(std::memory_order_acquire);
  part->form = static_cast<RowForm>(form_.load(std::memory_order_relaxed));
  part->points.reserve(count);
  bool rising = true;
  int64_t last = -1;
  uint32_t left = count;
  for (Chunk* chunk = first_; left > 0; chunk = left > 0 ? chunk->next : nullptr) {
    const uint32_t n = std::min(left, chunk->slots);
    left -= n;
    const uint32_t* ops = chunk->ops();
    const uint64_t* bits = chunk->bits();
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t op = ops[i];
      if (IsPut(op)) {
        const int64_t offset = OffsetMs(op);
        rising = rising && offset > last;
        last = offset;
        part->points.push_back({{op}, 0, bits[i]});
        continue;
      }
      if (op == kClear) {
        part->points.clear();
        part->gone.clear();
        part->cleared = true;
        rising = true;
        last = -1;
        continue;
      }
      const codec::Qualifier q{(op & kKindMask) == kDeleteSeconds ? op & UINT16_MAX
                                                                  : op | codec::kMillisMark};
      std::erase_if(part->points, [q](const PartPoint& p) { return p.qualifier == q; });
      if (!part->cleared) part->gone.push_back(q.Encode());
    }
  }
  if (!rising || !part->gone.empty()) Normalize(part);
}

}  // namespace hg::points
