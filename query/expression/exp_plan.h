#pragma once
// The plan of an expression request (/api/query/exp): the sub-queries and the compiled programs
// (opentsdb-queries.md §11.1).

#include <string>
#include <vector>

#include "query/expression/exp_request.h"
#include "query/expression/program.h"
#include "query/plan/filter_set.h"
#include "query/request/request.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query {

struct PlannedExpression {
  std::string id;
  Program program;
  JoinRule join;
};

struct PlannedMetric {
  std::string id;
  double fill = 0;
};

/// An output that the request asks for. It is the expression with this id or, if there is no such
/// expression, the metric with this id.
struct PlannedOutput {
  std::string id;
  std::optional<std::string> alias;
};

struct ExpPlan {
  Request request;  // has one sub-query for each element of `metrics`, in the same order
  std::vector<PlannedMetric> metrics;
  std::vector<PlannedExpression> expressions;
  std::vector<PlannedOutput> outputs;  // the requested outputs, except those with unknown ids
};

/// Creates the plan of a request. The memory of the plan stays charged to `context`. `compiled`
/// compiles the filters and keeps them, so that the later validation of ExpPlan::request does not
/// compile them again. `compiled` may be nullptr.
///
/// InvalidArgument: a mistake of the client, which OpenTSDB answers with HTTP status 500. Also
/// returns the errors of `context`.
Result<ExpPlan> PlanExpressions(const ExpRequest& request, RequestContext& context,
                                FilterSet* compiled = nullptr);

}  // namespace hg::query
