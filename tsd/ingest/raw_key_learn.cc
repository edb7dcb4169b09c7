#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "storage/base/invariant.h"
#include "tsd/ingest/raw_key_space.h"

// Adds raw series keys to the table. Only one thread at a time, the writer, calls these functions.

namespace hg::tsd {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr size_t kArenaBytes = 256 * 1024;

}  // namespace

char* RawKeyTable::Take(size_t bytes) {
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

// Enlarges a full table. Readers continue to use the old table. It is freed when there are no
// readers.
template <typename Slot, typename HashOf>
void RawKeyTable::MakeRoom(std::shared_ptr<Table<Slot>> View::*table, const HashOf& hash_of) {
  const std::shared_ptr<Table<Slot>> old = (*space_->view).*table;
  if (!old->full()) return;
  auto bigger = std::make_shared<Table<Slot>>(old->larger());
  for (size_t i = 0; i < old->size; ++i) {
    if (!old->slots[i].empty()) bigger->Insert(hash_of(old->slots[i]), old->slots[i]);
  }
  bytes_.fetch_add(bigger->bytes(), std::memory_order_relaxed);
  auto view = std::make_unique<View>(*space_->view);
  (*view).*table = std::move(bigger);
  Retire(std::exchange(space_->view, std::move(view)), old->bytes());
  current_.store(space_->view.get());
}

// Finds or adds a text of a metric or of tags. Returns the number of its ids.
uint32_t RawKeyTable::NumberOf(const Half& half, uint64_t hash, Dialect dialect,
                               std::string_view text, ByteView ids) {
  if (const Text* known = FindText(*((*space_->view).*half.texts), hash, dialect, text)) {
    return known->number;
  }
  INVARIANT(ids.size() <= UINT16_MAX);
  MakeRoom(half.texts,
           [](const TextSlot& slot) { return slot.hash.load(std::memory_order_relaxed); });
  Meanings& meanings = (*space_).*half.meanings;
  const std::optional<uint32_t> number = meanings.Find(ids);
  auto* made = new (Take(sizeof(Text) + text.size() + ids.size())) Text();
  made->number = number.value_or(meanings.next());
  made->size = static_cast<uint32_t>(text.size());
  made->ids_size = static_cast<uint16_t>(ids.size());
  made->dialect = dialect;
  std::memcpy(made->bytes, text.data(), text.size());
  std::memcpy(made->bytes + text.size(), ids.data(), ids.size());
  if (!number) {
    const size_t before = meanings.bytes();
    meanings.Add(made);
    bytes_.fetch_add(meanings.bytes() - before, std::memory_order_relaxed);
  }
  TextSlot slot;
  slot.hash = hash;
  slot.text = made;
  ((*space_->view).*half.texts)->Insert(hash, slot);
  return made->number;
}

void RawKeyTable::Retire(std::shared_ptr<const void> gone, size_t bytes) {
  retired_.push_back(std::move(gone));
  retired_bytes_ += bytes;
}

bool RawKeyTable::FreeRetired() {
  if (retired_.empty()) return true;
  if (readers_.load() != 0) return false;
  bytes_.fetch_sub(retired_bytes_, std::memory_order_relaxed);
  retired_.clear();
  retired_bytes_ = 0;
  return true;
}

void RawKeyTable::StartAnew() {
  auto space = std::make_shared<Space>();
  auto view = std::make_unique<View>();
  view->generation = generation_.load(std::memory_order_relaxed);
  view->metrics = std::make_shared<Table<TextSlot>>(kFirstSlots);
  view->tags = std::make_shared<Table<TextSlot>>(kFirstSlots);
  view->pairs = std::make_shared<Table<PairSlot>>(kFirstSlots);
  space->view = std::move(view);
  bytes_.fetch_add(space->bytes(), std::memory_order_relaxed);
  current_.store(space->view.get());
  raw_keys_.store(0, std::memory_order_relaxed);
  if (space_ != nullptr) {
    const size_t bytes = space_->bytes();
    Retire(std::move(space_), bytes);
  }
  space_ = std::move(space);
}

// Returns whether ids that the caller resolved at `generation` of the table may be added to the
// table now. Forget starts a new generation, and ids of earlier generations are rejected. If the
// table is full, or its content is of an earlier generation, Ready clears the table. It returns
// false instead while readers may use an old view.
bool RawKeyTable::Ready(uint32_t generation) {
  if (generation != generation_.load(std::memory_order_relaxed)) return false;
  const bool no_reader_behind = FreeRetired();
  if (space_->view->generation != generation || space_->bytes() >= bytes_max_) {
    // bytes() includes memory that is kept for readers of old views. While there are such readers,
    // the limit may be exceeded only because of that memory, so the table is not cleared.
    if (!no_reader_behind) return false;
    StartAnew();
    FreeRetired();
  }
  return true;
}

// Adds the metrics and the tags of at most kRawKeysTogether keys.
void RawKeyTable::NumberHalves(std::span<const KeyedPoint> points, const KeyedSeries* series,
                               Pair* pairs) {
  static constexpr Half kMetrics{&View::metrics, &Space::metrics};
  static constexpr Half kTags{&View::tags, &Space::tags};
  uint64_t metric_hashes[kRawKeysTogether], tags_hashes[kRawKeysTogether];
  bool repeated[kRawKeysTogether];
  for (size_t i = 0; i < points.size(); ++i) {
    if (series[i].known) continue;
    const RawKey& raw_key = points[i].series;
    metric_hashes[i] = Hash(raw_key.dialect, raw_key.metric);
    repeated[i] = i > 0 && !series[i - 1].known && SameTags(raw_key, points[i - 1].series);
    if (repeated[i]) continue;
    tags_hashes[i] = Hash(raw_key.dialect, raw_key.tags);
    space_->view->tags->Prefetch(tags_hashes[i]);
  }
  for (size_t i = 0; i < points.size(); ++i) {
    if (series[i].known) continue;
    const RawKey& raw_key = points[i].series;
    const SeriesIds& ids = series[i].ids;
    pairs[i].metric =
        NumberOf(kMetrics, metric_hashes[i], raw_key.dialect, raw_key.metric, ids.metric);
    pairs[i].tags = repeated[i]
                        ? pairs[i - 1].tags
                        : NumberOf(kTags, tags_hashes[i], raw_key.dialect, raw_key.tags, ids.pairs);
    pairs[i].hash = HashPair(pairs[i].metric, pairs[i].tags);
    space_->view->pairs->Prefetch(pairs[i].hash);
  }
}

void RawKeyTable::RememberHalves(std::span<const KeyedPoint> points, KeyedSeries* series,
                                 uint32_t generation) {
  std::lock_guard lock(mutex_);
  Pair pairs[kRawKeysTogether];
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kRawKeysTogether);
    if (!Ready(generation)) return;
    NumberHalves(points.first(n), series, pairs);
    for (size_t i = 0; i < n; ++i) {
      if (series[i].known) continue;
      const PairSlot* slot =
          FindPair(*space_->view->pairs, pairs[i].hash, pairs[i].metric, pairs[i].tags);
      if (slot == nullptr) continue;
      series[i].known = true;
      series[i].number = slot->series.load(std::memory_order_relaxed) - 1;
    }
    points = points.subspan(n);
    series += n;
  }
}

void RawKeyTable::RememberAll(std::span<const KeyedPoint> points, const KeyedSeries* series,
                              uint32_t generation) {
  std::lock_guard lock(mutex_);
  Pair pairs[kRawKeysTogether];
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kRawKeysTogether);
    if (!Ready(generation)) return;
    NumberHalves(points.first(n), series, pairs);
    for (size_t i = 0; i < n; ++i) {
      if (!series[i].known) RememberPair(pairs[i], series[i].number);
    }
    points = points.subspan(n);
    series += n;
  }
}

void RawKeyTable::RememberPair(const Pair& pair, SeriesNumber number) {
  if (PairSlot* known = FindPair(*space_->view->pairs, pair.hash, pair.metric, pair.tags)) {
    known->series.store(number + 1, std::memory_order_release);
    return;
  }
  MakeRoom(&View::pairs, [this](const PairSlot& slot) {
    return HashPair(slot.metric.load(std::memory_order_relaxed),
                    slot.tags.load(std::memory_order_relaxed));
  });
  PairSlot slot;
  slot.metric = pair.metric;
  slot.tags = pair.tags;
  slot.series = number + 1;
  space_->view->pairs->Insert(pair.hash, slot);
  raw_keys_.fetch_add(1, std::memory_order_relaxed);
}

void RawKeyTable::Remember(const RawKey& raw_key, const SeriesIds& ids, SeriesNumber number,
                           uint32_t generation) {
  KeyedPoint point;
  point.series = raw_key;
  const KeyedSeries series{false, number, ids};
  RememberAll({&point, 1}, &series, generation);
}

void RawKeyTable::Forget() {
  std::lock_guard lock(mutex_);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace hg::tsd
