#pragma once
// One sub-query from names to groups (spec query.md §2.1).

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
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/base/worker_pool.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query {

/// What all sub-queries of one run share; outlives them.
struct RunContext {
  const ValidQuery& query;
  const Options& options;
  Points& points;
  uid::Names& names;
  const Clock& clock;
  LimitsFile& limits_file;
  bool trim = true;
  OnFailure on_failure = OnFailure::kFail;
  WorkWatch& watch;
  Store& cells;
  WorkerPool& helpers;  // for parts of the work, side by side
  size_t helper_count;
  ResolvedFilters& filters;
  BucketCache* cache;  // nullptr: none
};

/// One thread; several runs of one query may go side by side.
class SubQueryRun {
 public:
  SubQueryRun(const RunContext& context, size_t index)
      : SubQueryRun(context, index, context.query.start_ms, context.query.end_ms, Tables::kAny) {}

  /// What comes before the first row is read: names, series, the scan. Errors as Engine::Run. Once,
  /// or left to Run.
  Status Open();
  /// About how many rows there are to read, where Open could tell.
  [[nodiscard]] uint64_t rows_expected() const {
    return scan_ != nullptr ? scan_->RowsExpected() : 0;
  }
  /// Errors as Engine::Run. Once.
  Status Run();
  /// Deletes the rows that were read, whole. After Run.
  Status DeleteRows();

  // The outcome of a run that went well.
  std::vector<Group>& groups() { return groups_; }
  SubQueryInfo& info() { return info_; }

 private:
  /// What a run may read: a part of a split query reads one kind only.
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
        last_ns_(context.clock.MonotonicNs()) {}

  Status Resolve();
  /// The hours and buckets of raw data; null = not downsampled.
  Status PlanRaw(const DownsampleSpec* downsample);
  /// Lets string filters choose among the known series before the scan; false: none is left.
  Result<bool> ChooseSeries();
  Status OpenScan();
  Status Read();
  Status ReadRows();
  /// `shorter`: by what is kept, or need not be read.
  Status OpenRawScan(bool shorter = true);
  // sub_query_rolled.cc: whole hours from rollups of our own making, where that changes no answer.
  void PlanPieces();
  void OpenPieces();
  /// False: the buckets do not begin where the rollups do; nothing is read then.
  Result<bool> ReadPieces();
  /// Raw points that were planned to be read may be gone, and rollups be all that is left of them.
  [[nodiscard]] bool KeptSincePlanned() const;
  /// Reads the parts of a long scan on several threads.
  Status ReadParts(std::span<const std::unique_ptr<PointScan>> parts);
  /// A set for one more of so many scans.
  SeriesSet& AddSet(size_t scans = 1);
  /// Fills the set and closes it.
  Status ReadInto(PointScan* scan, SeriesSet* set);
  static Status ReadScan(PointScan* scan, LimitCounter* counter, SeriesSet* set);
  void Count(const LimitCounter& counter, const SeriesSet& set);
  /// Takes the series of all sets.
  void TakeSeries();
  // sub_query_cached.cc: old hours whose buckets are kept need not be read.
  struct CachedHours {
    Bytes shape;
    BucketCache::OldHours old;
    BucketGrid grid;                // the sub-query's, but unfilled
    std::deque<RowRecord> records;  // beside the sets
  };
  [[nodiscard]] bool MayCache() const;
  /// Before the scan. Sets cached_ if there are old hours, and leaves to `spec` what is to be read.
  void FindCached(PointScanSpec* spec);
  /// Rows of the hours that were found.
  [[nodiscard]] size_t RowsFound() const;
  /// Of the sets, before their series are taken.
  void KeepRead();
  void KeepHours();
  /// Puts the hours that were found before the series that were read, and fills them all.
  Status JoinCached();
  Result<std::vector<ByteView>> OrdersOfJoined();
  Status FillAll();
  /// All that the buckets of an hour depend on beside its rows.
  [[nodiscard]] Bytes Shape() const;
  // sub_query_folded.cc: the greatest of all series, of which most rows need not be read.
  [[nodiscard]] bool MayFold() const;
  Status OpenFolded();
  void TakeFolded();
  void AddFolded(std::vector<const PointColumns*>* columns) const;
  // sub_query_rollup.cc: reads the tables of the plan in turn, or the default pre-aggregates.
  Status PlanTables();
  Status ReadTables();
  Status ReadLevel(const codec::RollupLevel& level);
  // sub_query_split.cc: rollups as far as they must be there, raw data behind (§14.5).
  void PlanSplit();
  Status RunParts();
  // sub_query_groups.cc: from series to groups.
  struct GroupsPart {
    std::vector<Group> groups;  // those before the first failure
    Status status;
  };
  Status Evaluate();
  Status MakeGroups(std::span<const SeriesGroup> groups, NameMemo* names, GroupsPart* part) const;
  Status EvaluateHistograms();
  /// What a group's description will take, before it is made.
  [[nodiscard]] Status ChargeGroup(const SeriesGroup& group) const;
  /// Of rollups or pre-aggregates.
  [[nodiscard]] bool reads_tables() const { return pre_aggregates_ || !rollups_.levels.empty(); }
  [[nodiscard]] const KeyLayout& layout() const { return context_.points.layout(); }
  int64_t Lap();

  const RunContext& context_;
  const ValidSubQuery& sub_;
  const size_t index_;
  const int64_t start_ms_;  // what is scanned; the answer is trimmed to the query's own range
  const int64_t end_ms_;
  const Tables tables_;
  NameMemo names_;
  MemoryTally chosen_memory_;  // of the series that string filters chose
  MemoryTally joined_memory_;  // of what series_ holds beside what the sets charge
  int64_t last_ns_;

  Limits limits_;
  std::optional<SeriesFilter> filter_;
  ScanWindow window_;
  std::optional<BucketGrid> grid_;
  PointScanSpec spec_;
  RollupPlan rollups_;
  bool pre_aggregates_ = false;
  std::optional<int64_t> split_ms_;        // rollups before, raw data from here
  std::vector<HoursPiece> pieces_;         // what scan_ reads; empty: raw points alone
  std::optional<uint32_t> kept_before_s_;  // as these were planned; none: rollups would not do
  uint64_t times_forgotten_ = 0;           // the same
  bool opened_ = false;
  bool chosen_ = false;              // spec_ names nothing but series that the filter admits
  std::unique_ptr<PointScan> scan_;  // opened and not read yet; nullptr: there is none to read
  std::optional<CachedHours> cached_;
  std::optional<ExtremeFold> fold_;  // what the sets fold their series into while they are read
  // What it came to: stands for points that series_ lacks. Charged to joined_memory_.
  std::optional<std::vector<PointColumns>> folded_;
  std::deque<SeriesSet> sets_;  // of the scans; what series_ holds is charged by them
  std::vector<Series> series_;  // by Series::order
  std::vector<Bytes> tsuids_;   // of the series that were read, if their rows are to be deleted
  std::vector<Group> groups_;
  SubQueryInfo info_;
};

}  // namespace hg::query
