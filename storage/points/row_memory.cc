#include "storage/points/row_memory.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <thread>

#include "storage/base/invariant.h"
#include "storage/points/row_codec.h"

namespace hg::points {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

constexpr uint32_t kWalkMax = 4;
constexpr size_t kNodeBytes = 56;  // of by_base_ and series_, measured with malloc
// How far back simultaneous points of one record are looked for (engine.md §3).
constexpr uint32_t kLookBack = 16;

// History entries are a qualifier as it stands (2-byte form below 2^16, 4-byte form F…), or one of:
constexpr uint32_t kClear = 0x20000000;
constexpr uint32_t kDeleteSeconds = 0x10000000;  // or-ed with the 2-byte form
constexpr uint32_t kDeleteMillis = 0xE0000000;   // in place of the F of the 4-byte form
constexpr uint32_t kRecord = 0x30000000;         // bits: the sequence of the entries that follow
constexpr uint32_t kKindMask = 0xF0000000;

uint64_t RowId(uint32_t series, uint32_t base) { return uint64_t{series} << 32 | base; }

bool IsPut(uint32_t op) { return op <= UINT16_MAX || op >= codec::kMillisMark; }

uint32_t OffsetMs(uint32_t qualifier) { return codec::Qualifier{qualifier}.offset_ms(); }

}  // namespace

template <typename Visit>
void RowHourMemory::VisitRun(const Run& run, std::vector<PartPoint>* points, Visit&& visit) {
  if (run.plain) {
    for (const char* p = run.bytes; p < run.bytes + run.size; p += 12) {
      visit(ReadBig32(p), ReadBig64(p + 4));
    }
    return;
  }
  points->clear();
  INVARIANT(DecodeRow({run.bytes, run.size}, 0, points).ok());
  for (const PartPoint& point : *points) visit(point.qualifier.bits, point.bits);
}

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
  static_assert(sizeof(RowHourMemory) <= 152);
  auto* row = new (arena_.Take(sizeof(RowHourMemory))) RowHourMemory();
  row->series_ = series;
  row->base_ = base;
  row->older_ = head;
  row->depth_ = head == nullptr ? 0 : static_cast<uint8_t>(std::min(head->depth_ + 1, 0xFF));
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

void RowMemory::Begin(RowHourMemory* row) {
  row->version_.store(row->version_.load(kRelaxed) + 1, kRelaxed);
  // What changes from here on is stored with release: nobody sees it without the odd version.
}

void RowMemory::Publish(RowHourMemory* row) {
  row->tail_count_.store(row->tail_used_, std::memory_order_release);
  row->version_.store(row->version_.load(kRelaxed) + 1, std::memory_order_release);
}

// The tail is full; inside of Begin and Publish the version is odd already. Points that rise are
// encoded as on disk; other histories, being rare, are kept as they stand.
void RowMemory::MakeRoom(RowHourMemory* row) {
  constexpr uint8_t kSlots = RowHourMemory::kSlots;
  run_points_.clear();
  int64_t last = -1;
  bool rising = true;
  for (uint8_t i = 0; i < kSlots; ++i) {
    const uint32_t op = row->ops_[i].load(kRelaxed);
    rising = rising && IsPut(op) && OffsetMs(op) > last;
    last = OffsetMs(op);
    run_points_.push_back({{op}, 0, row->bits_[i].load(kRelaxed)});
  }
  run_.clear();
  if (rising) {
    EncodeRow(run_points_, {}, &run_);
  } else {
    for (const PartPoint& entry : run_points_) {
      AppendBig(&run_, entry.qualifier.bits, 4);
      AppendBig(&run_, entry.bits, 8);
    }
  }
  auto* run = reinterpret_cast<RowHourMemory::Run*>(
      arena_.Take(offsetof(RowHourMemory::Run, bytes) + run_.size()));
  run->older = row->runs_.load(kRelaxed);
  run->size = static_cast<uint16_t>(run_.size());
  run->entries = kSlots;
  run->plain = !rising;
  std::memcpy(run->bytes, run_.data(), run_.size());

  const bool alone = row->version_.load(kRelaxed) % 2 == 0;
  if (alone) Begin(row);
  row->runs_.store(run, kRelease);
  row->tail_used_ = 0;
  row->tail_count_.store(0, kRelease);
  if (alone) Publish(row);
}

inline void RowMemory::Push(RowHourMemory* row, uint32_t op, uint64_t bits) {
  if (row->tail_used_ == RowHourMemory::kSlots) MakeRoom(row);
  row->bits_[row->tail_used_].store(bits, kRelease);
  row->ops_[row->tail_used_].store(op, kRelease);
  ++row->tail_used_;
  ++row->written_;
}

inline void RowMemory::StartRecord(RowHourMemory* row, uint64_t sequence) {
  row->last_sequence_ = sequence;
  if ((row->flags_.load(kRelaxed) & RowHourMemory::kRaw) != 0) [[unlikely]] {
    Push(row, kRecord, sequence);
  }
  row->record_start_ = row->written_;
}

void RowMemory::Add(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
                    RowForm form) {
  const auto form_before = static_cast<RowForm>(row->form_.load(std::memory_order_relaxed));
  if (form_before != form) {
    const RowForm joined = form_before == RowForm::kNone ? form : RowForm::kAuto;
    row->form_.store(static_cast<uint8_t>(joined), kRelease);
  }
  if (row->last_sequence_ != sequence) StartRecord(row, sequence);
  const uint32_t offset = OffsetMs(qualifier);
  const bool rising = row->written_ == row->record_start_ || offset > row->last_offset_ms_;
  row->last_offset_ms_ = offset;
  Push(row, qualifier, bits);
  if (!rising) RepeatSmaller(row, qualifier);
  points_.store(points_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Entries are never moved: a smaller qualifier of the same record and instant is written once more,
// behind the one just written, which makes it the newer. In the write lock: only the runs that the
// look-back reaches are read.
void RowMemory::RepeatSmaller(RowHourMemory* row, uint32_t qualifier) {
  using Run = RowHourMemory::Run;
  struct Entry {
    uint32_t op;
    uint64_t bits;
  };
  const uint32_t last = row->written_ - 1;
  const uint32_t from = std::max(row->record_start_, last > kLookBack ? last - kLookBack : 0);
  std::array<Entry, kLookBack> smaller;
  auto end = smaller.begin();
  uint32_t index = row->written_ - row->tail_used_;
  auto look = [&](uint32_t op, uint64_t bits) {
    const uint32_t at = index++;
    if (at < from || at >= last) return;
    if (!IsPut(op)) {
      end = smaller.begin();  // a delete lies between
    } else if (op < qualifier && OffsetMs(op) == OffsetMs(qualifier)) {
      end = std::remove_if(smaller.begin(), end, [op](const Entry& e) { return e.op == op; });
      *end++ = {op, bits};
    }
  };
  std::array<const Run*, kLookBack / RowHourMemory::kSlots + 1> runs;
  size_t count = 0;
  const Run* run = row->runs_.load(kRelaxed);
  for (; index > from; run = run->older) {
    INVARIANT(run != nullptr && count < runs.size());
    runs[count++] = run;
    index -= run->entries;
  }
  while (count > 0) RowHourMemory::VisitRun(*runs[--count], &run_points_, look);
  for (uint8_t i = 0; i < row->tail_used_; ++i) {
    look(row->ops_[i].load(kRelaxed), row->bits_[i].load(kRelaxed));
  }
  std::sort(smaller.begin(), end, [](const Entry& a, const Entry& b) { return a.op > b.op; });
  for (auto it = smaller.begin(); it != end; ++it) Push(row, it->op, it->bits);
}

void RowMemory::WriteDelete(RowHourMemory* row, uint64_t sequence, uint32_t qualifier) {
  if (row->last_sequence_ != sequence) StartRecord(row, sequence);
  Push(row,
       qualifier <= UINT16_MAX ? kDeleteSeconds | qualifier
                               : (qualifier & ~kKindMask) | kDeleteMillis,
       0);
  row->record_start_ = row->written_;
}

void RowMemory::WriteClear(RowHourMemory* row, uint64_t sequence) {
  if (row->last_sequence_ != sequence) StartRecord(row, sequence);
  Push(row, kClear, 0);
  row->record_start_ = row->written_;
  row->form_.store(static_cast<uint8_t>(RowForm::kNone), kRelease);
}

void RowHourMemory::Copy(Snapshot* to) const {
  for (int spins = 0;; ++spins) {
    const uint32_t before = version_.load(kAcquire);
    if (before % 2 == 0) {
      to->runs = runs_.load(kAcquire);
      to->form = form_.load(kAcquire);
      to->count = tail_count_.load(kAcquire);
      for (uint8_t i = 0; i < to->count; ++i) {
        to->bits[i] = bits_[i].load(kAcquire);
        to->ops[i] = ops_[i].load(kAcquire);
      }
      if (version_.load(kAcquire) == before) return;
    }
    if (spins > 100) std::this_thread::yield();
  }
}

std::vector<const RowHourMemory::Run*> RowHourMemory::OldestFirst(const Run* newest) {
  std::vector<const Run*> runs;
  for (const Run* run = newest; run != nullptr; run = run->older) runs.push_back(run);
  std::reverse(runs.begin(), runs.end());
  return runs;
}

template <typename Visit>
void RowHourMemory::VisitRuns(const Run* newest, Visit&& visit) {
  std::vector<PartPoint> points;
  for (const Run* run : OldestFirst(newest)) VisitRun(*run, &points, visit);
}

void RowHourMemory::Read(Part* part, uint32_t generation) const {
  Snapshot now;
  Copy(&now);
  part->form = static_cast<RowForm>(now.form);
  bool rising = true;
  int64_t last = -1;
  auto apply = [&](uint32_t op, uint64_t bits) {
    if (IsPut(op)) {
      const int64_t offset = OffsetMs(op);
      rising = rising && offset > last;
      last = offset;
      part->points.push_back({{op}, generation, bits});
      return;
    }
    if (op == kRecord) {
      generation = static_cast<uint32_t>(bits);
      return;
    }
    if (op == kClear) {
      part->points.clear();
      part->gone.clear();
      part->cleared = true;
      rising = true;
      last = -1;
      return;
    }
    const codec::Qualifier q{(op & kKindMask) == kDeleteSeconds ? op & UINT16_MAX
                                                                : op | codec::kMillisMark};
    std::erase_if(part->points, [q](const PartPoint& p) { return p.qualifier == q; });
    if (!part->cleared) part->gone.push_back(q.Encode());
  };
  VisitRuns(now.runs, apply);
  for (uint8_t i = 0; i < now.count; ++i) apply(now.ops[i], now.bits[i]);
  if (!rising || !part->gone.empty()) Normalize(part);
}

bool RowHourMemory::AppendTo(RowColumns* columns, RowForm* form) const {
  Snapshot now;
  Copy(&now);
  *form = static_cast<RowForm>(now.form);
  bool puts = true;
  auto push = [&](uint32_t op, uint64_t bits) {
    const codec::Qualifier q{op};
    puts = puts && IsPut(op);
    if (puts) columns->Push(q.offset_ms(), {bits, q.flags()});
  };
  for (const Run* run : OldestFirst(now.runs)) {
    if (run->plain) {
      VisitRun(*run, nullptr, push);
    } else {
      INVARIANT(AppendColumns({run->bytes, run->size}, columns).ok());
    }
  }
  for (uint8_t i = 0; i < now.count; ++i) push(now.ops[i], now.bits[i]);
  return puts;
}

void RowHourMemory::Prefetch(std::span<const RowHourMemory* const> rows) {
  std::vector<const Run*> at;
  for (const RowHourMemory* row : rows) {
    if (const Run* run = row->runs_.load(kAcquire)) at.push_back(run);
  }
  while (!at.empty()) {
    for (const Run*& run : at) {
      __builtin_prefetch(run->bytes + 48);  // a run of eight mostly ends in the next line
      run = run->older;
    }
    std::erase(at, nullptr);
  }
}

}  // namespace hg::points
