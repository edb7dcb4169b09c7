#pragma once
// Series in a temporary file that is mapped into memory. The registry keeps most series of a large
// store this way, so that they take no memory of the process: the operating system reads the pages
// that are used, and drops them when memory is short. The file is only a copy. The list of series
// of the store has the same series, and a start writes new temporary files from it.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/file.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/engine/number_set.h"
#include "storage/engine/number_slots.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::engine {

/// The series with the numbers from begin() to end() - 1, as of the call of Make. Some of them may
/// have been forgotten since, so the caller must know which. Immutable. All functions may wait for
/// the disk.
///
/// The file has these sections, in the byte order of the machine:
///
///   names    for each series its size (2 bytes) and its TSUID
///   places   for each series the offset of its name (4 bytes); 0 = the series was forgotten
///   series   the slots of a hash table (NumberSlots) that finds a number by the TSUID
///   lists    for each metric and each tag pair: the number of its series; the position of the
///            metric (0) or of the pair (1 and up) in the TSUID of the first of these series; the
///            series, ascending and relative to begin() (4 bytes each)
///   ids      the slots of a hash table that finds a list by the bytes of the metric or the pair
class MappedSeries {
 public:
  /// begin() and end() are multiples of this number.
  static constexpr int kBlockBits = 14;
  static constexpr uint32_t kBlockSeries = uint32_t{1} << kBlockBits;
  /// The maximum number of series in one file. No more series should be added to a file whose
  /// TSUIDs have kNameBytesMax bytes. Both limit the memory of Make, usually to some tens of
  /// megabytes.
  static constexpr uint32_t kSeriesMax = uint32_t{1} << 18;
  static constexpr size_t kNameBytesMax = size_t{16} << 20;

  /// Writes the series from `begin` to `end` - 1 to a temporary file in `folder`. tsuid_of(number)
  /// returns the TSUID of a series, or "" if the series is forgotten. `check` is called between
  /// pieces of work, and ends the call if it returns an error. Returns null if all series are
  /// forgotten, and Unsupported if the file system has no temporary files or little free space.
  static Result<std::shared_ptr<const MappedSeries>> Make(
      FileSystem& files, const std::string& folder, const KeyLayout& layout, uint32_t begin,
      uint32_t end, const std::function<ByteView(uint32_t number)>& tsuid_of,
      const std::function<Status()>& check);

  /// The hash of a TSUID, a metric or a tag pair. It has a random key, because clients choose which
  /// tags their series have.
  [[nodiscard]] static uint32_t Hash(ByteView name);

  [[nodiscard]] uint32_t begin() const { return begin_; }
  [[nodiscard]] uint32_t end() const { return end_; }
  /// Returns how many series have a TSUID here.
  [[nodiscard]] uint32_t count() const { return count_; }
  /// Returns the size of the file in bytes.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  /// Returns the size of the TSUIDs in bytes.
  [[nodiscard]] size_t name_bytes() const { return name_bytes_; }

  /// Returns the TSUID of the series, which must be from begin() to end() - 1, or "" if the series
  /// was forgotten. The view is valid as long as the object.
  [[nodiscard]] ByteView Tsuid(uint32_t number) const;
  /// Returns the number of the series, or NumberSlots::kNone. `hash` is Hash(tsuid).
  [[nodiscard]] uint32_t Find(ByteView tsuid, uint32_t hash) const;
  /// Prefetches what Find reads first.
  void Prefetch(uint32_t hash) const { NumberSlots::PrefetchIn(series_, hash); }
  /// Returns the number of series that AddCandidates adds at most. Looks up the metric and all
  /// values of the clauses.
  [[nodiscard]] uint64_t CandidatesAtMost(ByteView metric, const SeriesMatcher& matcher) const;
  /// Appends all series of the metric ("" = all metrics) that match and are not in `forgotten`, and
  /// possibly others. Without clauses, appends no others. May append a series twice. Reads no
  /// TSUIDs except those that tell lists apart. Reports the work to `memory`, and charges the
  /// growth of `numbers` before it grows.
  Status AddCandidates(ByteView metric, const SeriesMatcher& matcher, const NumberSet& forgotten,
                       MemoryTally* memory, std::vector<uint32_t>* numbers) const;
  /// Returns the number of series of the metric that are not in `forgotten`.
  [[nodiscard]] uint64_t Count(ByteView metric, const NumberSet& forgotten) const;
  /// Adds the metrics of all series that are not in `forgotten`.
  void AddMetrics(const NumberSet& forgotten, std::set<Bytes>* metrics) const;

 private:
  class Maker;
  struct Candidates;
  explicit MappedSeries(const KeyLayout& layout) : layout_(layout) {}

  /// Returns the series with this metric or tag pair, relative to begin(). `pair` tells which of
  /// the two `id` is.
  [[nodiscard]] std::span<const uint32_t> ListOf(ByteView id, bool pair) const;
  /// Returns lists that together have all matching series. Reports each look-up to `memory`.
  Result<Candidates> CandidatesFor(ByteView metric, const SeriesMatcher& matcher,
                                   MemoryTally* memory) const;

  const KeyLayout layout_;
  uint32_t begin_ = 0, end_ = 0, count_ = 0;
  size_t bytes_ = 0, name_bytes_ = 0;
  std::vector<uint32_t> metrics_;  // places of the lists of metrics
  std::unique_ptr<ScratchFile> file_;
  // Views of the sections of the file.
  const char* names_ = nullptr;
  const uint32_t* places_ = nullptr;
  const uint32_t* lists_ = nullptr;
  std::span<const NumberSlots::Slot> series_, ids_;
};

}  // namespace hg::engine
