#pragma once
// Runs one sub-query (opentsdb-queries.md §2.1). The run plans what to read, selects a source of
// rows, reads the series, forms groups, and merges the series of each group.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "query/group.h"
#include "query/request/answer.h"
#include "query/rows/automatic_rollup_rows.h"
#include "query/rows/client_rollup_rows.h"
#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "query/series/name_memo.h"
#include "storage/base/status.h"

namespace hg::query {

/// One run of a sub-query. An object is not thread-safe, but several objects of one query may work
/// on different threads at the same time.
class SubQueryRun {
 public:
  SubQueryRun(const RunContext& context, size_t index)
      : SubQueryRun(context, index, context.query.start_ms, context.query.end_ms,
                    TablesAllowed::kAny) {}

  /// Prepares the sub-query: resolves names, selects series and opens the source of rows. Call this
  /// function at most once, before Run. If the caller has not called Open, Run calls it. Returns
  /// the errors of Engine::Run.
  Status Open();
  /// Returns an estimate of the number of rows that Run will read, or 0 if there is no estimate.
  [[nodiscard]] uint64_t rows_expected() const {
    return source_ != nullptr ? source_->RowsExpected() : 0;
  }
  /// Runs the sub-query. Call this function only once. Returns the errors of Engine::Run.
  Status Run();
  /// Deletes all rows that the sub-query has read, including points of these rows that are outside
  /// its time range. Call this function after Run.
  Status DeleteRows();

  // Returns the groups of the result. Call this function after Run has succeeded.
  std::vector<Group>& groups() { return groups_; }
  SubQueryInfo& info() { return info_; }

 private:
  SubQueryRun(const RunContext& context, size_t index, int64_t start_ms, int64_t end_ms,
              TablesAllowed allowed)
      : context_(context),
        sub_(context.query.queries[index]),
        index_(index),
        start_ms_(start_ms),
        end_ms_(end_ms),
        allowed_(allowed),
        read_(&context.watch, &info_),
        last_ns_(context.clock.MonotonicNs()) {}

  /// Opens the first source of rows that can read this sub-query. Tries the kinds of sources in the
  /// order of RowSourceKind, from `first` on.
  Status OpenSource(RowSourceKind first);
  /// Reads the series from source_. If source_ returns Conflict, reads them from its fallback
  /// source.
  Status ReadSource();
  /// Frees the memory that is no longer needed after the groups were formed.
  void FreeWorkingMemory();
  // Runs the sub-query in two parts: the first part reads rollups up to `split_ms`, and the second
  // part reads raw points from `split_ms` on. Joins the groups of both parts. Defined in
  // sub_query_split.cc.
  Status RunParts(int64_t split_ms);
  // The groups that one thread has computed. Only sub_query_groups.cc uses this type.
  struct GroupsPart {
    std::vector<Group> groups;  // the groups before the first group that failed
    Status status;
  };
  Status Evaluate();
  Status MakeGroups(std::span<const SeriesGroup> groups, NameMemo* names, GroupsPart* part) const;
  Status EvaluateHistograms();
  /// Charges the memory for the names, tags and TSUIDs of a group (see Describe). Call this
  /// function before Describe.
  [[nodiscard]] Status ChargeGroup(const SeriesGroup& group) const;
  /// Charges the memory of the names of a group that ChargeGroup did not charge, because the names
  /// are longer than ChargeGroup assumed.
  [[nodiscard]] Status ChargeLongNames(const Group& group) const;
  /// If the query deletes the rows that it reads, adds the TSUID of the series to tsuids_.
  Status NoteDeleted(const Series& series);
  /// Returns the time since the previous call of Lap, in nanoseconds.
  int64_t Lap();

  const RunContext& context_;
  const ValidSubQuery& sub_;
  const size_t index_;
  // The time range to scan, in milliseconds. Later steps trim the result to the time range of the
  // query.
  const int64_t start_ms_;
  const int64_t end_ms_;
  const TablesAllowed allowed_;
  SubQueryInfo info_;
  ClientTables tables_;
  std::optional<SubQueryPlan> plan_;  // nullopt before Open, and after the plan is no longer needed
  /// The state of the automatic rollups at the time when the sub-query was planned. Refers to
  /// plan_.
  std::optional<AutomaticRollups> automatic_rollups_;
  /// The source of the rows. nullptr: there is nothing to read, or the sub-query reads tables_
  /// instead.
  std::unique_ptr<RowSource> source_;
  SeriesRead read_;
  std::vector<Bytes> tsuids_;  // TSUIDs of the series whose rows are to be deleted
  std::vector<Group> groups_;
  bool opened_ = false;
  int64_t last_ns_;
};

}  // namespace hg::query
