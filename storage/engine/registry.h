#pragma once
// Maps series numbers to TSUIDs and back, with an index that finds series numbers by tags. A number
// is assigned once and never reused. A series that no longer has rows is forgotten: its number is
// no longer valid, and it gets a new number when it is registered again. Only readers that found
// the number before still have its TSUID.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/fair_shared_mutex.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/engine/number_set.h"
#include "storage/engine/number_slots.h"
#include "storage/engine/tag_index.h"
#include "storage/engine/tsuid_table.h"
#include "storage/model/key_layout.h"

namespace hg::engine {

/// Series that were found together. `tsuids` has all of them, also if they are forgotten later.
struct FoundSeries {
  std::vector<uint32_t> numbers;
  std::shared_ptr<const TsuidTable> tsuids;
};

/// One thread at a time may call Add, and any number of threads may read at the same time.
class Registry {
 public:
  /// The data structures in which numbers and TSUIDs of series are looked up.
  struct Lookups {
    Lookups(const KeyLayout& layout, std::shared_ptr<TsuidTable> table)
        : tsuids(std::move(table)), index(layout) {}
    [[nodiscard]] size_t bytes() const { return slots.bytes() + index.bytes(); }

    std::shared_ptr<TsuidTable> tsuids;  // `index` has views of its TSUIDs
    NumberSlots slots;                   // by TSUID
    TagIndex index;
  };
  /// Maximum number of matching series for which Match may be used on an event loop. Finding this
  /// many series takes some tens of microseconds.
  static constexpr uint64_t kFewSeries = 4096;
  static constexpr uint32_t kUnknown = NumberSlots::kNone;

  explicit Registry(const KeyLayout& layout)
      : layout_(layout),
        lookups_(std::make_unique<Lookups>(layout, std::make_shared<TsuidTable>(tsuid_bytes_))) {}

  /// Returns the lowest number that is not assigned, which is the number of series including the
  /// forgotten ones.
  [[nodiscard]] uint32_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<uint32_t> Find(ByteView tsuid) const;
  /// Sets numbers[i] to the number of tsuids[i], or to kUnknown. Returns false if one is unknown.
  bool FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const;
  /// Returns the TSUIDs of all series that are not forgotten yet. The table also gets the series
  /// that are registered until the next call of Forget.
  [[nodiscard]] std::shared_ptr<const TsuidTable> tsuids() const;
  /// Returns the TSUID of a series, or "" if the series is forgotten or the number is not assigned.
  [[nodiscard]] Bytes TsuidOf(uint32_t number) const;
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

  // Functions for forgotten series. Functions that search never find a forgotten series.
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
  /// Returns lookups without series, for a call of Forget with the set `forgotten`.
  [[nodiscard]] std::unique_ptr<Lookups> NewLookups(const NumberSet& forgotten) const;
  /// Adds the series with the numbers from `begin` to `end` - 1 to `lookups`, except those of
  /// `forgotten`. Other threads may add series meanwhile. `end` is at most size().
  void AddTo(uint32_t begin, uint32_t end, const NumberSet& forgotten, Lookups* lookups) const;
  /// Forgets the series in `forgotten`, which includes those that were forgotten before. `lookups`
  /// contains all others. Returns the previous lookups, so that the caller frees them without
  /// locks. Add and IsForgotten must not run concurrently.
  std::unique_ptr<Lookups> Forget(std::unique_ptr<Lookups> lookups, NumberSet forgotten);

  /// Returns the matching series of the metric ("" = all metrics), ordered by TSUID.
  [[nodiscard]] FoundSeries Match(ByteView metric, const SeriesMatcher& matcher) const;
  /// Returns Busy if more than kFewSeries may match and `context` may not wait. If `context` is
  /// nullptr, it may wait.
  [[nodiscard]] Status MayMatch(ByteView metric, const SeriesMatcher& matcher,
                                RequestContext* context) const;
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  /// Returns the memory in bytes, including forgotten series that readers still hold.
  [[nodiscard]] size_t bytes() const;

 private:
  [[nodiscard]] static uint32_t Hash(ByteView tsuid);
  /// Returns the series whose TSUIDs the matcher lists. The cost does not depend on the number of
  /// series of the metric.
  [[nodiscard]] FoundSeries MatchListed(ByteView metric, const SeriesMatcher& matcher) const;
  [[nodiscard]] bool HasOnlyNamedTags(ByteView tsuid, const SeriesMatcher& matcher) const;
  // The caller of the following functions holds mutex_: exclusively to add, otherwise shared.
  [[nodiscard]] std::optional<uint32_t> FindNext(ByteView tsuid) const;
  bool FindSome(std::span<const ByteView> some, uint32_t* numbers) const;
  [[nodiscard]] uint32_t FindLocked(ByteView tsuid, uint32_t hash) const;
  void AddLocked(ByteView tsuid, uint32_t hash);
  void SkipLocked(uint32_t count);

  const KeyLayout layout_;
  const std::shared_ptr<std::atomic<size_t>> tsuid_bytes_ =
      std::make_shared<std::atomic<size_t>>(0);  // bytes of the blocks of all tables
  std::atomic<uint32_t> size_{0};
  /// The number after the last one that was found. Writers usually send series in the order in
  /// which they were created, so this number is usually the one that is requested next, and it is
  /// near in memory.
  mutable std::atomic<uint32_t> next_{0};

  std::atomic<uint32_t> forgotten_count_{0};
  bool has_duplicates_ = false;  // only the writer uses it

  // Forget takes this mutex under the write lock, so overlapping readers must not make it wait.
  mutable FairSharedMutex mutex_;
  // The following members are guarded by mutex_.
  std::unique_ptr<Lookups> lookups_;
  NumberSet forgotten_;
};

}  // namespace hg::engine
