#include "query/engine.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "query/last_point.h"
#include "query/side_by_side.h"
#include "query/sub_query_run.h"
#include "query/validate.h"
#include "storage/base/no_wait.h"
#include "uid/annotations.h"

namespace hg::query {
namespace {

TimeZone DefaultZone(const Options& options) {
  if (options.timezone.empty()) return TimeZone::Local();
  Result<TimeZone> zone = TimeZone::Find(options.timezone);
  return zone.ok() ? *zone : TimeZone::Local();
}

// Sub-queries run one after the other until those that are left, if they take as long as those
// that are done, take this much time; these run side by side: a sleeping thread wakes in 20 to 50
// µs.
constexpr int64_t kSideBySideFromNs = 150'000;
// Where the first one's scan lets expect that they all together read so many rows, which takes at
// least as long, none of them waits for it.
constexpr uint64_t kSideBySideFromRows = 64;

// Threads beside those that the queries came on, for all queries together. The answer is read from
// a file of the system each time.
int HelperCount() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }
constexpr size_t kHelpQueueMax = 1024;

}  // namespace

Engine::Engine(Points& points, uid::Names& names, Store& cells, const Clock& clock, Options options,
               std::shared_ptr<BucketCache> cache)
    : points_(points),
      names_(names),
      cells_(cells),
      clock_(clock),
      options_(std::move(options)),
      limits_file_(options_.limits_file, options_.limits_file_interval_s, clock),
      running_(options_, clock),
      default_zone_(DefaultZone(options_)),
      cache_(std::move(cache)),
      helper_count_(static_cast<size_t>(HelperCount())),
      helpers_(static_cast<int>(helper_count_), kHelpQueueMax) {}

Result<ValidQuery> Engine::Validate(const Request& request, ValidationTrace* trace) const {
  ValidationTrace unwanted;
  return ValidateRequest(request, clock_.NowMs(), default_zone_, layout().metric_width,
                         trace != nullptr ? trace : &unwanted);
}

Result<Answer> Engine::Run(const ValidQuery& query, const RunOptions& run) {
  std::unique_ptr<RunningQuery> own;
  if (run.query == nullptr) {
    ASSIGN_OR_RETURN(own, running_.Begin(query.request, {}));
  }
  RunningQuery& running = run.query != nullptr ? *run.query : *own;
  RETURN_IF_ERROR(running.Look());
  if (query.request.delete_rows) RETURN_IF_ERROR(NoWait::MayWait());
  ResolvedFilters filters;
  RunContext context{query,        options_,      points_,        names_,      clock_,
                     limits_file_, run.trim,      run.on_failure, running,     cells_,
                     helpers_,     helper_count_, filters,        cache_.get()};
  std::deque<SubQueryRun> runs;
  for (size_t i = 0; i < query.queries.size(); ++i) runs.emplace_back(context, i);
  RETURN_IF_ERROR(RunAll(&runs));
  // Only now, so that no sub-query misses what another one deletes, and nothing goes if one fails.
  if (query.request.delete_rows) {
    for (SubQueryRun& r : runs) RETURN_IF_ERROR(r.DeleteRows());
  }
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
    answer.queries.push_back(std::move(r.info()));
  }
  if (query.request.global_annotations) {
    uid::Annotations annotations(cells_, {options_.data_table, layout(), false});
    ASSIGN_OR_RETURN(answer.global_annotations,
                     annotations.Globals(query.start_ms / 1000, query.end_ms / 1000));
  }
  return answer;
}

Result<std::vector<LastPoint>> Engine::Last(const LastPointQuery& query, WorkWatch* watch) {
  NameMemo names(names_, watch);
  return FindLastPoints(query, options_, clock_.NowMs(), &points_, &cells_, &names, side_by_side(),
                        watch);
}

SideBySide Engine::side_by_side() {
  return [this](size_t count, const std::function<bool(size_t)>& task) {
    RunSideBySide(&helpers_, helper_count_, count, task);
  };
}

// The first failure in order of the request is the answer.
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
