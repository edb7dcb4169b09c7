#include "http/wire/query_uri.h"

#include <doctest/doctest.h>

#include <string>

#include "http/wire/query_json.h"
#include "tests/support/cpu_time.h"

namespace hg::http {
namespace {

using query::FilterSpec;
using query::SubQuery;

/// Returns "metric [key:type(filter)+ …]"; + means a grouping filter.
std::string Filters(std::string_view text) {
  Result<SubQuery> query = ReadMetricQuery(text);
  if (!query.ok()) return std::string(StatusCodeName(query.status().code()));
  std::string out = *query->metric;
  for (const FilterSpec& f : query->filters) {
    out += " " + f.tagk + ":" + f.type + "(" + f.filter + ")" + (f.group_by ? "+" : "");
  }
  return out;
}

TEST_CASE("the parts of m may have any order and are recognized by their beginning") {
  SubQuery q = *ReadMetricQuery("sum:1m-avg:RATE{counter,100,5}:explicit_tags:net.bytes");
  CHECK(*q.aggregator == "sum");
  CHECK(*q.metric == "net.bytes");
  CHECK(*q.downsample == "1m-avg");
  CHECK(q.rate);
  CHECK(*q.rate_options == query::RateOptions{true, 100, 5, false});
  CHECK(q.explicit_tags);
  q = *ReadMetricQuery("sum:rate:0all-sum-nan:unknown:m");
  CHECK(q.rate);
  CHECK_FALSE(q.rate_options.has_value());
  CHECK(*q.downsample == "0all-sum-nan");
  CHECK(*ReadMetricQuery("sum:ROLLUP_RAW:m")->rollup_usage == "ROLLUP_RAW");
}

TEST_CASE(
    "an option that compares the value is a value filter, other options of that name are not") {
  CHECK(*ReadMetricQuery("max:1m-max:value>90.5:m")->value_filter == ">90.5");
  CHECK(*ReadMetricQuery("max:Value!= 0:m")->value_filter == "!= 0");
  CHECK_FALSE(ReadMetricQuery("max:value:m")->value_filter.has_value());
  CHECK_FALSE(ReadMetricQuery("max:values:m")->value_filter.has_value());
}

TEST_CASE("rate options are parsed") {
  auto options = [](const char* text) {
    return *ReadMetricQuery("sum:" + std::string(text) + ":m")->rate_options;
  };
  CHECK(options("rate{counter}") == query::RateOptions{true, INT64_MAX, 0, false});
  CHECK(options("rate{counter,,9}") == query::RateOptions{true, INT64_MAX, 9, false});
  CHECK(options("rate{dropcounter}") == query::RateOptions{true, INT64_MAX, 0, true});
  CHECK(options("rate{foo}") == query::RateOptions{});
  for (const char* bad : {"rate{", "rate{counter,x}", "rate{counter,1,x}", "rate{counter,1,2,3}"}) {
    CAPTURE(std::string(bad));
    CHECK(ReadMetricQuery("sum:" + std::string(bad) + ":m").status().code() ==
          StatusCode::kInvalidArgument);
  }
}

TEST_CASE("the first braces group, and the second ones only filter") {
  CHECK(Filters("sum:m{}") == "m");
  CHECK(Filters("sum:m{host=*}") == "m host:wildcard(*)+");
  CHECK(Filters("sum:m{host=a|b,dc=x*}") == "m host:literal_or(a|b)+ dc:wildcard(x*)+");
  CHECK(Filters("sum:m{}{host=Regexp(^a)}") == "m host:regexp(^a)");
  CHECK(Filters("sum:m{host=*}{dc=x}") == "m dc:literal_or(x) host:wildcard(*)+");
  // A grouping filter that equals one of the second braces makes that one a grouping filter.
  CHECK(Filters("sum:m{host=a}{host=a}") == "m host:literal_or(a)+");
}

TEST_CASE("errors for which OpenTSDB returns 500 have a status code of their own") {
  for (const char* text :
       {"sum:", "sum:m{host=*", "sum:m{host}", "sum:m{=x}", "sum:m{host=}", "sum:m{host==*}",
        "sum:m{host=foo(x)}", "sum:m{host=regexp(()}", "sum::m"}) {
    CAPTURE(std::string(text));
    CHECK(Filters(text) == StatusCodeName(StatusCode::kUnsupported));
  }
  for (const char* text : {"", "sum", "a:b:c:d:e:f"}) {
    CAPTURE(std::string(text));
    CHECK(Filters(text) == StatusCodeName(StatusCode::kInvalidArgument));
  }
}

TEST_CASE("sub-queries of tsuid precede those of m, and a flag is true if it is present") {
  Parameters parameters;
  parameters.Add("start", "1h-ago");
  parameters.Add("m", "sum:a");
  parameters.Add("tsuid", "max:rate:000001000001000001,000001000001000002");
  parameters.Add("ms", "false");
  query::Request request = *ReadQuery(parameters);
  REQUIRE(request.queries.size() == 2);
  CHECK(request.queries[0].tsuids->size() == 2);
  CHECK(request.queries[0].rate);
  CHECK(*request.queries[1].metric == "a");
  CHECK(request.ms_resolution);
  CHECK_FALSE(request.show_tsuids);
  CHECK(ReadQuery(Parameters()).status().message() == "Missing sub queries");
}

TEST_CASE("the metrics of exp become sub-queries after those of m") {
  Parameters p;
  p.Add("start", "1");
  p.Add("exp", "sum(max:a{host=*},scale(min:10s-avg:b,2))");
  p.Add("m", "sum:c");
  Result<query::Request> query = ReadQuery(p);
  REQUIRE(query.ok());
  REQUIRE(query->queries.size() == 3);
  CHECK(*query->queries[0].metric == "c");
  CHECK(*query->queries[1].metric == "a");
  CHECK(query->queries[1].filters.size() == 1);
  CHECK(*query->queries[2].downsample == "10s-avg");
  Result<std::vector<query::GexpCall>> calls = ReadExpressions(p);
  REQUIRE(calls.ok());
  CHECK(calls->size() == 1);
  p.Add("exp", "nope(sum:a)");
  CHECK(ReadQuery(p).status().code() == StatusCode::kUnsupported);
  CHECK(ReadExpressions(p).status().code() == StatusCode::kUnsupported);
}

TEST_CASE("last-point queries by metric and by TSUID are parsed") {
  Parameters parameters;
  parameters.Add("timeseries", "m{host=a,dc=x}");
  parameters.Add("tsuids", "000001,000002");
  parameters.Add("back_scan", "24");
  parameters.Add("resolve", "");
  query::LastPointQuery query = *ReadLastPointQuery(parameters);
  REQUIRE(query.queries.size() == 2);
  CHECK(*query.queries[0].metric == "m");
  CHECK(query.queries[0].tags.size() == 2);
  CHECK(query.queries[1].tsuids.size() == 2);
  CHECK(query.back_scan_hours == 24);
  CHECK(query.resolve_names);
  for (const char* hours : {"", "2147483648"}) {
    Parameters beyond;
    beyond.Add("back_scan", hours);
    CHECK_FALSE(ReadLastPointQuery(beyond).ok());
  }
  Parameters twice;
  twice.Add("timeseries", "m{host=a,host=a}");
  CHECK(ReadLastPointQuery(twice)->queries[0].tags.size() == 1);
  twice.Add("timeseries", "m{host=a,host=b}");
  CHECK(ReadLastPointQuery(twice).status().code() == StatusCode::kUnsupported);
  parameters.Add("back_scan", "x");
  CHECK_FALSE(ReadLastPointQuery(parameters).ok());
}

TEST_CASE("very many grouping filters are compared quickly") {
  std::string text = "sum:m{k0=v";
  for (int i = 1; i < 50'000; ++i) text += ",k" + std::to_string(i) + "=v";
  text += "}{k7=v,k8=w}";
  Result<SubQuery> query = SubQuery();
  const double seconds = CpuSecondsOf([&] { query = ReadMetricQuery(text); });
  REQUIRE(query.ok());
  CHECK(query->filters.size() == 50'001);
  CHECK(query->filters[0].group_by);
  CHECK_FALSE(query->filters[1].group_by);
  CHECK(seconds < 5);
}

TEST_CASE("a request of too many sub-queries is refused") {
  Parameters parameters;
  parameters.Add("start", "1h-ago");
  for (size_t i = 0; i <= kSubQueriesMax; ++i) parameters.Add("m", "sum:m");
  CHECK(ReadQuery(parameters).status().code() == StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace hg::http
