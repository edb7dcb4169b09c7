#pragma once
// Maps series numbers to TSUIDs and back, with an index that finds series numbers by tags. A number
// is assigned once and never reused. A series that no longer has rows is hidden: it keeps its
// number and its TSUID, so that a writer that knows the number can continue, but it is not in the
// index.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/fair_shared_mutex.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/engine/arena.h"
#include "storage/engine/number_set.h"
#include "storage/engine/number_slots.h"
#include "storage/engine/tag_index.h"
#include "storage/model/key_layout.h"

namespace hg::engine {

/// One thread at a time may call Add, and any number of threads may read at the same time. TSUIDs
/// never move: views of them are valid as long as the registry exists.
class Registry {
 public:
  /// Maximum number of matching series for which Match may be used on an event loop. Finding this
  /// many series takes some tens of microseconds.
  static constexpr uint64_t kFewSeries = 4096;
  static constexpr uint32_t kUnknown = NumberSlots::kNone;

  explicit Registry(const KeyLayout& layout)
      : layout_(layout), index_(std::make_unique<TagIndex>(layout)) {}

  /// Returns the number of series. All lower numbers are assigned.
  [[nodiscard]] uint32_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<uint32_t> Find(ByteView tsuid) const;
  /// Sets numbers[i] to the number of tsuids[i], or to kUnknown. Returns false if one is unknown.
  bool FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const;
  /// Returns the TSUID of a series. `number` must be below size().
  [[nodiscard]] ByteView Tsuid(uint32_t number) const;
  /// Allocates memory for `series` further series.
  void Reserve(size_t series);
  /// Assigns the number size() to a TSUID that is not registered yet.
  void Add(ByteView tsuid);
  /// Adds several TSUIDs in order. Faster than calling Add for each of them, because memory
  /// accesses overlap.
  void AddAll(std::span<const ByteView> tsuids);

  // Functions for hidden series. Only Match and Metrics leave out hidden series. If a matcher lists
  // TSUIDs, Match includes hidden series, because the limits for new series use such a matcher to
  // check whether a series is known. All other functions include hidden series.
  [[nodiscard]] uint32_t hidden_count() const {
    return hidden_count_.load(std::memory_order_acquire);
  }
  /// Returns a copy of the set of hidden series.
  [[nodiscard]] NumberSet Hidden() const;
  /// Takes no lock. The caller must ensure that Show and ReplaceIndex do not run concurrently.
  [[nodiscard]] bool IsHidden(uint32_t number) const { return hidden_.Has(number); }
  /// Adds the series with the numbers from `begin` to `end` - 1 to the index, except those of
  /// `hidden`. Other threads may add series meanwhile. `end` is at most size().
  void AddToIndex(uint32_t begin, uint32_t end, const NumberSet& hidden, TagIndex* index) const;
  /// Hides exactly the series in `hidden`. `index` contains all others. Returns the previous index,
  /// so that the caller frees it without locks. Add, Show and IsHidden must not run concurrently.
  std::unique_ptr<TagIndex> ReplaceIndex(std::unique_ptr<TagIndex> index, NumberSet hidden);
  /// Adds a hidden series to the index again. IsHidden and ReplaceIndex must not run concurrently.
  void Show(uint32_t number);

  /// Returns the numbers of the matching series of the metric ("" = all metrics), ordered by TSUID.
  [[nodiscard]] std::vector<uint32_t> Match(ByteView metric, const SeriesMatcher& matcher) const;
  /// Returns Busy if more than kFewSeries may match and `context` may not wait. If `context` is
  /// nullptr, it may wait.
  [[nodiscard]] Status MayMatch(ByteView metric, const SeriesMatcher& matcher,
                                RequestContext* context) const;
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  [[nodiscard]] size_t bytes() const;

 private:
  struct Name {
    uint16_t size;
    char bytes[];
  };
  [[nodiscard]] static uint32_t Hash(ByteView tsuid);
  /// Returns the numbers of the series whose TSUIDs the matcher lists. The cost does not depend on
  /// the number of series of the metric.
  [[nodiscard]] std::vector<uint32_t> MatchListed(ByteView metric,
                                                  const SeriesMatcher& matcher) const;
  [[nodiscard]] bool HasOnlyNamedTags(ByteView tsuid, const SeriesMatcher& matcher) const;
  [[nodiscard]] std::optional<uint32_t> FindNext(ByteView tsuid) const;
  [[nodiscard]] uint32_t FindLocked(ByteView tsuid, uint32_t hash) const;
  void AddLocked(ByteView tsuid, uint32_t hash);

  const KeyLayout layout_;
  SlotTable<const Name> names_;
  std::atomic<uint32_t> size_{0};
  /// The number after the last one that was found. Writers usually send series in the order in
  /// which they were created, so this number is usually the one that is requested next, and it is
  /// near in memory.
  mutable std::atomic<uint32_t> next_{0};
  Arena arena_{alignof(Name)};  // only the writer uses it

  std::atomic<uint32_t> hidden_count_{0};

  // Show takes this mutex under the write lock, so overlapping readers must not make Show wait.
  mutable FairSharedMutex mutex_;
  // The following members are guarded by mutex_.
  NumberSlots slots_;
  std::unique_ptr<TagIndex> index_;
  NumberSet hidden_;
};

}  // namespace hg::engine
