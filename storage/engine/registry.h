#pragma once
// Maps series numbers to TSUIDs and TSUIDs to series numbers, with an index that finds series
// numbers by tags. A number is assigned once and never reused. A series that no longer has rows is
// forgotten: its number becomes invalid, and the series gets a new number when it is registered
// again. Readers that keep an older TsuidTable can still read the TSUID of the number. The newest
// series are in memory. Older series are in mapped files (mapped_series.h), so the memory of the
// registry does not grow with the age of a store.

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

/// Series that were found together. `tsuids` has all of these series, even if they are forgotten
/// later.
struct FoundSeries {
  std::vector<uint32_t> numbers;
  std::shared_ptr<const TsuidTable> tsuids;
};

/// The registry of all series of a store. One thread at a time may change the registry (Reserve,
/// Add, AddAll, LoadAll, Skip, Forget), while any number of threads read. A function that needs a
/// series in a mapped file may wait for the disk, but does not hold the lock of the registry
/// meanwhile.
class Registry {
 public:
  /// The data structures that find the numbers and the TSUIDs of series. `slots` and `index` have
  /// the series that are not in mapped files.
  struct Lookups {
    Lookups(const KeyLayout& layout, std::shared_ptr<TsuidTable> table)
        : tsuids(std::move(table)), index(layout) {}
    [[nodiscard]] size_t bytes() const { return slots.bytes() + index.bytes(); }

    std::shared_ptr<TsuidTable> tsuids;  // `index` has views of the TSUIDs in this table
    NumberSlots slots;                   // finds a number by its TSUID
    TagIndex index;
    std::vector<Bytes> mapped_metrics;  // metrics of the mapped files (see Metrics), ascending
  };
  /// Maximum number of matching series for which Match may be used on an event loop. Finding so
  /// many series takes some tens of microseconds.
  static constexpr uint64_t kFewSeries = 4096;
  /// The same for series in mapped files, and the number of look-ups of metrics and tag values in
  /// these files. Each of them may have to be read from the disk.
  static constexpr uint64_t kFewMapped = 16, kFewMappedFinds = 16;
  /// The number of series in memory from which on MapSeries writes files.
  static constexpr uint32_t kMappedTogether = 4 * MappedSeries::kBlockSeries;
  static constexpr uint32_t kUnknown = NumberSlots::kNone;

  explicit Registry(const KeyLayout& layout)
      : layout_(layout),
        lookups_(std::make_unique<Lookups>(layout, std::make_shared<TsuidTable>(tsuid_bytes_))) {}

  /// Returns the lowest number that is not assigned. This is the number of series, including
  /// forgotten series.
  [[nodiscard]] uint32_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<uint32_t> Find(ByteView tsuid) const;
  /// Sets numbers[i] to the number of tsuids[i], or to kUnknown. Returns false if at least one
  /// TSUID is unknown.
  bool FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const;
  /// Returns the cost of a search for one series, in steps of a RequestContext. Takes no lock.
  [[nodiscard]] uint64_t find_steps() const { return find_steps_.load(std::memory_order_relaxed); }
  /// Returns the TSUIDs of all series that are not forgotten yet. Series that are registered later
  /// are added to the returned table until the next call of Forget.
  [[nodiscard]] std::shared_ptr<const TsuidTable> tsuids() const;
  /// Returns the TSUID of the series with this number, or "" if there is none or Forget removed it.
  [[nodiscard]] Bytes TsuidOf(uint32_t number) const;
  /// Allocates memory for `series` more series.
  void Reserve(size_t series);
  /// Assigns the number size() to a TSUID that has no number.
  void Add(ByteView tsuid);
  /// Adds several TSUIDs in order. AddAll is faster than a call of Add for each TSUID, because
  /// memory accesses overlap.
  void AddAll(std::span<const ByteView> tsuids);
  /// Does the same at a start. If a TSUID already has a number, which happens only after a crash,
  /// the old number is forgotten. For an empty TSUID, LoadAll calls Skip(1).
  void LoadAll(std::span<const ByteView> tsuids);
  /// Marks the next `count` numbers as forgotten. No series gets these numbers.
  void Skip(uint32_t count);

  // The following functions are for forgotten series. Functions that search for series never find a
  // forgotten series.
  [[nodiscard]] uint32_t forgotten_count() const {
    return forgotten_count_.load(std::memory_order_acquire);
  }
  /// Returns the set of the numbers of all forgotten series. It does not change, except by Skip at
  /// a start.
  [[nodiscard]] std::shared_ptr<const NumberSet> Forgotten() const;
  /// Returns whether the series with this number is forgotten. Takes no lock. The caller must
  /// ensure that LoadAll, Skip and Forget do not run concurrently.
  [[nodiscard]] bool IsForgotten(uint32_t number) const { return forgotten_->Has(number); }
  /// Returns whether LoadAll has met a TSUID that already had a number. In this case, the index has
  /// both numbers of the TSUID until the next call of Forget.
  [[nodiscard]] bool has_duplicates() const { return has_duplicates_; }

  // Mapped files.
  /// Returns whether MapSeries would write a file for the series below `end`.
  [[nodiscard]] bool MapsMore(uint32_t end) const;
  /// Writes series with numbers below `end` that are in memory to mapped files, if there are
  /// kMappedTogether of them. Leaves out the series in `forgotten`, and current files in which all
  /// series are forgotten. Returns the files for a later call of NewLookups. Returns the errors of
  /// MappedSeries::Make.
  Result<MappedRanges> MapSeries(FileSystem& files, const std::string& folder, uint32_t end,
                                 const NumberSet& forgotten,
                                 const std::function<Status()>& check) const;
  /// The current files.
  [[nodiscard]] MappedRanges mapped() const { return tsuids()->mapped(); }
  /// The end of the current files. Takes no lock.
  [[nodiscard]] uint32_t mapped_end() const { return mapped_end_.load(std::memory_order_acquire); }

  /// Creates the Lookups for a later call of Forget with the same `forgotten`. Before that call,
  /// the caller adds all series that are not in `forgotten` with AddTo. The new TSUID table shares
  /// those blocks of the current table that have few forgotten series. The series below mapped.end
  /// are only in the files of `mapped`.
  [[nodiscard]] std::unique_ptr<Lookups> NewLookups(const NumberSet& forgotten,
                                                    MappedRanges mapped) const;
  /// Adds the series with the numbers from `begin` to `end` - 1 to `lookups`, except the series in
  /// `forgotten` and in files. Other threads may add series to the registry meanwhile. `end` is at
  /// most size().
  void AddTo(uint32_t begin, uint32_t end, const NumberSet& forgotten, Lookups* lookups) const;
  /// Forgets the series in `forgotten`. This set includes all series that were forgotten earlier,
  /// and `lookups` contains all other series. Returns the previous lookups, which the caller frees
  /// without holding locks. Add and IsForgotten must not run concurrently.
  std::unique_ptr<Lookups> Forget(std::unique_ptr<Lookups> lookups, NumberSet forgotten);

  /// Returns the matching series of the metric ("" = all metrics), ordered by TSUID. Charges the
  /// memory of the numbers to `memory`, and reports the work to its context.
  [[nodiscard]] Result<FoundSeries> Match(ByteView metric, const SeriesMatcher& matcher,
                                          MemoryTally* memory) const;
  // Match in two steps. In between, the caller may remove series from the candidates, for example
  // series without rows in a time range. This saves the cost of reading and comparing their TSUIDs.
  /// Returns the matching series and possibly others, in any order.
  [[nodiscard]] Result<FoundSeries> Candidates(ByteView metric, const SeriesMatcher& matcher,
                                               MemoryTally* memory) const;
  /// Removes the series that do not match from the result of Candidates for the same metric and
  /// matcher, and sorts the others by TSUID.
  Status KeepMatches(ByteView metric, const SeriesMatcher& matcher, MemoryTally* memory,
                     FoundSeries* found) const;
  /// Returns Busy if `context` may not wait, and more than kFewSeries series in memory or
  /// kFewMapped series in files may match, more than kFewMappedFinds look-ups in files are needed,
  /// or another thread is adding series. Otherwise returns ok. `context` may be nullptr.
  [[nodiscard]] Status MayMatch(ByteView metric, const SeriesMatcher& matcher,
                                RequestContext* context) const;
  /// Returns the number of series of the metric, which is not "". Reads no TSUIDs of series. Checks
  /// the limits of `context` before it reads a mapped file, and returns its error. `context` may be
  /// nullptr.
  [[nodiscard]] Result<uint64_t> Count(ByteView metric, RequestContext* context) const;
  /// Returns the UIDs of all metrics, ascending. A metric in mapped files stays until the call of
  /// NewLookups after its last series was forgotten.
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  /// Returns the memory of the registry in bytes, including forgotten series that readers still
  /// use. Mapped files do not count.
  [[nodiscard]] size_t bytes() const;
  /// Returns the size of the mapped files in bytes.
  [[nodiscard]] size_t mapped_bytes() const;

 private:
  /// What a search needs besides the index in memory. It is consistent with the index if both are
  /// read under one lock.
  struct Snapshot {
    std::shared_ptr<const TsuidTable> tsuids;
    std::shared_ptr<const NumberSet> forgotten;
  };
  /// Returns the series whose TSUIDs the matcher lists. The cost does not depend on the number of
  /// series of the metric.
  Result<FoundSeries> MatchListed(ByteView metric, const SeriesMatcher& matcher,
                                  MemoryTally* memory) const;
  [[nodiscard]] bool HasOnlyNamedTags(ByteView tsuid, const SeriesMatcher& matcher) const;
  template <typename Before>
  void AddTogether(std::span<const ByteView> tsuids, const Before& before);
  /// Sets numbers[i] for those series in mapped files for which it is kUnknown. Returns false if
  /// some remain unknown. Ignores empty TSUIDs. Holds no lock.
  bool FindMapped(const Snapshot& at, std::span<const ByteView> tsuids, uint32_t* numbers) const;
  // The caller of the following functions must hold mutex_: exclusively for functions that add
  // series, and at least shared for all others.
  [[nodiscard]] Snapshot SnapshotLocked() const { return {lookups_->tsuids, forgotten_}; }
  [[nodiscard]] std::optional<uint32_t> FindNext(ByteView tsuid) const;
  /// Sets numbers[i] for the series in memory, and for all others to kUnknown. Returns false if
  /// there are others.
  bool FindSome(std::span<const ByteView> some, uint32_t* numbers) const;
  [[nodiscard]] uint32_t FindLocked(ByteView tsuid, uint32_t hash) const;
  /// `before` is the number that the TSUID had in memory, or kUnknown. The caller forgets this
  /// number.
  void AddLocked(ByteView tsuid, uint32_t hash, uint32_t before);
  void SkipLocked(uint32_t count);
  void ForgetLocked(std::span<const uint32_t> numbers);

  const KeyLayout layout_;
  // The memory in bytes of the blocks of all TsuidTable objects of this registry, including older
  // objects that readers still use. A block that several of them share is counted once.
  const std::shared_ptr<std::atomic<size_t>> tsuid_bytes_ =
      std::make_shared<std::atomic<size_t>>(0);
  std::atomic<uint32_t> size_{0}, mapped_end_{0}, find_steps_{1};
  /// The series number after the number that was found last. Writers usually send series in the
  /// order in which the series were created. So `next_` is usually the number that is requested
  /// next, and its data is near in memory.
  mutable std::atomic<uint32_t> next_{0};

  std::atomic<uint32_t> forgotten_count_{0};
  bool has_duplicates_ = false;  // only the thread that adds series uses it

  // Forget locks this mutex while it holds the write lock, so overlapping readers must not delay
  // Forget.
  mutable FairSharedMutex mutex_;
  // The following members are guarded by mutex_.
  std::unique_ptr<Lookups> lookups_;
  // Readers keep the set, so a change replaces it. Only Skip, at a start, changes it in place.
  std::shared_ptr<NumberSet> forgotten_ = std::make_shared<NumberSet>();
};

}  // namespace hg::engine
