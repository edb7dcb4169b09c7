#include "tsd/ingest/spelling_table.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace hg::tsd {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr size_t kArenaBytes = 256 * 1024;
/// Points looked up together: far enough ahead for the prefetches, few enough for the first-level
/// cache.
constexpr size_t kWindow = 32;

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

uint64_t Load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}

/// The multiply-and-fold scheme of wyhash (public domain). Its known weakness, words that equal a
/// constant, needs the constants to be known: ours are drawn per process.
uint64_t HashBytes(std::string_view bytes, uint64_t seed, const uint64_t (&secret)[3]) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t a, b;
  if (n <= 16) {
    if (n >= 8) {
      a = Load64(p);
      b = Load64(p + n - 8);
    } else if (n >= 4) {
      a = Load32(p);
      b = Load32(p + n - 4);
    } else if (n > 0) {
      a = static_cast<uint64_t>(static_cast<uint8_t>(p[0])) << 16 |
          static_cast<uint64_t>(static_cast<uint8_t>(p[n / 2])) << 8 |
          static_cast<uint8_t>(p[n - 1]);
      b = 0;
    } else {
      a = b = 0;
    }
  } else {
    uint64_t other = seed;
    while (n > 32) {
      seed = Mix(Load64(p) ^ secret[1], Load64(p + 8) ^ seed);
      other = Mix(Load64(p + 16) ^ secret[2], Load64(p + 24) ^ other);
      p += 32;
      n -= 32;
    }
    if (n > 16) {
      seed = Mix(Load64(p) ^ secret[2], Load64(p + 8) ^ seed);
    }
    seed ^= other;
    // The last 16 bytes, overlapping what was read before: the text is longer than that.
    a = Load64(p + n - 16);
    b = Load64(p + n - 8);
  }
  return Mix(secret[0] ^ bytes.size(), Mix(a ^ secret[1], b ^ seed));
}

}  // namespace

struct SpellingTable::Record {
  // Series number, and above it the generation in which it was true.
  std::atomic<uint64_t> state;
  uint32_t metric_size;
  uint32_t tags_size;
  Dialect dialect;

  [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }

  [[nodiscard]] bool Holds(const Spelling& s) const {
    return metric_size == s.metric.size() && tags_size == s.tags.size() && dialect == s.dialect &&
           std::memcmp(bytes(), s.metric.data(), s.metric.size()) == 0 &&
           std::memcmp(bytes() + metric_size, s.tags.data(), s.tags.size()) == 0;
  }
};

struct SpellingTable::Slot {
  std::atomic<uint64_t> hash{0};
  std::atomic<Record*> record{nullptr};  // set last; null = empty
};

struct SpellingTable::Table {
  explicit Table(size_t slot_count)
      : mask(slot_count - 1), slots(std::make_unique<Slot[]>(slot_count)) {}

  const size_t mask;
  size_t used = 0;  // guarded by the writer's mutex
  std::unique_ptr<Slot[]> slots;
};

/// What is forgotten together. Outgrown tables stay: a reader may still be in one, and together
/// they are smaller than the last.
struct SpellingTable::Space {
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<char[]>> arenas;
  size_t arena_left = 0;
  char* arena_next = nullptr;
  size_t bytes = 0;  // allocated
};

SpellingTable::SpellingTable(uint64_t key, size_t bytes_max)
    : secret_{Mix(key ^ 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu) | 1,
              Mix(key ^ 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u) | 1,
              Mix(key ^ 0x1d8e4e27c47d124fu, 0xeb44accab455d165u) | 1},
      bytes_max_(bytes_max),
      space_(std::make_unique<Space>()) {
  AddTable(kFirstSlots);
  current_.store(space_->tables.back().get());
}

SpellingTable::~SpellingTable() = default;

uint64_t SpellingTable::Hash(const Spelling& spelling) const {
  const uint64_t metric =
      HashBytes(spelling.metric, secret_[0] + static_cast<uint64_t>(spelling.dialect), secret_);
  return HashBytes(spelling.tags, metric, secret_);
}

const SpellingTable::Record* SpellingTable::Lookup(const Table& table, uint64_t hash,
                                                   const Spelling& spelling) const {
  for (size_t i = hash & table.mask;; i = (i + 1) & table.mask) {
    const Slot& slot = table.slots[i];
    const Record* record = slot.record.load(std::memory_order_acquire);
    if (record == nullptr) return nullptr;
    if (slot.hash.load(std::memory_order_relaxed) == hash && record->Holds(spelling)) return record;
  }
}

bool SpellingTable::FindAll(std::span<const SpelledPoint> points, SeriesNumber* numbers) const {
  // Counted before the table is looked for: a writer that has published another one and then sees
  // nobody here (both sequentially consistent) may free the old one.
  struct Stay {
    explicit Stay(std::atomic<uint32_t>& count) : count(count) { count.fetch_add(1); }
    ~Stay() { count.fetch_sub(1); }
    std::atomic<uint32_t>& count;
  } const stay(readers_);
  const Table& table = *current_.load();
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  uint64_t hashes[kWindow];
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kWindow);
    for (size_t i = 0; i < n; ++i) {
      hashes[i] = Hash(points[i].series);
      __builtin_prefetch(&table.slots[hashes[i] & table.mask]);
    }
    for (size_t i = 0; i < n; ++i) {
      const Record* record =
          table.slots[hashes[i] & table.mask].record.load(std::memory_order_acquire);
      __builtin_prefetch(record);
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(record) + 64));
    }
    for (size_t i = 0; i < n; ++i) {
      const Record* record = Lookup(table, hashes[i], points[i].series);
      if (record == nullptr) return false;
      const uint64_t state = record->state.load(std::memory_order_acquire);
      if (static_cast<uint32_t>(state >> 32) != generation) return false;
      numbers[i] = static_cast<SeriesNumber>(state);
    }
    points = points.subspan(n);
    numbers += n;
  }
  return true;
}

SpellingTable::Record* SpellingTable::NewRecord(const Spelling& spelling) {
  size_t bytes = sizeof(Record) + spelling.metric.size() + spelling.tags.size();
  bytes = (bytes + alignof(Record) - 1) / alignof(Record) * alignof(Record);
  Space& space = *space_;
  if (bytes > space.arena_left) {
    const size_t size = std::max(bytes, std::min(kArenaBytes, bytes_max_ / 8));
    space.arenas.push_back(std::make_unique_for_overwrite<char[]>(size));
    space.arena_next = space.arenas.back().get();
    space.arena_left = size;
    space.bytes += size;
    bytes_.fetch_add(size, std::memory_order_relaxed);
  }
  auto* record = new (space.arena_next) Record();
  space.arena_next += bytes;
  space.arena_left -= bytes;
  record->metric_size = static_cast<uint32_t>(spelling.metric.size());
  record->tags_size = static_cast<uint32_t>(spelling.tags.size());
  record->dialect = spelling.dialect;
  std::memcpy(record->bytes(), spelling.metric.data(), spelling.metric.size());
  std::memcpy(record->bytes() + spelling.metric.size(), spelling.tags.data(), spelling.tags.size());
  return record;
}

void SpellingTable::Insert(Table* table, uint64_t hash, Record* record) {
  size_t i = hash & table->mask;
  while (table->slots[i].record.load(std::memory_order_relaxed) != nullptr)
    i = (i + 1) & table->mask;
  table->slots[i].hash.store(hash, std::memory_order_relaxed);
  table->slots[i].record.store(record, std::memory_order_release);
  ++table->used;
}

void SpellingTable::AddTable(size_t slot_count) {
  space_->tables.push_back(std::make_unique<Table>(slot_count));
  const size_t bytes = slot_count * sizeof(Slot);
  space_->bytes += bytes;
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void SpellingTable::Grow() {
  const Table& old = *space_->tables.back();
  AddTable((old.mask + 1) * 2);
  Table* bigger = space_->tables.back().get();
  for (size_t i = 0; i <= old.mask; ++i) {
    Record* record = old.slots[i].record.load(std::memory_order_relaxed);
    if (record != nullptr)
      Insert(bigger, old.slots[i].hash.load(std::memory_order_relaxed), record);
  }
  current_.store(bigger);
}

bool SpellingTable::StartAnew() {
  if (retired_ != nullptr) return false;
  retired_ = std::move(space_);
  space_ = std::make_unique<Space>();
  AddTable(kFirstSlots);
  current_.store(space_->tables.back().get());
  spellings_.store(0, std::memory_order_relaxed);
  return true;
}

void SpellingTable::Remember(const Spelling& spelling, SeriesNumber number, uint32_t generation) {
  const uint64_t hash = Hash(spelling);
  const uint64_t state = static_cast<uint64_t>(generation) << 32 | number;
  std::lock_guard lock(mutex_);
  if (retired_ != nullptr && readers_.load() == 0) {
    bytes_.fetch_sub(retired_->bytes, std::memory_order_relaxed);
    retired_.reset();
  }
  if (auto* known = const_cast<Record*>(Lookup(*space_->tables.back(), hash, spelling));
      known != nullptr) {
    known->state.store(state, std::memory_order_release);
    return;
  }
  if (space_->bytes >= bytes_max_ && !StartAnew()) return;
  Record* record = NewRecord(spelling);
  record->state.store(state, std::memory_order_relaxed);
  Table* table = space_->tables.back().get();
  if ((table->used + 1) * 10 > (table->mask + 1) * 7) {
    Grow();
    table = space_->tables.back().get();
  }
  Insert(table, hash, record);
  spellings_.fetch_add(1, std::memory_order_relaxed);
}

void SpellingTable::Forget() {
  std::lock_guard lock(mutex_);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

SpellingTable::Stats SpellingTable::stats() const {
  return {spellings_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
}

}  // namespace hg::tsd
