#include "query/expression/exp_plan.h"

#include <doctest/doctest.h>

#include <functional>

#include "query/expression/limits.h"
#include "query/plan/validate.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

ExpRequest Minimal() {
  ExpRequest request;
  request.time.emplace();
  request.time->start = "1h-ago";
  request.time->aggregator = "sum";
  ExpFilter filter;
  filter.id = "f";
  filter.tags = {{"wildcard", "host", "*", true}};
  filter.explicit_tags = true;
  request.filters = {{filter}};
  ExpMetric metric;
  metric.id = "a";
  metric.metric = "sys.cpu";
  metric.filter = "f";
  request.metrics = {metric};
  ExpExpression expression;
  expression.id = "e";
  expression.expr = "a * 2";
  request.expressions = {{expression}};
  return request;
}

TEST_CASE("a metric becomes a sub-query, and its own settings precede those of the time section") {
  ExpRequest request = Minimal();
  request.time->downsampler.emplace();
  request.time->downsampler->interval = "1m";
  request.time->downsampler->aggregator = "avg";
  request.time->rate = true;
  request.metrics[0].aggregator = "max";
  Result<ExpPlan> plan = PlanExpressions(request, RequestContext::Unlimited());
  REQUIRE(plan.ok());
  const SubQuery& query = plan->request.queries.at(0);
  CHECK(query.aggregator == "max");
  CHECK(query.metric == "sys.cpu");
  CHECK(query.downsample == "1m-avg");
  CHECK(query.rate);
  CHECK(query.explicit_tags);
  CHECK(query.filters == request.filters->at(0).tags);
  REQUIRE(plan->outputs.size() == 1);
  CHECK(plan->outputs[0].id == "e");
}

TEST_CASE("without outputs all expressions are shown, or else all metrics") {
  ExpRequest request = Minimal();
  request.expressions.reset();
  Result<ExpPlan> plan = PlanExpressions(request, RequestContext::Unlimited());
  REQUIRE(plan.ok());
  CHECK(plan->outputs.at(0).id == "a");
  request.outputs = {{ExpOutput{"zz", {}}, ExpOutput{{}, "x"}}};
  plan = PlanExpressions(request, RequestContext::Unlimited());
  REQUIRE(plan.ok());
  CHECK(plan->outputs.empty());
}

TEST_CASE("ids may have letters of any script, and offsets must be times but have no effect") {
  ExpRequest request = Minimal();
  request.expressions.reset();
  for (const char* id : {"a\u00E9", "\u6F22", "\u00F11"}) {
    request.metrics[0].id = id;
    CHECK(PlanExpressions(request, RequestContext::Unlimited()).ok());
  }
  for (const char* offset : {"", "1h-ago", "now", "2017/07/14"}) {
    request.metrics[0].time_offset = offset;
    CHECK(PlanExpressions(request, RequestContext::Unlimited()).ok());
  }
}

TEST_CASE("requests that OpenTSDB refuses are refused") {
  struct Mistake {
    const char* name;
    std::function<void(ExpRequest&)> make;
  };
  const Mistake mistakes[] = {
      {"no time", [](ExpRequest& r) { r.time.reset(); }},
      {"no start", [](ExpRequest& r) { r.time->start.reset(); }},
      {"no aggregator", [](ExpRequest& r) { r.time->aggregator.reset(); }},
      {"unknown aggregator", [](ExpRequest& r) { r.time->aggregator = "nope"; }},
      {"aggregator in upper case", [](ExpRequest& r) { r.time->aggregator = "SUM"; }},
      {"aggregator that has upper case", [](ExpRequest& r) { r.time->aggregator = "squareSum"; }},
      {"empty aggregator of a metric", [](ExpRequest& r) { r.metrics[0].aggregator = ""; }},
      {"offset that is no time", [](ExpRequest& r) { r.metrics[0].time_offset = "1h"; }},
      {"no metrics", [](ExpRequest& r) { r.metrics.clear(); }},
      {"no id", [](ExpRequest& r) { r.metrics[0].id.reset(); }},
      {"id of one digit", [](ExpRequest& r) { r.metrics[0].id = "1"; }},
      {"id with a dot", [](ExpRequest& r) { r.metrics[0].id = "a.b"; }},
      {"no metric", [](ExpRequest& r) { r.metrics[0].metric = ""; }},
      {"unknown filter", [](ExpRequest& r) { r.metrics[0].filter = "g"; }},
      {"metric twice", [](ExpRequest& r) { r.metrics.push_back(r.metrics[0]); }},
      {"metric's aggregator", [](ExpRequest& r) { r.metrics[0].aggregator = "zz"; }},
      {"filter twice", [](ExpRequest& r) { r.filters->push_back(r.filters->at(0)); }},
      {"filter type", [](ExpRequest& r) { r.filters->at(0).tags.Edit()[0].type = "zz"; }},
      {"filter without tags", [](ExpRequest& r) { r.filters->at(0).tags_missing = true; }},
      {"no expression", [](ExpRequest& r) { r.expressions->at(0).expr.reset(); }},
      {"syntax", [](ExpRequest& r) { r.expressions->at(0).expr = "a +"; }},
      {"unknown variable", [](ExpRequest& r) { r.expressions->at(0).expr = "a + zz"; }},
      {"expression named as a metric", [](ExpRequest& r) { r.expressions->at(0).id = "a"; }},
      {"calendar",
       [](ExpRequest& r) {
         r.time->downsampler = ExpDownsampler{"1dc", "sum", {}};
       }},
      {"run-all",
       [](ExpRequest& r) {
         r.time->downsampler = ExpDownsampler{"0all", "sum", {}};
       }},
      {"too many", [](ExpRequest& r) { r.metrics.resize(kExpressionIdsMax, r.metrics[0]); }},
      {"too many outputs", [](ExpRequest& r) { r.outputs.emplace(kExpressionIdsMax + 1); }},
  };
  CHECK(PlanExpressions(Minimal(), RequestContext::Unlimited()).ok());
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.name);
    ExpRequest request = Minimal();
    mistake.make(request);
    CHECK(PlanExpressions(request, RequestContext::Unlimited()).status().code() ==
          StatusCode::kInvalidArgument);
  }
}

TEST_CASE("metrics with the same filter share it, in the plan and in the validated request") {
  ExpRequest request = Minimal();
  std::vector<FilterSpec> tags;
  for (int i = 0; i < 1000; ++i)
    tags.push_back({"wildcard", "host", "*a" + std::to_string(i), false, false});
  request.filters->at(0).tags = tags;
  for (int i = 0; i < 1000; ++i) {
    request.metrics.push_back(request.metrics[0]);
    request.metrics.back().id = "m" + std::to_string(i);
    request.metrics.back().metric = "metric" + std::to_string(i);
  }
  FakeWatch watch;
  FilterSet filters(watch);
  const Result<ExpPlan> plan = PlanExpressions(request, watch, &filters);
  REQUIRE(plan.ok());
  ValidationTrace trace;
  const Result<ValidQuery> query =
      ValidateRequest(plan->request, 1'700'000'000'000, TimeZone(), 3, &trace, watch, &filters);
  REQUIRE(query.ok());
  REQUIRE(query->queries.size() == 1001);
  for (const ValidSubQuery& sub : query->queries) {
    REQUIRE(sub.text.filters.SharesWith(request.filters->at(0).tags));
    REQUIRE(sub.filters.SharesWith(query->queries[0].filters));
  }
  CHECK(watch.bytes < 20'000'000);
  CHECK(watch.bytes > 1'000'000);
  FakeWatch poor;
  poor.bytes_max = 500'000;
  FilterSet others(poor);
  CHECK(PlanExpressions(request, poor, &others).status().code() == StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace hg::query
