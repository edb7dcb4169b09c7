#pragma once
// Creates groups and requests from a short notation, for use in tests of expressions.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "query/expression/exp_run.h"
#include "query/request/answer.h"
#include "tests/query/columns.h"

namespace hg::query {

/// Returns a key layout whose UIDs have one byte each.
inline KeyLayout NarrowLayout() {
  KeyLayout layout;
  layout.metric_width = layout.tagk_width = layout.tagv_width = 1;
  return layout;
}

/// Returns a group that consists of one series with the tag "host". The UIDs of the metric and of
/// the tag value are the last letters of their names.
inline Group HostGroup(size_t query_index, const std::string& metric, const std::string& host,
                       PointColumns points) {
  Group out;
  out.query_index = query_index;
  out.metric = metric;
  out.tags = {{"host", host}};
  out.tsuids = {metric.substr(metric.size() - 1) + "\x01" + host.substr(host.size() - 1)};
  out.points = std::move(points);
  return out;
}

/// A test case of /api/query/exp: metrics, expressions, and the groups that the query engine
/// returns for the metrics.
struct ExpCase {
  struct Metric {
    std::string id;
    /// The groups that the query engine returns; Run sets their query_index.
    std::vector<Group> groups;
    std::optional<NumericFill> fill;
    Status failure = {};
    std::string name = {};  // name of the metric; if it is empty, the name is "metric." and the id
  };
  struct Expression {
    std::string id, text;
    bool intersection = false;
    bool use_query_tags = false;
  };
  std::vector<Metric> metrics;
  std::vector<Expression> expressions;
  std::vector<std::string> outputs;
  /// The UIDs of the tag keys that have filters. They are the same for every metric.
  std::vector<Bytes> filter_keys;
  int64_t start_s = 0, end_s = 100;
  RequestContext* watch = nullptr;

  [[nodiscard]] Result<std::vector<ExpResult>> Run() const {
    ExpRequest request;
    request.time.emplace();
    request.time->start = std::to_string(start_s);
    request.time->aggregator = "sum";
    Answer answer;
    for (size_t i = 0; i < metrics.size(); ++i) {
      ExpMetric metric;
      metric.id = metrics[i].id;
      metric.metric = metrics[i].name.empty() ? "metric." + metrics[i].id : metrics[i].name;
      metric.fill = metrics[i].fill;
      request.metrics.push_back(metric);
      for (Group group : metrics[i].groups) {
        group.query_index = i;
        answer.groups.push_back(std::move(group));
      }
    }
    answer.queries.resize(metrics.size());
    for (SubQueryInfo& info : answer.queries) info.filter_keys = filter_keys;
    for (size_t i = 0; i < metrics.size(); ++i) answer.queries[i].failure = metrics[i].failure;
    if (!expressions.empty()) request.expressions.emplace();
    for (const Expression& e : expressions) {
      ExpExpression expression;
      expression.id = e.id;
      expression.expr = e.text;
      expression.join.intersection = e.intersection;
      expression.join.use_query_tags = e.use_query_tags;
      request.expressions->push_back(expression);
    }
    if (!outputs.empty()) request.outputs.emplace();
    for (const std::string& id : outputs) request.outputs->push_back({id, {}});
    ASSIGN_OR_RETURN(ExpPlan plan, PlanExpressions(request, RequestContext::Unlimited()));
    ValidationTrace trace;
    ASSIGN_OR_RETURN(const ValidQuery valid,
                     ValidateRequest(plan.request, 1'500'000'000'000, TimeZone(), 1, &trace,
                                     RequestContext::Unlimited()));
    ValidQuery query;
    query.request = plan.request;
    // For each validated sub-query, the index of its first metric. This is needed because `groups`
    // refer to all metrics by index, but validation removes repeated sub-queries.
    std::map<size_t, size_t> first;
    for (size_t i = 0; i < valid.places.size(); ++i)
      query.places.push_back(first.try_emplace(valid.places[i], i).first->second);
    query.start_ms = start_s * 1000;
    query.end_ms = end_s * 1000;
    return RunExpressions(plan, query, answer, NarrowLayout(), watch);
  }
};

/// Returns the rows of a result as text such as "10:6.0,100.0 20:NaN,200.0": for each row, its time
/// in seconds and its values.
inline std::string Rows(const ExpResult& result) {
  const ExpTable& table = *result.table;
  std::string out;
  for (size_t row = result.row_begin; row < result.row_end; ++row) {
    if (!out.empty()) out += ' ';
    out += std::to_string(table.times_ms[row] / 1000);
    for (size_t s = 0; s < table.series.size(); ++s) {
      out += s == 0 ? ':' : ',';
      AppendJavaDouble(&out, table.values[row * table.series.size() + s]);
    }
  }
  return out;
}

inline std::string Rows(const Result<std::vector<ExpResult>>& results, size_t index = 0) {
  if (!results.ok()) return "error: " + std::string(results.status().message());
  return index < results->size() ? Rows((*results)[index]) : "no output";
}

}  // namespace hg::query
