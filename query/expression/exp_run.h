#pragma once
// Evaluates expressions over the results of their sub-queries (opentsdb-queries.md §11.2).

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

/// The values of all series of a metric or an expression: one row for each time, in ascending
/// order. Immutable after creation.
struct ExpTable {
  SharedVector<SeriesIdentity> series;
  std::vector<int64_t> times_ms;
  std::vector<double> values;  // one row after the other, with one value per series
};

struct ExpResult {
  std::string id;
  std::optional<std::string> alias;
  bool is_metric = false;
  std::shared_ptr<const ExpTable> table;
  size_t row_begin = 0, row_end = 0;  // range of rows of `table` that the response contains
};

/// Returns one result per output. `answer` has the untrimmed results of the plan's request, and
/// `query` is the validated form of that request. InvalidArgument: for example, expressions that
/// refer to each other in a cycle, an empty intersection, or a result that is not a number.
/// LimitExceeded: more series or values than query/expression/limits.h allows. Also fails with
/// errors of `watch`, which may be nullptr. Results stay charged to `watch`.
Result<std::vector<ExpResult>> RunExpressions(const ExpPlan& plan, const ValidQuery& query,
                                              const Answer& answer, const KeyLayout& layout,
                                              RequestContext* watch);

}  // namespace hg::query
