#include "tsd/ingest/raw_key_table.h"

#include <algorithm>

#include "storage/base/keyed_hash.h"
#include "tsd/ingest/raw_key_space.h"

namespace hg::tsd {

using keyed_hash::HashBytes;
using keyed_hash::Mix;

/// The look-up result of some points. The texts are valid until the reader leaves.
struct RawKeyTable::Window {
  const Text* metrics[kRawKeysTogether];  // null: unknown
  const Text* tags[kRawKeysTogether];
  uint32_t series[kRawKeysTogether];  // number + 1; 0 = unknown
};

RawKeyTable::RawKeyTable(uint64_t key, size_t bytes_max)
    : secret_{Mix(key ^ 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu) | 1,
              Mix(key ^ 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u) | 1,
              Mix(key ^ 0x1d8e4e27c47d124fu, 0xeb44accab455d165u) | 1},
      bytes_max_(bytes_max) {
  StartAnew();
}

RawKeyTable::~RawKeyTable() = default;

uint64_t RawKeyTable::Hash(Dialect dialect, std::string_view text) const {
  return HashBytes(text, secret_[0] + static_cast<uint64_t>(dialect), secret_);
}

uint64_t RawKeyTable::HashPair(uint32_t metric, uint32_t tags) const {
  return Mix((uint64_t{metric} << 32 | tags) ^ secret_[1], secret_[2]);
}

const RawKeyTable::Text* RawKeyTable::FindText(const Table<TextSlot>& table, uint64_t hash,
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

RawKeyTable::PairSlot* RawKeyTable::FindPair(const Table<PairSlot>& table, uint64_t hash,
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

// Looks up at most kRawKeysTogether points. Returns whether all are known.
bool RawKeyTable::FindWindow(const View& view, std::span<const KeyedPoint> points,
                             Window* found) const {
  uint64_t metric_hashes[kRawKeysTogether], tags_hashes[kRawKeysTogether];
  uint64_t pair_hashes[kRawKeysTogether];
  bool repeated[kRawKeysTogether];
  const size_t n = points.size();
  for (size_t i = 0; i < n; ++i) {
    const RawKey& series = points[i].series;
    metric_hashes[i] = Hash(series.dialect, series.metric);
    view.metrics->Prefetch(metric_hashes[i]);
    // Points of one host are usually adjacent and have equal tags, so the tags are hashed only
    // once.
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
    const RawKey& series = points[i].series;
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

bool RawKeyTable::FindAll(std::span<const KeyedPoint> points, SeriesNumber* numbers) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  if (view.generation != generation()) return false;
  Window window;
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kRawKeysTogether);
    if (!FindWindow(view, points.first(n), &window)) return false;
    for (size_t i = 0; i < n; ++i) numbers[i] = window.series[i] - 1;
    points = points.subspan(n);
    numbers += n;
  }
  return true;
}

size_t RawKeyTable::FindEach(std::span<const KeyedPoint> points, KeyedSeries* found) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  const bool trusted = view.generation == generation();
  size_t unknown = 0;
  Window window;
  const auto ids = [&](const Text* text, Bytes* out) {
    out->assign(trusted && text != nullptr ? text->ids() : ByteView());
  };
  while (!points.empty()) {
    const size_t n = std::min(points.size(), kRawKeysTogether);
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

SeriesIds RawKeyTable::FindHalves(const RawKey& raw_key) const {
  const Stay stay(*this);
  const View& view = *current_.load();
  SeriesIds ids;
  if (view.generation != generation()) return ids;
  const auto find = [&](const Table<TextSlot>& table, std::string_view text, Bytes* out) {
    const Text* known = FindText(table, Hash(raw_key.dialect, text), raw_key.dialect, text);
    if (known != nullptr) *out = known->ids();
  };
  find(*view.metrics, raw_key.metric, &ids.metric);
  find(*view.tags, raw_key.tags, &ids.pairs);
  return ids;
}

RawKeyTable::Stats RawKeyTable::stats() const {
  return {raw_keys_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
}

}  // namespace hg::tsd
