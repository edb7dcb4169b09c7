#pragma once
// The evaluation of expressions over what their sub-queries found (spec query.md §11.2). Pure.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/answer.h"
#include "query/expression/exp_plan.h"
#include "query/expression/identity.h"
#include "query/validate.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// Rows over the series of a metric or an expression, ascending in time. Immutable once made.
struct ExpTable {
  std::vector<SeriesIdentity> series;
  std::vector<int64_t> times_ms;
  std::vector<double> values;  // row by row, one per series
};

struct ExpResult {
  std::string id;
  std::optional<std::string> alias;
  bool is_metric = false;
  std::shared_ptr<const ExpTable> table;
  size_t row_begin = 0, row_end = 0;  // the rows to show
};

/// One result per output. `answer`: of the plan's request, untrimmed, as `query` validated it.
/// InvalidArgument: expressions that name each other in a circle, an empty intersection, a result
/// that is no number, … LimitExceeded: more series or values than query/expression/limits.h allows.
/// Else what `watch` says, if there is one; results are charged to it and stay so.
Result<std::vector<ExpResult>> RunExpressions(const ExpPlan& plan, const ValidQuery& query,
                                              const Answer& answer, const KeyLayout& layout,
                                              WorkWatch* watch);

}  // namespace hg::query
