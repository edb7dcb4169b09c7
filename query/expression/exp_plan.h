#pragma once
// The plan of an expression request after its check: the sub-queries and the compiled programs
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

/// An output that the request asks for: an expression, or, if no expression has the given id, a
/// metric.
struct PlannedOutput {
  std::string id;
  std::optional<std::string> alias;
};

struct ExpPlan {
  Request request;  // one sub-query for each element of `metrics`, in the order of `metrics`
  std::vector<PlannedMetric> metrics;
  std::vector<PlannedExpression> expressions;
  std::vector<PlannedOutput> outputs;  // the requested outputs, except those with unknown ids
};

/// Plans a request. The memory of the plan stays charged to `context`. `compiled` compiles the
/// filters and keeps them for the later validation of the plan's request. If `compiled` is nullptr,
/// the filters are compiled twice.
///
/// InvalidArgument: a mistake of the client, which OpenTSDB answers with HTTP status 500. Also
/// fails if `context` reports an error.
Result<ExpPlan> PlanExpressions(const ExpRequest& request, RequestContext& context,
                                FilterSet* compiled = nullptr);

}  // namespace hg::query
