#pragma once
// A checked request of expressions: its sub-queries and its programs (opentsdb-queries.md §11.1).

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

/// A requested output: an expression, or a metric if no expression has this id.
struct PlannedOutput {
  std::string id;
  std::optional<std::string> alias;
};

struct ExpPlan {
  Request request;  // one sub-query for each element of `metrics`, in that order
  std::vector<PlannedMetric> metrics;
  std::vector<PlannedExpression> expressions;
  std::vector<PlannedOutput> outputs;  // without those outputs whose ids are unknown
};

/// Plans a request. The plan stays charged to `context`. InvalidArgument: a mistake of the client,
/// which OpenTSDB answers with 500. Also fails with errors of `context`. `compiled` compiles the
/// filters and keeps them for the later validation of the plan's request. If `compiled` is nullptr,
/// filters are compiled twice.
Result<ExpPlan> PlanExpressions(const ExpRequest& request, RequestContext& context,
                                FilterSet* compiled = nullptr);

}  // namespace hg::query
