#include "tsd/ingest/spelling_table.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "storage/base/invariant.h"
#include "tsd/ingest/spelling_hash.h"

namespace hg::tsd {
namespace {

using spelling_hash::HashBytes;
using spelling_hash::Mix;

constexpr size_t kFirstSlots = 1024;
constexpr size_t kArenaBytes = 256 * 1024;
/// Points looked up together: far enough ahead for the prefetches, few enough for the first-level
/// cache.
constexpr size_t kWindow = 32;

}  // namespace

/// Metric or tags as they were spelled, and the ids that this means.
struct SpellingTable::Text {
  uint32_t number;  // of its table
  uint32_t size;    // of the text
  uint16_t ids_size;
  Dialect dialect;
  char bytes[];  // text, ids

  [[nodiscard]] std::string_view text() const { return {bytes, size}; }
  [[nodiscard]] ByteView ids() const { return {bytes + size, ids_size}; }
};

struct SpellingTable::TextSlot {
  std::atomic<uint64_t> hash{0};
  std::atomic<const Text*> text{nullptr};  // set last; null = empty

  [[nodiscard]] bool empty() const { return text.load(std::memory_order_relaxed) == nullptr; }
  void Set(const TextSlot& other) {
    hash.store(other.hash.load(std::memory_order_relaxed), std::memory_order_relaxed);
    text.store(other.text.load(std::memory_order_relaxed), std::memory_order_release);
  }
};

// Twelve bytes: there is one for each series.
struct SpellingTable::PairSlot {
  std::atomic<uint32_t> metric{0}, tags{0};  // numbers of texts
  std::atomic<uint32_t> series{0};           // and 1; set last; 0 = empty

  [[nodiscard]] bool empty() const { return series.load(std::memory_order_relaxed) == 0; }
  void Set(const PairSlot& other) {
    metric.store(other.metric.load(std::memory_order_relaxed), std::memory_order_relaxed);
    tags.store(other.tags.load(std::memory_order_relaxed), std::memory_order_relaxed);
    series.store(other.series.load(std::memory_order_relaxed), std::memory_order_release);
  }
};

/// Open addressing; readers beside the writer.
template <typename Slot>
struct SpellingTable::Table {
  explicit Table(size_t slot_count)
      : mask(slot_count - 1), slots(std::make_unique<Slot[]>(slot_count)) {}

  [[nodiscard]] bool full() const { return (used + 1) * 10 > (mask + 1) * 7; }
  [[nodiscard]] size_t bytes() const { return (mask + 1) * sizeof(Slot); }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots[hash & mask]); }
  void Insert(uint64_t hash, const Slot& slot) {
    size_t i = hash & mask;
    while (!slots[i].empty()) i = (i + 1) & mask;
    slots[i].Set(slot);
    ++used;
  }

  const size_t mask;
  size_t used = 0;  // guarded by the writer's mutex
  const std::unique_ptr<Slot[]> slots;
};

/// What readers see.
struct SpellingTable::View {
  uint32_t generation;
  std::shared_ptr<Table<TextSlot>> metrics, tags;
  std::shared_ptr<Table<PairSlot>> pairs;
};

/// What is forgotten together.
struct SpellingTable::Space {
  std::unique_ptr<const View> view;
  std::vector<std::unique_ptr<char[]>> arenas;
  size_t arena_left = 0;
  char* arena_next = nullptr;
  size_t arena_bytes = 0;

  [[nodiscard]] size_t bytes() const {
    return arena_bytes + view->metrics->bytes() + view->tags->bytes() + view->pairs->bytes();
  }
};

/// Counted before the view is looked for: a writer that has published another one and then sees
/// nobody here (both sequentially consistent) may free the old one.
class SpellingTable::Stay {
 public:
  explicit Stay(const SpellingTable& table) : count_(table.readers_) { count_.fetch_add(1); }
  ~Stay() { count_.fetch_sub(1); }

 private:
  std::atomic<uint32_t>& count_;
};

SpellingTable::SpellingTable(uint64_t key, size_t bytes_max)
    : secret_{Mix(key ^ 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu) | 1,
              Mix(key ^ 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u) | 1,
              Mix(key ^ 0x1d8e4e27c47d124fu, 0xeb44accab455d165u) | 1},
      bytes_max_(bytes_max) {
  StartAnew();
}

SpellingTable::~SpellingTable() = default;

uint64_t SpellingTable::Hash(Dialect dialect, std::string_view text) const {
  return HashBytes(text, secret_[0] + static_cast<uint64_t>(dialect), secret_);
}

uint64_t SpellingTable::HashPair(uint32_t metric, uint32_t tags) const {
  return Mix((uint64_t{metric} << 32 | tags) ^ secret_[1], secret_[2]);
}

const SpellingTable::Text* SpellingTable::FindText(const Table<TextSlot>& table, uint64_t hash,
                                                   Dialect dialect, std::string_view text) {
  for (size_t i = hash & table.mask;; i = (i + 1) & table.mask) {
    const TextSlot& slot = table.slots[i];
    const Text* known = slot.text.load(std::memory_order_acquire);
    if (known == nullptr) return nullptr;
    if (slot.hash.load(std::memory_order_relaxed) == hash && known->dialect == dialect &&
        known->text() == text) {
      return known;
    }
  }
}

SpellingTable::PairSlot* SpellingTable::FindPair(const Table<PairSlot>& table, uint64_t hash,
                                                 uint32_t metric, uint32_t tags) {
  for (size_t i = hash & table.mask;; i = (i + 1) & table.mask) {
    PairSlot& slot = table.slots[i];
    if (slot.series.load(std::memory_order_acquire) == 0) return nullptr;
    if (slot.metric.load(std::memory_order_relaxed) == metric &&
        slot.tags.load(std::memory_order_relaxed) == tags) {
      return &slot;
    }
  }
}

bool SpellingTable::FindAll(std::span<const SpelledPoint> points, SeriesNumber* numbers) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  if (view.generation != generation()) return false;
  uint64_t metric_hashes[kWindow], tags_hashes[kWindow], pair_hashes[kWindow];
  uint32_t metrics[kWindow], tags[kWindow];
  bool repeated[kWindow];
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kWindow);
    for (size_t i = 0; i < n; ++i) {
      const Spelling& series = points[i].series;
      metric_hashes[i] = Hash(series.dialect, series.metric);
      view.metrics->Prefetch(metric_hashes[i]);
      // Metrics of one host come side by side.
      repeated[i] = i > 0 && series.tags == points[i - 1].series.tags &&
                    series.dialect == points[i - 1].series.dialect;
      if (repeated[i]) continue;
      tags_hashes[i] = Hash(series.dialect, series.tags);
      view.tags->Prefetch(tags_hashes[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      if (repeated[i]) continue;
      const auto* text = reinterpret_cast<const char*>(
          view.tags->slots[tags_hashes[i] & view.tags->mask].text.load(std::memory_order_acquire));
      __builtin_prefetch(text);
      __builtin_prefetch(
          reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(text) + size_t{64}));
    }
    for (size_t i = 0; i < n; ++i) {
      const Spelling& series = points[i].series;
      const Text* metric = FindText(*view.metrics, metric_hashes[i], series.dialect, series.metric);
      if (metric == nullptr) return false;
      metrics[i] = metric->number;
      if (repeated[i]) {
        tags[i] = tags[i - 1];
      } else {
        const Text* text = FindText(*view.tags, tags_hashes[i], series.dialect, series.tags);
        if (text == nullptr) return false;
        tags[i] = text->number;
      }
      pair_hashes[i] = HashPair(metrics[i], tags[i]);
      view.pairs->Prefetch(pair_hashes[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      const PairSlot* slot = FindPair(*view.pairs, pair_hashes[i], metrics[i], tags[i]);
      if (slot == nullptr) return false;
      numbers[i] = slot->series.load(std::memory_order_relaxed) - 1;
    }
    points = points.subspan(n);
    numbers += n;
  }
  return true;
}

SeriesIds SpellingTable::FindHalves(const Spelling& spelling) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  SeriesIds ids;
  if (view.generation != generation()) return ids;
  const auto find = [&](const Table<TextSlot>& table, std::string_view text, Bytes* out) {
    const Text* known = FindText(table, Hash(spelling.dialect, text), spelling.dialect, text);
    if (known != nullptr) *out = known->ids();
  };
  find(*view.metrics, spelling.metric, &ids.metric);
  find(*view.tags, spelling.tags, &ids.pairs);
  return ids;
}

char* SpellingTable::Take(size_t bytes) {
  bytes = (bytes + alignof(Text) - 1) / alignof(Text) * alignof(Text);
  Space& space = *space_;
  if (bytes > space.arena_left) {
    const size_t size = std::max(bytes, std::min(kArenaBytes, bytes_max_ / 8));
    space.arenas.push_back(std::make_unique_for_overwrite<char[]>(size));
    space.arena_next = space.arenas.back().get();
    space.arena_left = size;
    space.arena_bytes += size;
    bytes_.fetch_add(size, std::memory_order_relaxed);
  }
  char* const taken = space.arena_next;
  space.arena_next += bytes;
  space.arena_left -= bytes;
  return taken;
}

// Readers go on in the table that they found; the one outgrown stays until none is seen.
template <typename Slot, typename HashOf>
void SpellingTable::MakeRoom(std::shared_ptr<Table<Slot>> View::*table, const HashOf& hash_of) {
  const std::shared_ptr<Table<Slot>> old = (*space_->view).*table;
  if (!old->full()) return;
  auto bigger = std::make_shared<Table<Slot>>((old->mask + 1) * 2);
  for (size_t i = 0; i <= old->mask; ++i) {
    if (!old->slots[i].empty()) bigger->Insert(hash_of(old->slots[i]), old->slots[i]);
  }
  bytes_.fetch_add(bigger->bytes(), std::memory_order_relaxed);
  auto view = std::make_unique<View>(*space_->view);
  (*view).*table = std::move(bigger);
  Retire(std::exchange(space_->view, std::move(view)), old->bytes());
  current_.store(space_->view.get());
}

// Known or made.
const SpellingTable::Text& SpellingTable::TextOf(std::shared_ptr<Table<TextSlot>> View::*table,
                                                 Dialect dialect, std::string_view text,
                                                 ByteView ids) {
  const uint64_t hash = Hash(dialect, text);
  if (const Text* known = FindText(*((*space_->view).*table), hash, dialect, text)) return *known;
  INVARIANT(ids.size() <= UINT16_MAX);
  MakeRoom(table, [](const TextSlot& slot) { return slot.hash.load(std::memory_order_relaxed); });
  Table<TextSlot>& texts = *((*space_->view).*table);
  auto* made = new (Take(sizeof(Text) + text.size() + ids.size())) Text();
  made->number = static_cast<uint32_t>(texts.used);
  made->size = static_cast<uint32_t>(text.size());
  made->ids_size = static_cast<uint16_t>(ids.size());
  made->dialect = dialect;
  std::memcpy(made->bytes, text.data(), text.size());
  std::memcpy(made->bytes + text.size(), ids.data(), ids.size());
  TextSlot slot;
  slot.hash = hash;
  slot.text = made;
  texts.Insert(hash, slot);
  return *made;
}

void SpellingTable::Retire(std::shared_ptr<const void> gone, size_t bytes) {
  retired_.push_back(std::move(gone));
  retired_bytes_ += bytes;
}

bool SpellingTable::FreeRetired() {
  if (retired_.empty()) return true;
  if (readers_.load() != 0) return false;
  bytes_.fetch_sub(retired_bytes_, std::memory_order_relaxed);
  retired_.clear();
  retired_bytes_ = 0;
  return true;
}

void SpellingTable::StartAnew() {
  auto space = std::make_shared<Space>();
  auto view = std::make_unique<View>();
  view->generation = generation_.load(std::memory_order_relaxed);
  view->metrics = std::make_shared<Table<TextSlot>>(kFirstSlots);
  view->tags = std::make_shared<Table<TextSlot>>(kFirstSlots);
  view->pairs = std::make_shared<Table<PairSlot>>(kFirstSlots);
  space->view = std::move(view);
  bytes_.fetch_add(space->bytes(), std::memory_order_relaxed);
  current_.store(space->view.get());
  spellings_.store(0, std::memory_order_relaxed);
  if (space_ != nullptr) {
    const size_t bytes = space_->bytes();
    Retire(std::move(space_), bytes);
  }
  space_ = std::move(space);
}

void SpellingTable::Remember(const Spelling& spelling, const SeriesIds& ids, SeriesNumber number,
                             uint32_t generation) {
  std::lock_guard lock(mutex_);
  if (generation != generation_.load(std::memory_order_relaxed)) return;
  const bool no_reader_behind = FreeRetired();
  if (space_->view->generation != generation || space_->bytes() >= bytes_max_) {
    // What is left for readers who are behind counts, too.
    if (!no_reader_behind) return;
    StartAnew();
    FreeRetired();
  }
  const uint32_t metric =
      TextOf(&View::metrics, spelling.dialect, spelling.metric, ids.metric).number;
  const uint32_t tags = TextOf(&View::tags, spelling.dialect, spelling.tags, ids.pairs).number;
  const uint64_t hash = HashPair(metric, tags);
  if (PairSlot* known = FindPair(*space_->view->pairs, hash, metric, tags)) {
    known->series.store(number + 1, std::memory_order_release);
    return;
  }
  MakeRoom(&View::pairs, [this](const PairSlot& slot) {
    return HashPair(slot.metric.load(std::memory_order_relaxed),
                    slot.tags.load(std::memory_order_relaxed));
  });
  PairSlot slot;
  slot.metric = metric;
  slot.tags = tags;
  slot.series = number + 1;
  space_->view->pairs->Insert(hash, slot);
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
