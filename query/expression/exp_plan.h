#pragma once
// A request of expressions, checked: its sub-queries and its programs (spec query.md §11.1). Pure.

#include <string>
#include <vector>

#include "query/expression/exp_request.h"
#include "query/expression/program.h"
#include "query/request.h"
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

/// What is asked for; a metric if there is no such expression.
struct PlannedOutput {
  std::string id;
  std::optional<std::string> alias;
};

struct ExpPlan {
  Request request;  // one sub-query per metric, in their order
  std::vector<PlannedMetric> metrics;
  std::vector<PlannedExpression> expressions;
  std::vector<PlannedOutput> outputs;  // without unknown ids
};

/// InvalidArgument: the client's mistake, which OpenTSDB answers with 500.
Result<ExpPlan> PlanExpressions(const ExpRequest& request);

}  // namespace hg::query
