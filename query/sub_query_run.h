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

/// What all sub-queries of one run share. Must outlive them.
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

  /// Does what precedes the first row: resolves names, chooses series, opens the scan. Call this
  /// function at most once; Run calls it if needed. Errors are those of Engine::Run.
  Status Open();
  /// An estimate of the rows to read, if Open could make one, else 0.
  [[nodiscard]] uint64_t rows_expected() const {
    return scan_ != nullptr ? scan_->RowsExpected() : 0;
  }
  /// Runs the sub-query. Call this function once. Errors are those of Engine::Run.
  Status Run();
  /// Deletes the rows that were read, wholly. Call this function after Run.
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
  /// Charges the memory and work of resolving the filters, before it is done.
  Status ChargeFilters();
  /// Plans the hours and buckets of raw data. `downsample` may be null.
  Status PlanRaw(const DownsampleSpec* downsample);
  /// Computes the buckets of the window. On an event loop it refuses a fill policy with many
  /// buckets (RequestContext::MayWait).
  Status MakeGrid(const DownsampleSpec& downsample);
  /// Frees what is not needed once the groups exist.
  void FreeWorkingMemory();
  /// Applies string filters to the known series before the scan. Returns false if no series is
  /// left.
  Result<bool> ChooseSeries();
  Status OpenScan();
  Status Read();
  Status ReadRows();
  /// `shorter` allows the cache and ExtremeFold, which avoid reading rows.
  Status OpenRawScan(bool shorter = true);
  // sub_query_rolled.cc: reads whole hours from automatic rollups where this does not change the
  // result.
  Status PlanPieces();
  void OpenPieces();
  /// Returns false, with nothing read, if buckets do not start at rollup intervals.
  Result<bool> ReadPieces();
  /// Returns whether retention may have deleted raw points that were planned to be read, so that
  /// only their rollups are left.
  [[nodiscard]] bool KeptSincePlanned() const;
  /// Reads the parts of a long scan on several threads.
  Status ReadParts(std::span<const std::unique_ptr<PointScan>> parts);
  /// Adds a set for one of `scans` scans.
  SeriesSet& AddSet(size_t scans = 1);
  /// Reads the scan into the set and finishes the set.
  Status ReadInto(PointScan* scan, SeriesSet* set);
  static Status ReadScan(PointScan* scan, LimitCounter* counter, SeriesSet* set);
  void Count(const LimitCounter& counter, const SeriesSet& set);
  /// Moves the series of all sets into series_.
  void TakeSeries();
  // sub_query_cached.cc: old hours whose buckets are cached need not be read.
  struct CachedHours {
    Bytes shape;
    BucketCache::OldHours old;
    BucketGrid grid;                // the grid of the sub-query without its fill policy
    std::deque<RowRecord> records;  // parallel to sets_
  };
  [[nodiscard]] bool MayCache() const;
  /// Call this function before the scan. Sets cached_ if there are old hours, and limits `spec` to
  /// the rows that must be read.
  void FindCached(PointScanSpec* spec);
  /// The number of rows in the hours that were found.
  [[nodiscard]] size_t RowsFound() const;
  /// Puts the old hours that were read into the cache. Call this function before TakeSeries.
  void KeepRead();
  void KeepHours();
  /// Prepends the cached hours to the series that were read, and fills all series.
  Status JoinCached();
  Result<std::vector<ByteView>> OrdersOfJoined();
  Status FillAll();
  /// Encodes everything that the buckets of an hour depend on except its rows.
  [[nodiscard]] Bytes Shape() const;
  // sub_query_folded.cc: the maximum over all series, for which most rows need not be read.
  [[nodiscard]] bool MayFold() const;
  Status OpenFolded();
  void TakeFolded();
  void AddFolded(std::vector<const PointColumns*>* columns) const;
  // sub_query_rollup.cc: reads the tables of the plan one after the other, or the default
  // pre-aggregates.
  Status PlanTables();
  Status ReadTables();
  Status ReadLevel(const codec::RollupLevel& level);
  // sub_query_split.cc: reads rollups up to the time at which they are complete, and raw data after
  // it (opentsdb-queries.md §14.5).
  void PlanSplit();
  Status RunParts();
  // sub_query_groups.cc: from series to groups.
  struct GroupsPart {
    std::vector<Group> groups;  // the groups before the first failure
    Status status;
  };
  Status Evaluate();
  Status MakeGroups(std::span<const SeriesGroup> groups, NameMemo* names, GroupsPart* part) const;
  Status EvaluateHistograms();
  /// Charges the description of a group before it is made.
  [[nodiscard]] Status ChargeGroup(const SeriesGroup& group) const;
  /// Charges the part of a group's names that ChargeGroup did not cover.
  [[nodiscard]] Status ChargeLongNames(const Group& group) const;
  /// Notes the series if its rows are to be deleted.
  Status NoteDeleted(const Series& series);
  /// True if the run reads rollups or pre-aggregates.
  [[nodiscard]] bool reads_tables() const { return pre_aggregates_ || !rollups_.levels.empty(); }
  [[nodiscard]] const KeyLayout& layout() const { return context_.points.layout(); }
  int64_t Lap();

  const RunContext& context_;
  const ValidSubQuery& sub_;
  const size_t index_;
  // The scanned range. The result is trimmed to the range of the query.
  const int64_t start_ms_;
  const int64_t end_ms_;
  const Tables tables_;
  NameMemo names_;
  MemoryTally chosen_memory_;  // filters, and the series that they chose
  MemoryTally joined_memory_;  // what series_ holds in addition to what the sets charge
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
  std::vector<HoursPiece> pieces_;   // what scan_ reads; empty = raw points only
  // RolledHours::kept_before_s when the pieces were planned; empty = rollups cannot be used.
  std::optional<uint32_t> kept_before_s_;
  uint64_t times_forgotten_ = 0;  // RolledHours::times_forgotten at planning
  bool opened_ = false;
  bool chosen_ = false;              // spec_ selects only series that the filter admits
  std::unique_ptr<PointScan> scan_;  // opened but not read yet; nullptr = nothing to read
  std::optional<CachedHours> cached_;
  std::optional<ExtremeFold> fold_;  // receives the series while the sets are read
  // The result of fold_: replaces the points that are missing in series_. Charged to
  // joined_memory_.
  std::optional<std::vector<PointColumns>> folded_;
  std::deque<SeriesSet> sets_;  // one per scan; they charge the memory of series_
  std::vector<Series> series_;  // sorted by Series::order
  std::vector<Bytes> tsuids_;   // series that were read, if their rows are to be deleted
  std::vector<Group> groups_;
  SubQueryInfo info_;
};

}  // namespace hg::query
