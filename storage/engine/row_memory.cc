#include "storage/engine/row_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/invariant.h"
#include "storage/base/keyed_hash.h"
#include "storage/points/row_codec.h"

namespace hg::engine {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

constexpr uint32_t kWalkMax = 4;
// RepeatSmaller searches this many latest entries for single cells of the same record and instant.
// If two such cells are farther apart, the cell that arrived later is newer.
constexpr uint32_t kLookBack = 16;

// A history entry is a qualifier (2-byte form if below 2^16, 4-byte form with top bits F
// otherwise), or one of these:
constexpr uint32_t kClear = 0x20000000;
constexpr uint32_t kDeleteSeconds = 0x10000000;  // combined with the 2-byte form
constexpr uint32_t kDeleteMillis = 0xE0000000;   // replaces the top bits F of the 4-byte form
constexpr uint32_t kRecord = 0x30000000;         // `bits` is the sequence of the following entries
constexpr uint32_t kKindMask = 0xF0000000;

// Each page is a third to a half larger than the previous one, so the unused rest of the last page
// stays small compared to the row. The first page holds three chunks of small numbers, or seven
// chunks of a constant value.
constexpr uint16_t kPageBytes[] = {72,  96,   128,  192,  256,  384, 512,
                                   768, 1024, 1536, 2048, 3072, 4096};

uint64_t RowId(uint32_t series, uint32_t base) { return uint64_t{series} << 32 | base; }

// Returns the map of a row. boost::unordered_flat_map uses the lowest 8 bits and the highest bits
// of the same hash, so this function uses other bits.
auto& MapOf(auto& maps, uint64_t row_id) {
  return maps[(keyed_hash::Hash()(row_id) >> 8) % maps.size()];
}

bool IsPut(uint32_t op) { return op <= UINT16_MAX || op >= codec::kMillisMark; }

uint32_t OffsetMs(uint32_t qualifier) { return codec::Qualifier{qualifier}.offset_ms(); }

}  // namespace

template <typename Visit>
void RowHourMemory::VisitPages(const Chunks& chunks, Visit&& visit) {
  std::array<const Page*, std::size(kPageBytes)> few;
  size_t count = 0;
  const Page* page = chunks.newest;
  for (; page != nullptr && count < few.size(); page = page->older) few[count++] = page;
  std::vector<const Page*> many;
  for (; page != nullptr; page = page->older) many.push_back(page);
  const auto show = [&](const Page* p) {
    visit(p->bytes, p->bytes + (p == chunks.newest ? chunks.newest_used : p->used));
  };
  std::for_each(many.rbegin(), many.rend(), show);
  while (count > 0) show(few[--count]);
}

template <typename Visit>
void RowHourMemory::VisitChunks(const Chunks& chunks, Visit&& visit) {
  VisitPages(chunks, [&](const char* chunk, const char* end) {
    points::ChunkEntries entries;
    while (chunk < end) {
      chunk += points::DecodeChunk(chunk, &entries);
      for (size_t i = 0; i < points::kChunkEntries; ++i) visit(entries.ops[i], entries.bits[i]);
    }
  });
}

// Fills `chunks` with the last chunks, oldest first. The row must have at least as many chunks.
// Only the writer calls this function.
void RowHourMemory::LastChunks(std::span<const char*> chunks) const {
  size_t missing = chunks.size();
  const Page* const newest = pages_.load(kRelaxed);
  for (const Page* page = newest; missing > 0; page = page->older) {
    INVARIANT(page != nullptr);
    const char* const end = page->bytes + (page == newest ? page_used_.load(kRelaxed) : page->used);
    size_t found = 0;
    for (const char* chunk = page->bytes; chunk < end; chunk += points::ChunkBytes(chunk)) {
      if (found == missing) std::copy(chunks.begin() + 1, chunks.begin() + missing, chunks.begin());
      found = std::min(found + 1, missing);
      chunks[found - 1] = chunk;
    }
    std::move_backward(chunks.begin(), chunks.begin() + found, chunks.begin() + missing);
    missing -= found;
  }
}

RowHourMemory* RowMemory::FindOlder(RowHourMemory* head, uint32_t base) const {
  if (head->depth_ >= kWalkMax) {
    const uint64_t row_id = RowId(head->series_, base);
    const RowMap& map = MapOf(*ShardFor(head->series_).by_base, row_id);
    const auto it = map.find(row_id);
    return it == map.end() ? nullptr : it->second;
  }
  RowHourMemory* row = head->older_;
  while (row != nullptr && row->base_ != base) row = row->older_;
  return row;
}

const RowHourMemory* RowMemory::FindToRead(uint32_t series, uint32_t base) const {
  RowHourMemory* const head = heads_.Get(series);
  if (head == nullptr || head->base_ == base) return head;
  // Without the map, no lock is needed. With the map, the writer inserts a row before the row
  // becomes the head, so the map has all rows that can be reached from the head.
  if (head->depth_ < kWalkMax) return FindOlder(head, base);
  const std::shared_lock lock(ShardFor(series).by_base_mutex);
  return FindOlder(head, base);
}

RowHourMemory* RowMemory::Make(uint32_t series, uint32_t base) {
  RowHourMemory* head = heads_.Get(series);
  INVARIANT(head == nullptr || (head->series_ == series && head->base_ != base));
  Shard& shard = ShardFor(series);
  static_assert(sizeof(RowHourMemory) <= 152);
  auto* row = new (shard.arena.Take(sizeof(RowHourMemory))) RowHourMemory();
  row->series_ = series;
  row->base_ = base;
  row->older_ = head;
  row->depth_ = head == nullptr ? 0 : static_cast<uint8_t>(std::min(head->depth_ + 1, 0xFF));
  if (row->depth_ >= kWalkMax) {
    const std::unique_lock lock(shard.by_base_mutex);
    // If the row is the first one of its series in the maps, the older rows are added, too.
    const RowHourMemory* const known = row->depth_ == kWalkMax ? nullptr : head;
    for (RowHourMemory* r = row; r != known; r = r->older_) AddToMap(shard, r);
  }
  heads_.Set(series, row);
  return row;
}

void RowMemory::AddToMap(Shard& shard, RowHourMemory* row) {
  size_t bytes = 0;
  if (shard.by_base == nullptr) {
    shard.by_base = std::make_unique<RowMaps>();
    bytes = sizeof(RowMaps);
  }
  const uint64_t row_id = RowId(row->series_, row->base_);
  RowMap& map = MapOf(*shard.by_base, row_id);
  const size_t slots = map.bucket_count();
  map.emplace(row_id, row);
  bytes += (map.bucket_count() - slots) * (sizeof(RowMap::value_type) + 1);
  if (bytes > 0) extra_bytes_.fetch_add(bytes, kRelaxed);
}

void RowMemory::Begin(RowHourMemory* row) {
  INVARIANT(row->version_.load(kRelaxed) % 2 == 0);
  row->version_.store(row->version_.load(kRelaxed) + 1, kRelaxed);
  // All later changes are stored with release order, so a reader that sees one of them also sees
  // the odd version.
}

void RowMemory::Publish(RowHourMemory* row) {
  INVARIANT(row->version_.load(kRelaxed) % 2 == 1);
  row->tail_count_.store(row->tail_used_, std::memory_order_release);
  row->version_.store(row->version_.load(kRelaxed) + 1, std::memory_order_release);
}

// Encodes the full tail as a chunk. If the caller has called Begin, the version is already odd.
// Points that are out of order are sorted, unless an instant repeats or later points of their
// record may still need the order of arrival.
void RowMemory::MakeRoom(RowHourMemory* row) {
  INVARIANT(row->tail_used_ == RowHourMemory::kSlots);
  points::ChunkEntries entries;
  for (size_t i = 0; i < points::kChunkEntries; ++i) {
    entries.ops[i] = row->ops_[i].load(kRelaxed);
    entries.bits[i] = row->bits_[i].load(kRelaxed);
  }
  if (!points::IsRising(entries) && row->record_start_ == row->written())
    points::SortRising(&entries);
  RowHourMemory::Chunks chunks{row->pages_.load(kRelaxed), row->chunks_.load(kRelaxed),
                               row->page_used_.load(kRelaxed)};
  AddChunk(ShardFor(row->series_), &chunks, entries);
  std::vector<RowHourMemory::Entry> rest;
  if (chunks.count >= RowHourMemory::kLongRowEntries / points::kChunkEntries) [[unlikely]] {
    long_row_.store(true, kRelaxed);
  } else if (chunks.count >> row->compact_log_ != 0) [[unlikely]] {
    Compact(row, &chunks, &rest);
  }

  const bool alone = row->version_.load(kRelaxed) % 2 == 0;
  if (alone) Begin(row);
  row->pages_.store(chunks.newest, kRelease);
  row->page_used_.store(chunks.newest_used, kRelease);
  row->chunks_.store(chunks.count, kRelease);
  for (size_t i = 0; i < rest.size(); ++i) {
    row->bits_[i].store(rest[i].bits, kRelease);
    row->ops_[i].store(rest[i].op, kRelease);
  }
  INVARIANT(rest.size() < points::kChunkEntries);
  row->tail_used_ = static_cast<uint8_t>(rest.size());
  row->tail_count_.store(row->tail_used_, kRelease);
  if (alone) Publish(row);
}

// Called when all entries of the row are in `chunks`. Keeps the last entry of each operation (kind
// and qualifier), in order of arrival, as a flush would. Readers notice no difference, because the
// last entry of an operation replaces the effect of earlier ones. Sets *chunks to new pages, and
// *rest to the last entries, which do not fill a chunk.
void RowMemory::Compact(RowHourMemory* row, RowHourMemory::Chunks* chunks,
                        std::vector<RowHourMemory::Entry>* rest) {
  const auto set_next = [row](uint32_t count) {
    const auto log = std::max<int>(RowHourMemory::kCompactLogMin, std::bit_width(count) + 1);
    row->compact_log_ = log > RowHourMemory::kCompactLogMax ? 31 : static_cast<uint8_t>(log);
  };
  set_next(chunks->count);
  // Most long rows are in order, so nothing repeats.
  int64_t last = -1;
  bool rising = true;
  RowHourMemory::VisitChunks(*chunks, [&](uint32_t op, uint64_t) {
    const int64_t offset = IsPut(op) ? OffsetMs(op) : -1;
    rising = rising && offset > last;
    last = offset;
  });
  if (rising) return;

  std::vector<RowHourMemory::Entry> all;
  std::vector<uint64_t> keys;  // operation and index of each entry
  all.reserve(chunks->count * points::kChunkEntries);
  keys.reserve(chunks->count * points::kChunkEntries);
  RowHourMemory::VisitChunks(*chunks, [&](uint32_t op, uint64_t bits) {
    // Each record number counts as an operation of its own.
    if (op != kRecord) keys.push_back(uint64_t{op} << 32 | all.size());
    all.push_back({op, bits});
  });
  std::sort(keys.begin(), keys.end());
  std::vector<bool> lasts(all.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool is_last = i + 1 == keys.size() || keys[i + 1] >> 32 != keys[i] >> 32;
    lasts[static_cast<uint32_t>(keys[i])] = is_last;
  }
  // A record number is kept if an entry of the record is kept. The last record number is always
  // kept, because more entries of this record may follow.
  for (size_t i = all.size(), needed = 1; i > 0; --i) {
    if (all[i - 1].op != kRecord) {
      needed |= lasts[i - 1] ? 1 : 0;
    } else {
      lasts[i - 1] = std::exchange(needed, 0) != 0;
    }
  }
  size_t kept = 0;
  uint32_t record_start = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == row->record_start_) record_start = static_cast<uint32_t>(kept);
    if (lasts[i]) all[kept++] = all[i];
  }
  if (kept == all.size()) return;
  row->record_start_ = row->record_start_ < all.size() ? record_start : static_cast<uint32_t>(kept);
  Shard& shard = ShardFor(row->series_);
  *chunks = {};
  size_t at = 0;
  for (; at + points::kChunkEntries <= kept; at += points::kChunkEntries) {
    points::ChunkEntries entries;
    for (size_t i = 0; i < points::kChunkEntries; ++i) {
      entries.ops[i] = all[at + i].op;
      entries.bits[i] = all[at + i].bits;
    }
    AddChunk(shard, chunks, entries);
  }
  rest->assign(all.begin() + static_cast<ptrdiff_t>(at),
               all.begin() + static_cast<ptrdiff_t>(kept));
  set_next(chunks->count);
}

void RowMemory::AddChunk(Shard& shard, RowHourMemory::Chunks* chunks,
                         const points::ChunkEntries& entries) {
  char encoded[points::kChunkBytesMax];
  const size_t bytes = points::EncodeChunk(entries, encoded);
  INVARIANT(bytes > 0 && bytes <= points::kChunkBytesMax);
  std::memcpy(RoomForChunk(shard, chunks, bytes), encoded, bytes);
  chunks->newest_used = static_cast<uint16_t>(chunks->newest_used + bytes);
  INVARIANT(chunks->newest_used <= chunks->newest->capacity);
  ++chunks->count;
}

// Returns space after the used bytes of the newest page, or in a new page. Readers do not look
// beyond the used bytes.
char* RowMemory::RoomForChunk(Shard& shard, RowHourMemory::Chunks* chunks, size_t bytes) {
  using Page = RowHourMemory::Page;
  auto* const newest = const_cast<Page*>(chunks->newest);
  if (newest != nullptr && newest->capacity - chunks->newest_used >= static_cast<int>(bytes)) {
    return newest->bytes + chunks->newest_used;
  }
  constexpr size_t kHeadBytes = offsetof(Page, bytes);
  size_t size = kPageBytes[0];
  if (newest != nullptr) {
    INVARIANT(chunks->newest_used <= newest->capacity);
    const size_t before = newest->capacity + kHeadBytes;
    const auto* larger = std::upper_bound(std::begin(kPageBytes), std::end(kPageBytes), before);
    size = larger == std::end(kPageBytes) ? larger[-1] : *larger;
    newest->used = chunks->newest_used;
  }
  size = std::max(size, (bytes + kHeadBytes + 7) / 8 * 8);
  auto* page = reinterpret_cast<Page*>(shard.arena.Take(size));
  page->older = newest;
  INVARIANT(size - kHeadBytes <= UINT16_MAX);
  page->capacity = static_cast<uint16_t>(size - kHeadBytes);
  chunks->newest = page;
  chunks->newest_used = 0;
  return page->bytes;
}

inline void RowMemory::Push(RowHourMemory* row, uint32_t op, uint64_t bits) {
  if (row->tail_used_ == RowHourMemory::kSlots) MakeRoom(row);
  row->bits_[row->tail_used_].store(bits, kRelease);
  row->ops_[row->tail_used_].store(op, kRelease);
  ++row->tail_used_;
}

inline void RowMemory::StartRecord(RowHourMemory* row, uint64_t sequence) {
  row->last_sequence_ = sequence;
  if ((row->flags_.load(kRelaxed) & RowHourMemory::kRaw) != 0) [[unlikely]] {
    Push(row, kRecord, sequence);
  }
  row->record_start_ = row->written();
}

void RowMemory::Add(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
                    points::RowForm form) {
  const auto form_before = static_cast<points::RowForm>(row->form_.load(std::memory_order_relaxed));
  if (form_before != form) {
    const points::RowForm joined =
        form_before == points::RowForm::kNone ? form : points::RowForm::kAuto;
    row->form_.store(static_cast<uint8_t>(joined), kRelease);
  }
  if (row->last_sequence_ != sequence) StartRecord(row, sequence);
  const uint32_t offset = OffsetMs(qualifier);
  const bool rising = row->written() == row->record_start_ || offset > row->last_offset_ms_;
  row->last_offset_ms_ = offset;
  Push(row, qualifier, bits);
  if (!rising && form == points::RowForm::kSingle) RepeatSmaller(row, qualifier);
  std::atomic<uint64_t>& points = ShardFor(row->series_).points;
  points.store(points.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Of several single cells of one record at one instant, a cell with a smaller qualifier must be
// newer. Entries never move, so this function writes the cells with smaller qualifiers again, after
// the cell that was just written. It runs under the write lock, so it decodes only the chunks with
// the last kLookBack entries.
void RowMemory::RepeatSmaller(RowHourMemory* row, uint32_t qualifier) {
  using Entry = RowHourMemory::Entry;
  const uint32_t last = row->written() - 1;
  const uint32_t from = std::max(row->record_start_, last > kLookBack ? last - kLookBack : 0);
  std::array<Entry, kLookBack> smaller;
  auto end = smaller.begin();
  uint32_t index = row->written() - row->tail_used_;
  auto look = [&](uint32_t op, uint64_t bits) {
    const uint32_t at = index++;
    if (at < from || at >= last) return;
    if (!IsPut(op)) {
      end = smaller.begin();  // cells before a delete are not written again
    } else if (op < qualifier && OffsetMs(op) == OffsetMs(qualifier)) {
      end = std::remove_if(smaller.begin(), end, [op](const Entry& e) { return e.op == op; });
      INVARIANT(end != smaller.end());
      *end++ = {op, bits};
    }
  };
  std::array<const char*, kLookBack / points::kChunkEntries + 1> chunks;
  const size_t count =
      index <= from ? 0 : (index - from + points::kChunkEntries - 1) / points::kChunkEntries;
  row->LastChunks({chunks.data(), count});
  index -= static_cast<uint32_t>(count * points::kChunkEntries);
  for (size_t r = 0; r < count; ++r) {
    points::ChunkEntries entries;
    points::DecodeChunk(chunks[r], &entries);
    for (size_t i = 0; i < points::kChunkEntries; ++i) look(entries.ops[i], entries.bits[i]);
  }
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
  row->record_start_ = row->written();
}

void RowMemory::WriteClear(RowHourMemory* row, uint64_t sequence) {
  if (row->last_sequence_ != sequence) StartRecord(row, sequence);
  Push(row, kClear, 0);
  row->SetFlag(RowHourMemory::kCleared);
  row->record_start_ = row->written();
  row->form_.store(static_cast<uint8_t>(points::RowForm::kNone), kRelease);
}

void RowHourMemory::Copy(Snapshot* to) const {
  for (int spins = 0;; ++spins) {
    const uint32_t before = version_.load(kAcquire);
    if (before % 2 == 0) {
      to->chunks = {pages_.load(kAcquire), chunks_.load(kAcquire), page_used_.load(kAcquire)};
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

namespace {

// The qualifier of a deleted point, and the number of points that were written before the delete.
using DeletedPoint = std::pair<uint32_t, size_t>;

// Removes the points that a later delete of their qualifier removes. Row compaction deletes all
// points of a row one by one, so the points must not be searched for each delete.
void RemoveDeleted(std::vector<DeletedPoint> deletes, std::vector<points::PartPoint>* points) {
  if (deletes.empty()) return;
  std::sort(deletes.begin(), deletes.end());
  size_t index = 0;
  std::erase_if(*points, [&](const points::PartPoint& point) {
    const size_t at = index++;
    // The last delete of a qualifier is the last one in the order of the pairs.
    const auto behind = std::upper_bound(deletes.begin(), deletes.end(),
                                         DeletedPoint(point.qualifier.bits, SIZE_MAX));
    return behind != deletes.begin() && std::prev(behind)->first == point.qualifier.bits &&
           at < std::prev(behind)->second;
  });
}

}  // namespace

void RowHourMemory::Read(points::RowPart* row_part, uint64_t sequence) const {
  Snapshot now;
  Copy(&now);
  row_part->form = static_cast<points::RowForm>(now.form);
  bool rising = true;
  int64_t last = -1;
  std::vector<DeletedPoint> deletes;
  row_part->points.reserve(now.chunks.count * points::kChunkEntries + now.count);
  auto apply = [&](uint32_t op, uint64_t bits) {
    if (IsPut(op)) {
      const int64_t offset = OffsetMs(op);
      rising = rising && offset > last;
      last = offset;
      row_part->points.push_back({{op}, sequence, bits});
      return;
    }
    if (op == kRecord) {
      sequence = bits;
      return;
    }
    if (op == kClear) {
      row_part->points.clear();
      deletes.clear();
      row_part->gone.clear();
      row_part->cleared = true;
      rising = true;
      last = -1;
      return;
    }
    const codec::Qualifier q{(op & kKindMask) == kDeleteSeconds ? op & UINT16_MAX
                                                                : op | codec::kMillisMark};
    deletes.emplace_back(q.bits, row_part->points.size());
    if (!row_part->cleared) row_part->gone.push_back(q.Encode());
  };
  VisitChunks(now.chunks, apply);
  for (uint8_t i = 0; i < now.count; ++i) apply(now.ops[i], now.bits[i]);
  RemoveDeleted(std::move(deletes), &row_part->points);
  if (!rising || !row_part->gone.empty()) points::Normalize(row_part);
}

bool RowHourMemory::AppendTo(points::RowColumns* columns, points::RowForm* form) const {
  Snapshot now;
  Copy(&now);
  *form = static_cast<points::RowForm>(now.form);
  size_t at = columns->size();
  columns->Resize(at + now.chunks.count * points::kChunkEntries + now.count);
  bool puts = true;
  VisitPages(now.chunks, [&](const char* chunk, const char* end) {
    puts = puts && points::DecodeChunks(chunk, end, &at, columns);
  });
  for (uint8_t i = 0; puts && i < now.count; ++i, ++at) {
    const codec::Qualifier q{now.ops[i]};
    puts = IsPut(q.bits);
    if (puts) columns->Set(at, q.offset_ms(), {now.bits[i], q.flags()});
  }
  return puts;
}

void RowHourMemory::Prefetch(std::span<const RowHourMemory* const> rows) {
  std::vector<const Page*> at;
  for (const RowHourMemory* row : rows) {
    if (const Page* page = row->pages_.load(kAcquire)) {
      __builtin_prefetch(page);
      at.push_back(page);
    }
  }
  while (!at.empty()) {
    for (const Page*& page : at) {
      constexpr size_t kLine = 64;
      const char* const end = page->bytes + page->capacity;
      for (const char* line = page->bytes + kLine / 2; line < end; line += kLine) {
        __builtin_prefetch(line);
      }
      page = page->older;
      if (page != nullptr) __builtin_prefetch(page);
    }
    std::erase(at, nullptr);
  }
}

}  // namespace hg::engine
