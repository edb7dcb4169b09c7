#pragma once
// The entry point of the query module: runs validated queries and returns groups of points
// (opentsdb-queries.md §2.1). http/api/query* and the query tool of the command line use the
// engine.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "query/request/answer.h"
#include "query/request/limits_file.h"
#include "query/request/options.h"
#include "query/request/request.h"
#include "query/request/running_requests.h"
#include "query/request/side_by_side.h"
#include "query/rows/automatic_rollup_hours.h"
#include "query/rows/bucket_cache.h"
#include "query/time/time_zone.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "storage/base/worker_pool.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query {

class FilterSet;
class SubQueryRun;
struct ValidQuery;       // defined in query/plan/validate.h
struct ValidationTrace;  // defined in query/plan/validate.h
struct LastPointQuery;   // defined in query/last_point.h
struct LastPoint;        // defined in query/last_point.h

/// Options of one call to Engine::Run.
struct RunOptions {
  /// If true, the result has only points between the start and the end of the query. If false, the
  /// result has every point of the scanned hours. The command line and expressions need all these
  /// points.
  bool trim = true;
  OnFailure on_failure = OnFailure::kFail;
  /// The running request to which the work and the result are charged. Engine::running().Begin
  /// creates this object, and it must outlive the result. If `request` is nullptr, Run creates a
  /// request that ends when Run returns.
  RunningRequest* request = nullptr;
  /// Changes the result before the query deletes rows. If it fails, Run fails with its error, and
  /// no rows are deleted. May be empty.
  std::function<Status(Answer* answer)> transform = {};
};

/// Runs queries. The engine is thread-safe, and any number of queries may run at once. Functions of
/// the engine may wait for storage. On an event loop, call them only with a request for which
/// RunningRequest::TryOnLoop was called; they then return Busy instead of waiting.
class Engine {
 public:
  /// All objects that are passed by reference or by pointer must outlive the engine. If `cache` is
  /// null, every query reads its old hours from the store.
  ///
  /// `rolled` is the state of the rollups that this process computes. If `rolled` is nullptr, the
  /// rollup tables contain rollups that clients wrote, and queries read them as in OpenTSDB.
  Engine(Points& points, uid::Names& names, Store& cells, const Clock& clock, Options options,
         std::shared_ptr<BucketCache> cache = nullptr, RolledHoursSource* rolled = nullptr);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Validates a request and resolves its relative times with the clock of the engine. Sets
  /// `*trace` to the steps of validation that were completed. `filters` contains the filters that
  /// were compiled when the request was parsed; it may be nullptr. The memory of the result stays
  /// charged to `context`.
  ///
  /// The message of InvalidArgument describes the mistake of the client. Unsupported: a mistake of
  /// the client that OpenTSDB answers with HTTP status 500. Also returns the errors of `context`.
  Result<ValidQuery> Validate(const Request& request, ValidationTrace* trace,
                              RequestContext& context, FilterSet* filters = nullptr) const;
  Result<ValidQuery> Validate(const Request& request, RequestContext& context,
                              FilterSet* filters = nullptr) const;

  /// Runs all sub-queries of a query. If a sub-query fails, Run returns the error of this
  /// sub-query. NotFound: a name is unknown. InvalidArgument: an error in the data, for example
  /// duplicate times or an infinite value. LimitExceeded or DeadlineExceeded: the query exceeded a
  /// limit of the options, or the client has disconnected. Busy: too many queries are running. Also
  /// returns the errors of the store.
  Result<Answer> Run(const ValidQuery& query, const RunOptions& run);

  /// Returns the newest point of each requested series (opentsdb-queries.md §10.2), in the order of
  /// the request. NotFound: a name is unknown. The work is charged to `watch`, which may be
  /// nullptr.
  Result<std::vector<LastPoint>> Last(const LastPointQuery& query, RequestContext* watch);

  /// Returns the number of threads that one query may use, including the calling thread.
  [[nodiscard]] size_t threads() const { return helper_count_ + 1; }
  /// Returns a function that runs tasks on the thread that calls it and, at the same time, on the
  /// helper threads of the engine. The engine must outlive the returned function.
  [[nodiscard]] SideBySide side_by_side();

  /// Returns the list of running requests, which also creates and ends requests.
  [[nodiscard]] RunningRequests& running() { return running_; }

  /// Returns the cache of downsampled old hours, or nullptr if there is no cache.
  [[nodiscard]] const BucketCache* cache() const { return cache_.get(); }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const KeyLayout& layout() const { return points_.layout(); }

  // The following functions return the storage interfaces, for callers that read without Run. The
  // storage interfaces outlive the engine.
  [[nodiscard]] Points& points() { return points_; }
  [[nodiscard]] Store& cells() { return cells_; }
  [[nodiscard]] RolledHoursSource* rolled() { return rolled_; }

 private:
  Status RunAll(std::deque<SubQueryRun>* runs);

  Points& points_;
  uid::Names& names_;
  Store& cells_;
  const Clock& clock_;
  const Options options_;
  LimitsFile limits_file_;
  RunningRequests running_;
  const TimeZone default_zone_;
  const std::shared_ptr<BucketCache> cache_;  // nullptr: queries use no cache
  RolledHoursSource* const rolled_;           // nullptr: this process computes no rollups
  const size_t helper_count_;
  WorkerPool helpers_;  // threads that run parts of queries concurrently
};

}  // namespace hg::query
