#pragma once
// Evaluates the expressions of /api/query/exp on the results of their sub-queries
// (opentsdb-queries.md §11.2).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/expression/exp_plan.h"
#include "query/expression/identity.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// The values of all series of a metric or of an expression. A table has one row for each time, in
/// ascending order of time. A table is immutable after its creation.
struct ExpTable {
  SharedVector<SeriesIdentity> series;
  std::vector<int64_t> times_ms;
  std::vector<double> values;  // the rows one after another; each row has one value per series
};

struct ExpResult {
  std::string id;
  std::optional<std::string> alias;
  bool is_metric = false;
  std::shared_ptr<const ExpTable> table;
  /// The response contains the rows [row_begin, row_end) of `table`.
  size_t row_begin = 0, row_end = 0;
};

/// Returns one result for each output of the plan. `answer` contains the untrimmed results of
/// `plan.request`, and `query` is the validated form of this request. The memory of the results
/// stays charged to `watch`, which may be nullptr.
///
/// InvalidArgument: for example, expressions refer to each other in a cycle, an intersection is
/// empty, or a result is not a number. LimitExceeded: there are more series or values than
/// query/expression/limits.h allows. Also returns the errors of `watch`.
Result<std::vector<ExpResult>> RunExpressions(const ExpPlan& plan, const ValidQuery& query,
                                              const Answer& answer, const KeyLayout& layout,
                                              RequestContext* watch);

}  // namespace hg::query
