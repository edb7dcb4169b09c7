#pragma once
// Runs one sub-query, from names to groups (opentsdb-queries.md §2.1). It plans what to read,
// selects a source of rows, reads the series, forms groups, and merges the series of each group.

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
  /// function at most once, before Run; if it was not called, Run calls it. Returns the errors of
  /// Engine::Run.
  Status Open();
  /// Returns an estimate of the number of rows to read, or 0 if Open could not estimate this
  /// number.
  [[nodiscard]] uint64_t rows_expected() const {
    return source_ != nullptr ? source_->RowsExpected() : 0;
  }
  /// Runs the sub-query. Call this function only once. Returns the errors of Engine::Run.
  Status Run();
  /// Deletes all points of the rows that the sub-query has read, including points outside its time
  /// range. Call this function after Run.
  Status DeleteRows();

  // Returns the groups. Call this function after Run has succeeded.
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

  /// Opens the first source that can read this sub-query. Tries the sources in the order of
  /// RowSourceKind, beginning with `first`.
  Status OpenSource(RowSourceKind first);
  /// Reads the series from source_. If source_ returns Conflict, reads them from its fallback
  /// source.
  Status ReadSource();
  /// Frees the memory that is no longer needed after the groups were formed.
  void FreeWorkingMemory();
  // Runs the two parts of a time range that is divided at `split_ms`. Defined in
  // sub_query_split.cc.
  Status RunParts(int64_t split_ms);
  // The groups that one thread computes from the series. Only sub_query_groups.cc uses this type.
  struct GroupsPart {
    std::vector<Group> groups;  // the groups before the first group that failed
    Status status;
  };
  Status Evaluate();
  Status MakeGroups(std::span<const SeriesGroup> groups, NameMemo* names, GroupsPart* part) const;
  Status EvaluateHistograms();
  /// Charges the memory for the description of a group. Call this function before the description
  /// is created.
  [[nodiscard]] Status ChargeGroup(const SeriesGroup& group) const;
  /// Charges the memory for the part of a group's names that ChargeGroup did not cover.
  [[nodiscard]] Status ChargeLongNames(const Group& group) const;
  /// If the rows of the series are to be deleted, stores the TSUID of the series.
  Status NoteDeleted(const Series& series);
  /// Returns the time since the previous call of Lap, in nanoseconds.
  int64_t Lap();

  const RunContext& context_;
  const ValidSubQuery& sub_;
  const size_t index_;
  // The time range to scan. Later steps trim the result to the time range of the query.
  const int64_t start_ms_;
  const int64_t end_ms_;
  const TablesAllowed allowed_;
  SubQueryInfo info_;
  ClientTables tables_;
  std::optional<SubQueryPlan> plan_;  // empty before Open, and again when it is no longer needed
  /// The state of the rollups when the sub-query was planned; refers to plan_.
  std::optional<AutomaticRollups> rollups_;
  /// Nullptr: there is nothing to read, or the sub-query reads tables_.
  std::unique_ptr<RowSource> source_;
  SeriesRead read_;
  std::vector<Bytes> tsuids_;  // TSUIDs of the series whose rows are to be deleted
  std::vector<Group> groups_;
  bool opened_ = false;
  int64_t last_ns_;
};

}  // namespace hg::query
