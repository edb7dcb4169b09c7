#pragma once
// Maps series numbers to TSUIDs and back, with an index that finds series numbers by tags. A number
// is assigned once and never reused. A series that no longer has rows is forgotten: its number is
// no longer valid, and it gets a new number when it is registered again.

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
  /// What finds the numbers of series.
  struct Lookups {
    explicit Lookups(const KeyLayout& layout) : index(layout) {}
    [[nodiscard]] size_t bytes() const { return slots.bytes() + index.bytes(); }

    NumberSlots slots;  // by TSUID
    TagIndex index;
  };
  /// Maximum number of matching series for which Match may be used on an event loop. Finding this
  /// many series takes some tens of microseconds.
  static constexpr uint64_t kFewSeries = 4096;
  static constexpr uint32_t kUnknown = NumberSlots::kNone;

  explicit Registry(const KeyLayout& layout)
      : layout_(layout), lookups_(std::make_unique<Lookups>(layout)) {}

  /// Returns the lowest number that is not assigned, which is the number of series including the
  /// forgotten ones.
  [[nodiscard]] uint32_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<uint32_t> Find(ByteView tsuid) const;
  /// Sets numbers[i] to the number of tsuids[i], or to kUnknown. Returns false if one is unknown.
  bool FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const;
  /// Returns the TSUID of a series. `number` must be below size(), and must not have been forgotten
  /// before the start.
  [[nodiscard]] ByteView Tsuid(uint32_t number) const;
  /// Like Tsuid, but returns "" if the number was forgotten before the start. A number that was
  /// forgotten since then still has its TSUID.
  [[nodiscard]] ByteView FindTsuid(uint32_t number) const;
  /// Allocates memory for `series` further series.
  void Reserve(size_t series);
  /// Assigns the number size() to a TSUID. If the TSUID has a number already, which happens only at
  /// a start after a crash, that number is forgotten.
  void Add(ByteView tsuid);
  /// Adds several TSUIDs in order. Faster than calling Add for each of them, because memory
  /// accesses overlap. "" stands for a forgotten number.
  void AddAll(std::span<const ByteView> tsuids);
  /// Adds `count` forgotten numbers.
  void Skip(uint32_t count);

  // Functions for forgotten series. No function finds them.
  [[nodiscard]] uint32_t forgotten_count() const {
    return forgotten_count_.load(std::memory_order_acquire);
  }
  /// Returns a copy of the set of forgotten numbers.
  [[nodiscard]] NumberSet Forgotten() const;
  /// Takes no lock. The caller must ensure that Add, AddAll, Skip and Forget do not change the set
  /// concurrently. Add and AddAll change it only at a start.
  [[nodiscard]] bool IsForgotten(uint32_t number) const { return forgotten_.Has(number); }
  /// Whether Add met a TSUID that already had a number. The index then has both numbers until the
  /// next call of Forget.
  [[nodiscard]] bool has_duplicates() const { return has_duplicates_; }
  /// Adds the series with the numbers from `begin` to `end` - 1 to `lookups`, except those of
  /// `forgotten`. Other threads may add series meanwhile. `end` is at most size().
  void AddTo(uint32_t begin, uint32_t end, const NumberSet& forgotten, Lookups* lookups) const;
  /// Forgets the series in `forgotten`, which includes those that were forgotten before. `lookups`
  /// contains all others. Returns the previous lookups, so that the caller frees them without
  /// locks. Add and IsForgotten must not run concurrently.
  std::unique_ptr<Lookups> Forget(std::unique_ptr<Lookups> lookups, NumberSet forgotten);

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
  void SkipLocked(uint32_t count);

  const KeyLayout layout_;
  SlotTable<const Name> names_;
  std::atomic<uint32_t> size_{0};
  /// The number after the last one that was found. Writers usually send series in the order in
  /// which they were created, so this number is usually the one that is requested next, and it is
  /// near in memory.
  mutable std::atomic<uint32_t> next_{0};
  Arena arena_{alignof(Name)};  // only the writer uses it

  std::atomic<uint32_t> forgotten_count_{0};
  bool has_duplicates_ = false;  // only the writer uses it

  // Forget takes this mutex under the write lock, so overlapping readers must not make it wait.
  mutable FairSharedMutex mutex_;
  // The following members are guarded by mutex_.
  std::unique_ptr<Lookups> lookups_;
  NumberSet forgotten_;
};

}  // namespace hg::engine
