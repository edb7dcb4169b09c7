#pragma once
// Runs one sub-query, from names to groups (opentsdb-queries.md §2.1).

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "query/answer.h"
#include "query/bucket_cache.h"
#include "query/extreme_fold.h"
#include "query/group.h"
#include "query/limits.h"
#include "query/name_memo.h"
#include "query/options.h"
#include "query/plan.h"
#include "query/rolled_hours.h"
#include "query/rollup.h"
#include "query/series_filter.h"
#include "query/series_set.h"
#include "query/validate.h"
#include "storage/base/clock.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/base/worker_pool.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query {

/// Objects that all sub-queries of one query share. They must outlive the sub-queries.
struct RunContext {
  const ValidQuery& query;
  const Options& options;
  Points& points;
  uid::Names& names;
  const Clock& clock;
  LimitsFile& limits_file;
  bool trim = true;
  OnFailure on_failure = OnFailure::kFail;
  RequestContext& watch;
  Store& cells;
  WorkerPool& helpers;  // run parts of the work concurrently
  size_t helper_count;
  ResolvedFilters& filters;
  BucketCache* cache;         // nullptr = no cache
  RolledHoursSource* rolled;  // nullptr = this process does not make rollups
};

/// Not thread-safe. Several runs of one query may work concurrently.
class SubQueryRun {
 public:
  SubQueryRun(const RunContext& context, size_t index)
      : SubQueryRun(context, index, context.query.start_ms, context.query.end_ms, Tables::kAny) {}

  /// Prepares the sub-query: resolves names, chooses series and opens the scan. Call this function
  /// at most once; Run calls it if needed. Errors are those of Engine::Run.
  Status Open();
  /// Returns an estimate of the rows to read, or 0 if Open could not make one.
  [[nodiscard]] uint64_t rows_expected() const {
    return scan_ != nullptr ? scan_->RowsExpected() : 0;
  }
  /// Runs the sub-query. Call this function once. Errors are those of Engine::Run.
  Status Run();
  /// Deletes all points of the rows that were read, also those outside the time range. Call this
  /// function after Run.
  Status DeleteRows();

  // The result of a successful run.
  std::vector<Group>& groups() { return groups_; }
  SubQueryInfo& info() { return info_; }

 private:
  /// Which tables a run may read. Each part of a split query reads one kind only.
  enum class Tables : unsigned char { kAny, kRollups, kRaw };

  SubQueryRun(const RunContext& context, size_t index, int64_t start_ms, int64_t end_ms,
              Tables tables)
      : context_(context),
        sub_(context.query.queries[index]),
        index_(index),
        start_ms_(start_ms),
        end_ms_(end_ms),
        tables_(tables),
        names_(context.names, &context.watch),
        chosen_memory_(&context.watch),
        joined_memory_(&context.watch),
        grid_memory_(&context.watch),
        last_ns_(context.clock.MonotonicNs()) {}

  Status Resolve();
  /// Charges the memory and work that resolving the filters will need. Call this function before.
  Status ChargeFilters();
  /// Plans the hours and buckets of raw data. `downsample` may be null.
  Status PlanRaw(const DownsampleSpec* downsample);
  /// Computes the buckets of the window. On an event loop it refuses a fill policy with many
  /// buckets (storage/base/no_wait.h).
  Status MakeGrid(const DownsampleSpec& downsample);
  /// Frees memory that is not needed once the groups exist.
  void FreeWorkingMemory();
  /// Applies filters that compare names to the known series, so that the scan reads only series
  /// that they admit. Returns false if there are none.
  Result<bool> ChooseSeries();
  Status OpenScan();
  Status Read();
  Status ReadRows();
  /// Opens the scan of raw points. `shorter` allows the cache and ExtremeFold, with which fewer
  /// rows are read.
  Status OpenRawScan(bool shorter = true);
  // Defined in sub_query_rolled.cc. Decides which whole hours are read from automatic rollups. The
  // result of the query stays the same.
  Status PlanPieces();
  void OpenPieces();
  /// Reads the pieces. If buckets do not start at rollup intervals, returns false and reads
  /// nothing.
  Result<bool> ReadPieces();
  /// Returns whether retention may have deleted raw points since the pieces were planned, so that
  /// the plan would miss them.
  [[nodiscard]] bool KeptSincePlanned() const;
  /// Reads the parts of a long scan on several threads.
  Status ReadParts(std::span<const std::unique_ptr<PointScan>> parts);
  /// Adds a SeriesSet for one of `scans` scans that run concurrently.
  SeriesSet& AddSet(size_t scans = 1);
  /// Reads the scan into the set and finishes the set.
  Status ReadInto(PointScan* scan, SeriesSet* set);
  static Status ReadScan(PointScan* scan, LimitCounter* counter, SeriesSet* set);
  void Count(const LimitCounter& counter, const SeriesSet& set);
  /// Moves the series of all sets into series_.
  void TakeSeries();
  // Defined in sub_query_cached.cc. The old hours of the sub-query, whose buckets may be in the
  // cache.
  struct CachedHours {
    Bytes shape;
    BucketCache::OldHours old;
    BucketGrid grid;                // the grid of the sub-query without its fill policy
    std::deque<RowRecord> records;  // parallel to sets_
  };
  [[nodiscard]] bool MayCache() const;
  /// Looks up the old hours in the cache. Sets cached_ if there are old hours, and limits `spec` to
  /// the rows that must be read. Call this function before the scan.
  void FindCached(PointScanSpec* spec);
  /// Returns the number of rows in the hours that were found in the cache.
  [[nodiscard]] size_t RowsFound() const;
  /// Puts the old hours that were read into the cache. Call this function before TakeSeries.
  void KeepRead();
  void KeepHours();
  /// Prepends the cached hours to the series that were read, then applies the fill policy to all
  /// series.
  Status JoinCached();
  Result<std::vector<ByteView>> OrdersOfJoined();
  Status FillAll();
  /// Returns bytes that encode everything that the buckets of an hour depend on except its rows.
  [[nodiscard]] Bytes Shape() const;
  // Defined in sub_query_folded.cc. Returns whether ExtremeFold can compute the result: a maximum
  // (or minimum) over all series, for which most rows need not be read.
  [[nodiscard]] bool MayFold() const;
  Status OpenFolded();
  void TakeFolded();
  void AddFolded(std::vector<const PointColumns*>* columns) const;
  // Defined in sub_query_rollup.cc. Plans to read the rollup tables one after the other, or the
  // default table of pre-aggregates.
  Status PlanTables();
  Status ReadTables();
  Status ReadLevel(const codec::RollupLevel& level);
  // Defined in sub_query_split.cc. Plans to read rollups up to the time at which they are complete,
  // and raw data after it (opentsdb-queries.md §14.5).
  void PlanSplit();
  Status RunParts();
  // Defined in sub_query_groups.cc. The groups that one thread computes from series.
  struct GroupsPart {
    std::vector<Group> groups;  // the groups before the first failure
    Status status;
  };
  Status Evaluate();
  Status MakeGroups(std::span<const SeriesGroup> groups, NameMemo* names, GroupsPart* part) const;
  Status EvaluateHistograms();
  /// Charges the description of a group. Call this function before the description is created.
  [[nodiscard]] Status ChargeGroup(const SeriesGroup& group) const;
  /// Charges the part of a group's names that ChargeGroup did not cover.
  [[nodiscard]] Status ChargeLongNames(const Group& group) const;
  /// Remembers the TSUID of the series if its rows are to be deleted.
  Status NoteDeleted(const Series& series);
  /// Returns whether the run reads tables of rollups or pre-aggregates that clients wrote.
  [[nodiscard]] bool reads_tables() const { return pre_aggregates_ || !rollups_.levels.empty(); }
  [[nodiscard]] const KeyLayout& layout() const { return context_.points.layout(); }
  int64_t Lap();

  const RunContext& context_;
  const ValidSubQuery& sub_;
  const size_t index_;
  // The range of times that is scanned. The result is trimmed to the range of the query.
  const int64_t start_ms_;
  const int64_t end_ms_;
  const Tables tables_;
  NameMemo names_;
  MemoryTally chosen_memory_;  // filters, and the series that they chose
  MemoryTally joined_memory_;  // memory of series_ that the sets do not charge
  MemoryTally grid_memory_;    // the buckets of the fill policy
  int64_t last_ns_;

  Limits limits_;
  std::optional<SeriesFilter> filter_;
  ScanWindow window_;
  std::optional<BucketGrid> grid_;
  PointScanSpec spec_;
  RollupPlan rollups_;
  bool pre_aggregates_ = false;
  std::optional<int64_t> split_ms_;  // rollups are read before this time, raw data from it on
  std::vector<HoursPiece> pieces_;   // the pieces that scan_ reads; empty = raw points only
  // The value of RolledHours::kept_before_s when the pieces were planned. Empty: rollups cannot be
  // used.
  std::optional<uint32_t> kept_before_s_;
  // The value of RolledHours::times_forgotten when the pieces were planned.
  uint64_t times_forgotten_ = 0;
  bool opened_ = false;
  bool chosen_ = false;              // spec_ selects only series that the filter admits
  std::unique_ptr<PointScan> scan_;  // opened but not read yet; nullptr = there is nothing to read
  std::optional<CachedHours> cached_;
  std::optional<ExtremeFold> fold_;  // receives the series while the sets are read
  // The result of fold_. It takes the place of the points that series_ lacks. Charged to
  // joined_memory_.
  std::optional<std::vector<PointColumns>> folded_;
  std::deque<SeriesSet> sets_;  // one per scan; they hold the memory charges of series_
  std::vector<Series> series_;  // receives the buckets of series while the sets are read
  std::vector<Bytes> tsuids_;   // series that were read, if their rows are to be deleted
  std::vector<Group> groups_;
  SubQueryInfo info_;
};

}  // namespace hg::query
