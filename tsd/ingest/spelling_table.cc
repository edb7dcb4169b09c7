#include "tsd/ingest/spelling_table.h"

#include <algorithm>

#include "storage/base/keyed_hash.h"
#include "tsd/ingest/spelling_space.h"

namespace hg::tsd {

using keyed_hash::HashBytes;
using keyed_hash::Mix;

/// The look-up result of some points. Texts are valid while the reader stays.
struct SpellingTable::Window {
  const Text* metrics[kSpellingsTogether];  // null: unknown
  const Text* tags[kSpellingsTogether];
  uint32_t series[kSpellingsTogether];  // number + 1; 0 = unknown
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
  for (size_t i = table.First(hash);; i = table.After(i)) {
    const TextSlot& slot = table.slots[i];
    const Text* known = slot.text.load(std::memory_order_acquire);
    if (known == nullptr) return nullptr;
    if (slot.hash.load(std::memory_order_relaxed) == hash && known->dialect == dialect &&
        known->size == text.size() && SameBytes(known->bytes, text.data(), text.size())) {
      return known;
    }
  }
}

SpellingTable::PairSlot* SpellingTable::FindPair(const Table<PairSlot>& table, uint64_t hash,
                                                 uint32_t metric, uint32_t tags) {
  for (size_t i = table.First(hash);; i = table.After(i)) {
    PairSlot& slot = table.slots[i];
    if (slot.series.load(std::memory_order_acquire) == 0) return nullptr;
    if (slot.metric.load(std::memory_order_relaxed) == metric &&
        slot.tags.load(std::memory_order_relaxed) == tags) {
      return &slot;
    }
  }
}

// Looks up at most kSpellingsTogether points. Returns whether all are known.
bool SpellingTable::FindWindow(const View& view, std::span<const SpelledPoint> points,
                               Window* found) const {
  uint64_t metric_hashes[kSpellingsTogether], tags_hashes[kSpellingsTogether];
  uint64_t pair_hashes[kSpellingsTogether];
  bool repeated[kSpellingsTogether];
  const size_t n = points.size();
  for (size_t i = 0; i < n; ++i) {
    const Spelling& series = points[i].series;
    metric_hashes[i] = Hash(series.dialect, series.metric);
    view.metrics->Prefetch(metric_hashes[i]);
    // Metrics of one host are mostly adjacent and have equal tags.
    repeated[i] = i > 0 && SameTags(series, points[i - 1].series);
    if (repeated[i]) continue;
    tags_hashes[i] = Hash(series.dialect, series.tags);
    view.tags->Prefetch(tags_hashes[i]);
  }
  for (size_t i = 0; i < n; ++i) {
    if (repeated[i]) continue;
    const auto* text = reinterpret_cast<const char*>(
        view.tags->slots[view.tags->First(tags_hashes[i])].text.load(std::memory_order_acquire));
    __builtin_prefetch(text);
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(text) + size_t{64}));
  }
  for (size_t i = 0; i < n; ++i) {
    const Spelling& series = points[i].series;
    found->metrics[i] = FindText(*view.metrics, metric_hashes[i], series.dialect, series.metric);
    found->tags[i] = repeated[i]
                         ? found->tags[i - 1]
                         : FindText(*view.tags, tags_hashes[i], series.dialect, series.tags);
    if (found->metrics[i] == nullptr || found->tags[i] == nullptr) continue;
    pair_hashes[i] = HashPair(found->metrics[i]->number, found->tags[i]->number);
    view.pairs->Prefetch(pair_hashes[i]);
  }
  bool all = true;
  for (size_t i = 0; i < n; ++i) {
    const PairSlot* slot = nullptr;
    if (found->metrics[i] != nullptr && found->tags[i] != nullptr) {
      slot =
          FindPair(*view.pairs, pair_hashes[i], found->metrics[i]->number, found->tags[i]->number);
    }
    found->series[i] = slot == nullptr ? 0 : slot->series.load(std::memory_order_relaxed);
    all = all && slot != nullptr;
  }
  return all;
}

bool SpellingTable::FindAll(std::span<const SpelledPoint> points, SeriesNumber* numbers) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  if (view.generation != generation()) return false;
  Window window;
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kSpellingsTogether);
    if (!FindWindow(view, points.first(n), &window)) return false;
    for (size_t i = 0; i < n; ++i) numbers[i] = window.series[i] - 1;
    points = points.subspan(n);
    numbers += n;
  }
  return true;
}

size_t SpellingTable::FindEach(std::span<const SpelledPoint> points, SpelledSeries* found) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  const bool trusted = view.generation == generation();
  size_t unknown = 0;
  Window window;
  const auto ids = [&](const Text* text, Bytes* out) {
    out->assign(trusted && text != nullptr ? text->ids() : ByteView());
  };
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kSpellingsTogether);
    FindWindow(view, points.first(n), &window);
    for (size_t i = 0; i < n; ++i, ++found) {
      found->known = trusted && window.series[i] != 0;
      found->number = window.series[i] - 1;
      if (found->known) continue;
      ids(window.metrics[i], &found->ids.metric);
      ids(window.tags[i], &found->ids.pairs);
      ++unknown;
    }
    points = points.subspan(n);
  }
  return unknown;
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

SpellingTable::Stats SpellingTable::stats() const {
  return {spellings_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
}

}  // namespace hg::tsd
