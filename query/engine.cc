#include "query/engine.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "query/last_point.h"
#include "query/plan/validate.h"
#include "query/request/side_by_side.h"
#include "query/sub_query_run.h"
#include "uid/annotations.h"

namespace hg::query {
namespace {

TimeZone DefaultZone(const Options& options) {
  if (options.timezone.empty()) return TimeZone::Local();
  Result<TimeZone> zone = TimeZone::Find(options.timezone);
  return zone.ok() ? *zone : TimeZone::Local();
}

// The remaining sub-queries run concurrently if they are expected to take at least this time. The
// expectation is computed from the time of the sub-queries that have run. A sleeping thread needs
// 20 to 50 µs to wake up, so it is not woken for less work.
constexpr int64_t kSideBySideFromNs = 150'000;
// If at least this many rows are expected, all sub-queries run concurrently from the start. The
// number of rows is estimated from the scan of the first sub-query.
constexpr uint64_t kSideBySideFromRows = 64;

// Returns the number of helper threads, which all queries share. The number is computed once,
// because each call of hardware_concurrency() reads a system file.
int HelperCount() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }
constexpr size_t kHelpQueueMax = 1024;

}  // namespace

Engine::Engine(Points& points, uid::Names& names, Store& cells, const Clock& clock, Options options,
               std::shared_ptr<BucketCache> cache, RolledHoursSource* rolled)
    : points_(points),
      names_(names),
      cells_(cells),
      clock_(clock),
      options_(std::move(options)),
      limits_file_(options_.limits_file, options_.limits_file_interval_s, clock),
      running_(options_, clock),
      default_zone_(DefaultZone(options_)),
      cache_(std::move(cache)),
      rolled_(rolled),
      helper_count_(static_cast<size_t>(HelperCount())),
      helpers_(static_cast<int>(helper_count_), kHelpQueueMax) {}

Result<ValidQuery> Engine::Validate(const Request& request, ValidationTrace* trace,
                                    RequestContext& context, FilterSet* filters) const {
  return ValidateRequest(request, clock_.NowMs(), default_zone_, layout().metric_width, trace,
                         context, filters);
}

Result<ValidQuery> Engine::Validate(const Request& request, RequestContext& context,
                                    FilterSet* filters) const {
  ValidationTrace unwanted;
  return Validate(request, &unwanted, context, filters);
}

Result<Answer> Engine::Run(const ValidQuery& query, const RunOptions& run) {
  std::unique_ptr<RunningRequest> own;
  if (run.request == nullptr) {
    own = running_.Begin("", {});
    RETURN_IF_ERROR(own->BecomeQuery(query.request, {}));
  }
  RunningRequest& running = run.request != nullptr ? *run.request : *own;
  RETURN_IF_ERROR(running.Check());
  // These requests do not run on an event loop: a delete has effects, and the number of global
  // annotations is not known in advance.
  if (query.request.delete_rows || query.request.global_annotations)
    RETURN_IF_ERROR(running.MayWait());
  ResolvedFilters filters;
  RunContext context{query,        options_,      points_,        names_,       clock_,
                     limits_file_, run.trim,      run.on_failure, running,      cells_,
                     helpers_,     helper_count_, filters,        cache_.get(), rolled_};
  std::deque<SubQueryRun> runs;
  for (size_t i = 0; i < query.queries.size(); ++i) runs.emplace_back(context, i);
  RETURN_IF_ERROR(RunAll(&runs));
  Answer answer;
  size_t groups = 0;
  for (SubQueryRun& r : runs) groups += r.groups().size();
  if (runs.size() > 1) answer.groups.reserve(groups);
  answer.queries.reserve(runs.size());
  for (SubQueryRun& r : runs) {
    if (runs.size() == 1) {
      answer.groups = std::move(r.groups());
    } else {
      std::move(r.groups().begin(), r.groups().end(), std::back_inserter(answer.groups));
    }
    answer.queries.push_back(r.info());  // DeleteRows needs it, too
  }
  if (query.request.global_annotations) {
    uid::Annotations annotations(cells_, {options_.data_table, layout(), false});
    ASSIGN_OR_RETURN(answer.global_annotations,
                     annotations.Globals(query.start_ms / 1000, query.end_ms / 1000, running));
  }
  if (run.transform) RETURN_IF_ERROR(run.transform(&answer));
  // Deletes only after everything else has succeeded. So no sub-query misses rows that another one
  // deletes, and a query that fails earlier deletes nothing. If the request is ended during the
  // deletes, a part of the rows is deleted.
  if (query.request.delete_rows) {
    for (SubQueryRun& r : runs) RETURN_IF_ERROR(r.DeleteRows());
  }
  return answer;
}

Result<std::vector<LastPoint>> Engine::Last(const LastPointQuery& query, RequestContext* watch) {
  NameMemo names(names_, watch);
  return FindLastPoints(query, options_, clock_.NowMs(), &points_, &cells_, &names, side_by_side(),
                        watch);
}

SideBySide Engine::side_by_side() {
  return [this](size_t count, const std::function<bool(size_t)>& task) {
    RunSideBySide(&helpers_, helper_count_, count, task);
  };
}

// If several sub-queries fail, the first one in the order of the request determines the error.
Status Engine::RunAll(std::deque<SubQueryRun>* runs) {
  size_t done = 0;
  const int64_t started_ns = clock_.MonotonicNs();
  RETURN_IF_ERROR(runs->front().Open());
  const bool many = runs->front().rows_expected() * runs->size() >= kSideBySideFromRows;
  while (done < runs->size() && !(many && runs->size() > 1)) {
    RETURN_IF_ERROR((*runs)[done++].Run());
    const int64_t each_ns = (clock_.MonotonicNs() - started_ns) / static_cast<int64_t>(done);
    if (each_ns * static_cast<int64_t>(runs->size() - done) >= kSideBySideFromNs) break;
  }
  std::vector<Status> statuses(runs->size() - done);
  RunSideBySide(&helpers_, helper_count_, statuses.size(), [&](size_t i) {
    statuses[i] = (*runs)[done + i].Run();
    return statuses[i].ok();
  });
  for (const Status& status : statuses) RETURN_IF_ERROR(status);
  return {};
}

}  // namespace hg::query
