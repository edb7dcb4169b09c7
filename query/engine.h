#pragma once
// The read path's front: validated queries in, groups of points out (spec query.md §2.1). Used by
// http/api/query* and by the command line's query tool.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "query/answer.h"
#include "query/bucket_cache.h"
#include "query/limits_file.h"
#include "query/options.h"
#include "query/request.h"
#include "query/running.h"
#include "query/side_by_side.h"
#include "query/time_zone.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "storage/base/worker_pool.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query {

class SubQueryRun;
struct ValidQuery;       // query/validate.h
struct ValidationTrace;  // query/validate.h
struct LastPointQuery;   // query/last_point.h
struct LastPoint;        // query/last_point.h

/// How one call differs from another.
struct RunOptions {
  /// False: every point of the scanned hours is given (the command line, expressions). True: only
  /// [start, end].
  bool trim = true;
  OnFailure on_failure = OnFailure::kFail;
  /// The query that the work and the answer belong to, begun by running(); it outlives the answer.
  /// nullptr: one of nobody, that ends with the call.
  RunningQuery* query = nullptr;
};

/// Thread-safe: any number of queries at once. Blocks on storage; call it from a pool.
class Engine {
 public:
  /// All outlive the engine. Without a cache old hours are read anew each time.
  Engine(Points& points, uid::Names& names, Store& cells, const Clock& clock, Options options,
         std::shared_ptr<BucketCache> cache = nullptr);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Checks a request and reads its times against the clock (query/validate.h). InvalidArgument
  /// says what is wrong; Unsupported marks the user errors that OpenTSDB answers with 500. `trace`,
  /// if given, tells how far it came.
  Result<ValidQuery> Validate(const Request& request, ValidationTrace* trace = nullptr) const;

  /// Runs all sub-queries, all or nothing. NotFound: an unknown name. InvalidArgument: duplicate
  /// instants, infinity and other failures of the data. LimitExceeded, DeadlineExceeded: a limit of
  /// the options, or nobody waits any more. Busy: too much runs already. Others from storage.
  Result<Answer> Run(const ValidQuery& query, const RunOptions& run);

  /// Newest points (spec query.md §10.2), in the order of the request. NotFound: an unknown name.
  /// `watch` as in Run, nullptr for none.
  Result<std::vector<LastPoint>> Last(const LastPointQuery& query, WorkWatch* watch);

  /// Threads that one query may keep busy, its own included.
  [[nodiscard]] size_t threads() const { return helper_count_ + 1; }
  /// On the caller's thread and on those that help all queries; the engine outlives it.
  [[nodiscard]] SideBySide side_by_side();

  /// Where queries are begun, listed and ended.
  [[nodiscard]] RunningQueries& running() { return running_; }

  /// nullptr: none.
  [[nodiscard]] const BucketCache* cache() const { return cache_.get(); }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const KeyLayout& layout() const { return points_.layout(); }

  // What is read, for who reads otherwise than by Run. They outlive the engine.
  [[nodiscard]] Points& points() { return points_; }
  [[nodiscard]] Store& cells() { return cells_; }

 private:
  Status RunAll(std::deque<SubQueryRun>* runs);

  Points& points_;
  uid::Names& names_;
  Store& cells_;
  const Clock& clock_;
  const Options options_;
  LimitsFile limits_file_;
  RunningQueries running_;
  const TimeZone default_zone_;
  const std::shared_ptr<BucketCache> cache_;  // null: none
  const size_t helper_count_;
  WorkerPool helpers_;  // run sub-queries side by side
};

}  // namespace hg::query
