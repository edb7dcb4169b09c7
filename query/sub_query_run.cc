#include "query/sub_query_run.h"

#include <functional>
#include <string>
#include <utility>

#include "query/rows/cached_rows.h"
#include "query/rows/folded_rows.h"
#include "storage/base/checked_sort.h"

namespace hg::query {

int64_t SubQueryRun::Lap() {
  const int64_t now = context_.clock.MonotonicNs();
  return now - std::exchange(last_ns_, now);
}

Status SubQueryRun::Open() {
  opened_ = true;
  ASSIGN_OR_RETURN(tables_, PlanClientTables(context_, sub_, start_ms_, end_ms_, allowed_));
  if (tables_.split_ms) return {};
  plan_.emplace(context_, index_, start_ms_, end_ms_);
  RETURN_IF_ERROR(plan_->Resolve());
  info_.filter_keys = plan_->filter->filtered_keys();
  info_.stats.filter_ns = Lap();
  automatic_rollups_.emplace(&*plan_);
  if (tables_.any()) return {};
  ASSIGN_OR_RETURN(const bool any, plan_->ChooseSeries());
  return any ? OpenSource(RowSourceKind::kAutomaticRollups) : Status();
}

Status SubQueryRun::Run() {
  if (!opened_) RETURN_IF_ERROR(Open());
  if (tables_.split_ms) return RunParts(*tables_.split_ms);
  bool read = false;
  if (tables_.any()) {
    ASSIGN_OR_RETURN(read, ReadClientTables(tables_, &*plan_, &read_));
    if (!read) RETURN_IF_ERROR(OpenSource(RowSourceKind::kAutomaticRollups));
  } else if (source_ == nullptr) {
    return {};  // no series
  }
  if (!read) RETURN_IF_ERROR(ReadSource());
  info_.stats.scan_ns = Lap();
  info_.stats.names_resolved = plan_->names.resolved();
  info_.stats.scan = "metric " + ToHexUpper(plan_->spec.metric) + ", rows [" +
                     std::to_string(plan_->spec.rows.begin) + ", " +
                     std::to_string(plan_->spec.rows.end) + ")";
  Status evaluated = sub_.histograms ? EvaluateHistograms() : Evaluate();
  FreeWorkingMemory();
  if (context_.on_failure == OnFailure::kFail || evaluated.code() != StatusCode::kInvalidArgument)
    return evaluated;
  if (context_.on_failure == OnFailure::kLeaveNothing) groups_.clear();
  info_.failure = std::move(evaluated);
  return {};
}

Status SubQueryRun::OpenSource(RowSourceKind first) {
  source_.reset();
  const auto may_use = [&](RowSourceKind kind) { return source_ == nullptr && first <= kind; };
  if (may_use(RowSourceKind::kAutomaticRollups)) {
    ASSIGN_OR_RETURN(source_, automatic_rollups_->Open());
  }
  if (may_use(RowSourceKind::kExtremes)) {
    ASSIGN_OR_RETURN(source_, OpenExtremes(&*plan_));
  }
  if (may_use(RowSourceKind::kCachedHours)) {
    ASSIGN_OR_RETURN(source_, OpenCachedHours(&*plan_));
  }
  if (may_use(RowSourceKind::kRawPoints)) {
    ASSIGN_OR_RETURN(source_, OpenRawPoints(&*plan_));
  }
  return {};
}

Status SubQueryRun::ReadSource() {
  for (;;) {
    const Status read = source_->Read(&read_);
    RowSourceKind next = RowSourceKind::kAutomaticRollups;
    if (read.code() == StatusCode::kConflict && source_->fallback()) {
      next = *source_->fallback();
    } else {
      RETURN_IF_ERROR(read);
      if (!automatic_rollups_->Changed()) return source_->Finish(&read_);
    }
    read_.Clear();
    RETURN_IF_ERROR(OpenSource(next));
  }
}

// Frees memory early, because other sub-queries of the request may take long and need memory, too.
void SubQueryRun::FreeWorkingMemory() {
  read_.Clear();
  source_.reset();
  plan_->FreeGrid();
  if (context_.query.request.delete_rows) return;
  automatic_rollups_.reset();
  plan_.reset();
}

Status SubQueryRun::DeleteRows() {
  if (tsuids_.empty()) return {};
  if (!plan_ || tables_.pre_aggregates || info_.rollup_table != kRawTable) {
    return Status::InvalidArgument("Rollups and pre-aggregates cannot be deleted by a query");
  }
  // The base times of rows have 32 bits, so such a scan reads rows of earlier times (RangeOf).
  const Timestamp start{context_.query.start_ms}, end{context_.query.end_ms};
  if (start.seconds() > int64_t{UINT32_MAX}) return {};
  if (plan_->sub.downsample && plan_->sub.downsample->interval_ms() / 1000 > int64_t{UINT32_MAX}) {
    // The scan of such an interval reads all times, or wraps around. Only the hours of the request
    // are deleted.
    RowRange& rows = plan_->spec.rows;
    rows.begin = std::max(rows.begin, start.base());
    rows.end = std::clamp<uint64_t>(static_cast<uint64_t>(end.seconds()) + 1, rows.begin,
                                    std::max<uint64_t>(rows.begin, rows.end));
  }
  if (plan_->filter->decides()) {
    plan_->spec.matcher = {};
    plan_->spec.matcher.tsuids = tsuids_;
    MemoryTally sorting(plan_->spec.watch);
    RETURN_IF_ERROR(CheckedSort(&plan_->spec.matcher.tsuids, std::less<>(), &sorting));
  }
  return context_.points.DeleteRows(plan_->spec);
}

}  // namespace hg::query
