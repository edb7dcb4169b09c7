#pragma once
// Runs one sub-query, from names to groups (opentsdb-queries.md §2.1): plans what to read, selects
// a source of rows, reads the series, and forms and merges groups.

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

/// Not thread-safe. Several objects of one query may work concurrently.
class SubQueryRun {
 public:
  SubQueryRun(const RunContext& context, size_t index)
      : SubQueryRun(context, index, context.query.start_ms, context.query.end_ms,
                    TablesAllowed::kAny) {}

  /// Prepares the sub-query: resolves names, selects series and opens the source of rows. Call this
  /// function at most once; if you do not, Run calls it. Errors are those of Engine::Run.
  Status Open();
  /// Returns an estimate of the number of rows to read, or 0 if Open could not estimate it.
  [[nodiscard]] uint64_t rows_expected() const {
    return source_ != nullptr ? source_->RowsExpected() : 0;
  }
  /// Runs the sub-query. Call this function once. Errors are those of Engine::Run.
  Status Run();
  /// Deletes all points of the rows that were read, including points outside the time range. Call
  /// this function after Run.
  Status DeleteRows();

  // Returns the groups after a successful Run.
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

  /// Opens the first source, in the order of RowSourceKind from `first` on, that can read this
  /// sub-query.
  Status OpenSource(RowSourceKind first);
  /// Reads the series from source_, or from its fallback.
  Status ReadSource();
  /// Frees memory that is not needed once the groups exist.
  void FreeWorkingMemory();
  // Runs both parts of a divided time range. Defined in sub_query_split.cc.
  Status RunParts(int64_t split_ms);
  // The groups that one thread computes from series. Used in sub_query_groups.cc.
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
  /// If the rows of the series are to be deleted, remembers the TSUID of the series.
  Status NoteDeleted(const Series& series);
  /// Returns the time since the last call, in nanoseconds.
  int64_t Lap();

  const RunContext& context_;
  const ValidSubQuery& sub_;
  const size_t index_;
  // The range of times to scan. Later, the result is trimmed to the range of the query.
  const int64_t start_ms_;
  const int64_t end_ms_;
  const TablesAllowed allowed_;
  SubQueryInfo info_;
  ClientTables tables_;
  std::optional<SubQueryPlan> plan_;         // empty before Open, and after it is no longer needed
  std::optional<AutomaticRollups> rollups_;  // uses plan_
  std::unique_ptr<RowSource> source_;        // nullptr: nothing to read, or tables_ are read
  SeriesRead read_;
  std::vector<Bytes> tsuids_;  // series whose rows were read and are to be deleted
  std::vector<Group> groups_;
  bool opened_ = false;
  int64_t last_ns_;
};

}  // namespace hg::query
