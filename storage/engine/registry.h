#pragma once
// Series number ↔ TSUID, and the tag index over the numbers (engine.md §9). A number is given once
// and never reused.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/engine/arena.h"
#include "storage/engine/number_slots.h"
#include "storage/engine/tag_index.h"
#include "storage/model/key_layout.h"

namespace hg::points {

/// One writer at a time (Add), any number of readers. TSUIDs never move: views live as long as the
/// registry.
class Registry {
 public:
  /// Looking for so many takes some tens of µs.
  static constexpr uint64_t kFewSeries = 4096;
  static constexpr uint32_t kUnknown = NumberSlots::kNone;

  explicit Registry(const KeyLayout& layout) : layout_(layout), index_(layout) {}

  /// Numbers below it are known.
  [[nodiscard]] uint32_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<uint32_t> Find(ByteView tsuid) const;
  /// The same for some: numbers[i] of tsuids[i], or kUnknown. False: some are unknown.
  bool FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const;
  /// number < size().
  [[nodiscard]] ByteView Tsuid(uint32_t number) const;
  /// So many are going to be added.
  void Reserve(size_t series);
  /// The TSUID, not known yet, gets the number size().
  void Add(ByteView tsuid);
  /// The same for some, one after the other: each by itself would wait for memory where there are
  /// many.
  void AddAll(std::span<const ByteView> tsuids);

  /// Numbers of the metric ("" = all) that match, in the order of their TSUIDs.
  [[nodiscard]] std::vector<uint32_t> Match(ByteView metric, const SeriesMatcher& matcher) const;
  /// Ok, unless more than kFewSeries may match and waiting is not allowed.
  [[nodiscard]] Status MayMatch(ByteView metric, const SeriesMatcher& matcher) const;
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  [[nodiscard]] size_t bytes() const;

 private:
  struct Name {
    uint16_t size;
    char bytes[];
  };
  [[nodiscard]] static uint32_t Hash(ByteView tsuid);
  /// Those that the matcher lists are looked up one by one, however many the metric has.
  [[nodiscard]] std::vector<uint32_t> MatchListed(ByteView metric,
                                                  const SeriesMatcher& matcher) const;
  [[nodiscard]] bool HasOnlyNamedTags(ByteView tsuid, const SeriesMatcher& matcher) const;
  [[nodiscard]] std::optional<uint32_t> FindNext(ByteView tsuid) const;
  [[nodiscard]] uint32_t FindLocked(ByteView tsuid, uint32_t hash) const;
  void AddLocked(ByteView tsuid, uint32_t hash);

  const KeyLayout layout_;
  SlotTable<const Name> names_;
  std::atomic<uint32_t> size_{0};
  Arena arena_{alignof(Name)};  // the writer's

  mutable std::shared_mutex mutex_;
  // Guarded by mutex_.
  NumberSlots slots_;
  TagIndex index_;
};

}  // namespace hg::points
