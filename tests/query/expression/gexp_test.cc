#include "query/expression/gexp.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "query/expression/gexp_functions.h"
#include "query/expression/gexp_run.h"
#include "query/expression/limits.h"
#include "storage/model/special_double.h"
#include "tests/query/expression/exp_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

// "metric{host=a} 0:1 10:2; …", or the error.
std::string EvaluateAll(const std::vector<std::string>& texts,
                        const std::vector<std::vector<Group>>& found, int64_t start_s = 0,
                        int64_t end_s = 100) {
  std::vector<GexpCall> calls;
  std::vector<std::string> metrics;
  for (const std::string& text : texts) {
    Result<GexpCall> call = ParseGexp(text, &metrics);
    if (!call.ok()) return "syntax";
    calls.push_back(std::move(*call));
  }
  ValidQuery query;
  query.start_ms = start_s * 1000;
  query.end_ms = end_s * 1000;
  query.queries.resize(found.size());
  Answer answer;
  for (size_t i = 0; i < found.size(); ++i) {
    for (Group group : found[i]) {
      group.query_index = i;
      answer.groups.push_back(std::move(group));
    }
  }
  Result<std::vector<Group>> results =
      RunGexps(calls, query, std::move(answer), NarrowLayout(), nullptr);
  if (!results.ok()) return "error: " + std::string(results.status().message());
  std::string out;
  for (const Group& group : *results) {
    if (!out.empty()) out += "; ";
    out += group.metric + "{";
    for (const auto& [key, value] : group.tags) out += key + "=" + value;
    out += "} " + Text(group.points);
  }
  return out;
}

std::string Evaluate(const std::string& text, const std::vector<std::vector<Group>>& found,
                     int64_t start_s = 0, int64_t end_s = 100) {
  return EvaluateAll({text}, found, start_s, end_s);
}

Group A(PointColumns points) { return HostGroup(0, "g.a", "a", std::move(points)); }
Group B(PointColumns points) { return HostGroup(0, "g.a", "b", std::move(points)); }
Group C(PointColumns points) { return HostGroup(0, "g.a", "c", std::move(points)); }

TEST_CASE("metrics inside function expressions have the form of m=") {
  std::vector<std::string> metrics;
  Result<GexpCall> call = ParseGexp(
      "sumSeries( scale( sum : 10s-avg:rate:sys.cpu{host=*, dc = lga|dal} ,2),max:net.b)){x",
      &metrics);
  REQUIRE(call.ok());
  CHECK(metrics ==
        std::vector<std::string>{"sum:10s-avg:rate:sys.cpu{host=*,dc=lga|dal}", "max:net.b"});
  CHECK(call->function == GexpFunction::kSum);
  REQUIRE(call->arguments.size() == 2);
  CHECK(std::get<GexpCall>(call->arguments[0]).arguments.size() == 2);
  CHECK(std::get<GexpMetric>(call->arguments[1]).index == 1);
}

TEST_CASE("texts that are not function calls are refused") {
  for (const char* text :
       {"", "absolute", "absolute(", "absolute()", "sum:g.one", "absolute(sum:g.one", "scale(,2)",
        "scale(sum:m,)", "absolute(sum:a:b:c:g.one)", "absolute(sum:g{host=web*})",
        "absolute(sum:rate{counter}:g)", "absolute(sum:g{})", "absolute(sum:g{a=b)",
        "ABSOLUTE(sum:g)", "nope(sum:g)", "firstDiff(sum:g)", "absolute(sum:)"}) {
    CAPTURE(text);
    std::vector<std::string> metrics;
    CHECK(ParseGexp(text, &metrics).status().code() == StatusCode::kUnsupported);
  }
}

TEST_CASE("nesting and length are limited") {
  auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "absolute(";
    text += "sum:m";
    for (int i = 0; i < levels; ++i) text += ")";
    return text;
  };
  std::vector<std::string> metrics;
  CHECK(ParseGexp(nested(kExpressionNestingMax), &metrics).ok());
  CHECK_FALSE(ParseGexp(nested(kExpressionNestingMax + 1), &metrics).ok());
  CHECK_FALSE(
      ParseGexp("absolute(sum:" + std::string(kExpressionBytesMax, 'm') + ")", &metrics).ok());
}

TEST_CASE("scale keeps integers if the factor is one") {
  std::vector<std::vector<Group>> found = {
      {A(OfInts({{0, 5}, {10, -3}})), B(OfDoubles({{0, 1.5}}))}};
  CHECK(Evaluate("scale(sum:m,3)", found) == "g.a{host=a} 0:15 10:-9; g.a{host=b} 0:4.5");
  CHECK(Evaluate("scale(sum:m,2.0)", found) == "g.a{host=a} 0:10 10:-6; g.a{host=b} 0:3.0");
  // Truncated to 2^63 - 1, and wrapped around.
  CHECK(Evaluate("scale(sum:m,99999999999999999999)", found) ==
        "g.a{host=a} 0:9223372036854775803 10:-9223372036854775805; g.a{host=b} 0:1.5E20");
  CHECK(Evaluate("scale(sum:m,--1)", found).find("error: ") == 0);
}

TEST_CASE("absolute keeps types") {
  std::vector<std::vector<Group>> found = {
      {A(OfInts({{0, -4}, {10, 2}})), B(OfDoubles({{0, -1.5}}))}};
  CHECK(Evaluate("absolute(sum:m)", found) == "g.a{host=a} 0:4 10:2; g.a{host=b} 0:1.5");
}

TEST_CASE("a moving average of points waits until the window is full") {
  std::vector<std::vector<Group>> found = {{A(OfInts({{0, -4}, {1, 2}, {2, 6}, {3, 8}, {4, 20}}))}};
  CHECK(Evaluate("movingAverage(sum:m,3)", found) ==
        "g.a{host=a} 0:0.0 1:0.0 2:1.3333333333333333 3:5.333333333333333 4:11.333333333333334");
  CHECK(Evaluate("movingAverage(sum:m,2)",
                 {{A(OfDoubles({{0, 1.7976931348623157e308}, {1, 1.7976931348623157e308}}))}})
            .find("error: ") == 0);
}

TEST_CASE("a moving average over a time is 0 without numbers, and needs a valid window") {
  std::vector<std::vector<Group>> found = {{A(OfInts({{0, -4}, {1, 2}, {2, 6}, {3, 8}, {4, 20}}))}};
  CHECK(
      Evaluate("movingAverage(sum:m,'20s')", {{A(OfDoubles({{0, 1}, {20, kNan}, {50, kNan}}))}}) ==
      "g.a{host=a} 0:0.0 20:0.0 50:0.0");
  for (const char* window : {"-1", "'0s'", "'2x'", "'2s", "2s", "99999999999"}) {
    CAPTURE(window);
    CHECK(Evaluate(std::string("movingAverage(sum:m,") + window + ")", found).find("error: ") == 0);
  }
}

TEST_CASE(
    "highestCurrent and highestMax score series by the slots of active series, as OpenTSDB does") {
  // Both series end at the same time, so each score is the series' own last value.
  CHECK(Evaluate("highestCurrent(sum:m,1)",
                 {{A(OfInts({{0, 1}, {10, 3}})), B(OfInts({{0, 7}, {10, 9}}))}}) ==
        "g.a{host=b} 0:7 10:9");
  // The first one ends early, so the last value of the second one is taken for its own.
  CHECK(Evaluate("highestCurrent(sum:m,1)",
                 {{A(OfInts({{0, 1}, {20, 100}})), B(OfInts({{0, 3}, {50, 9}}))}}) ==
        "g.a{host=a} 0:1 20:100");
  // Instants with integers and instants with doubles have separate slots.
  CHECK(Evaluate("highestCurrent(sum:m,3)",
                 {{A(OfInts({{0, 1}, {20, 100}})), B(OfInts({{0, 3}, {20, 5}, {50, 9}})), C([] {
                     PointColumns mixed = OfInts({{10, 0}, {50, 2}});
                     mixed.kinds = {1, 0};
                     mixed.bits[0] = std::bit_cast<uint64_t>(50.5);
                     return mixed;
                   }())}}) ==
        "g.a{host=a} 0:1 20:100; g.a{host=c} 10:50.5 50:2; g.a{host=b} 0:3 20:5 50:9");
  CHECK(Evaluate("highestMax(sum:m,9)",
                 {{A(OfInts({{0, 5}, {10, 1}})), B(OfInts({{0, 2}, {10, 100}}))}}) ==
        "g.a{host=b} 0:2 10:100; g.a{host=a} 0:5 10:1");
}

TEST_CASE("a series with a NaN is the highest by its maximum") {
  std::vector<std::vector<Group>> found = {
      {HostGroup(0, "g.a", "a", OfDoubles({{0, 9}, {1, 9}})),
       HostGroup(0, "g.a", "b", OfDoubles({{0, 1}, {1, kNan}})),
       HostGroup(0, "g.a", "c", OfDoubles({{0, kNan}, {1, 2}}))}};
  auto first = [&](const char* text) { return Evaluate(text, found).substr(0, 11); };
  CHECK(first("highestMax(sum:m,1)") == "g.a{host=b}");
  CHECK(first("highestCurrent(sum:m,1)") == "g.a{host=b}");
}

TEST_CASE("a series that ends in 0.0 is higher than one that ends in -0.0") {
  std::vector<std::vector<Group>> found = {
      {HostGroup(0, "g.a", "a", OfDoubles({{0, 9}, {1, -0.0}})),
       HostGroup(0, "g.a", "b", OfDoubles({{0, 1}, {1, 0.0}}))}};
  CHECK(Evaluate("highestCurrent(sum:m,1)", found).substr(0, 11) == "g.a{host=b}");
}

TEST_CASE(
    "highestMax and highestCurrent fail without points in the range, or without a positive count") {
  std::vector<std::vector<Group>> found = {{A(OfInts({{0, 1}}))}};
  for (const char* function : {"highestMax", "highestCurrent"}) {
    CHECK(Evaluate(std::string(function) + "(sum:m,1)", found, 10, 20).find("error: ") == 0);
    CHECK(Evaluate(std::string(function) + "(sum:m,1)", {{}}) == "");
    CHECK(Evaluate(std::string(function) + "(sum:m,x)", found).find("error: ") == 0);
    CHECK(Evaluate(std::string(function) + "(sum:m,-1)", found).find("error: ") == 0);
    CHECK(Evaluate(std::string(function) + "(sum:m,0)", found).find("error: ") == 0);
  }
}

TEST_CASE("points of several series are combined by their position, not by time") {
  std::vector<std::vector<Group>> found = {
      {HostGroup(0, "g.a", "h", OfInts({{10, 1}, {20, 2}, {30, 3}}))},
      {HostGroup(1, "g.b", "h", OfInts({{11, 2}, {21, 2}, {31, 2}}))}};
  CHECK(Evaluate("divideSeries(sum:m,sum:n)", found) == "g.a{host=h} 10:0.5 20:1.0 30:1.5");
  CHECK(Evaluate("diffSeries(sum:m,sum:n)", found, 15, 25) == "g.a{host=h} 20:0.0");
  found[1][0].points = OfInts({{11, 2}, {21, 2}});
  CHECK(Evaluate("divide(sum:m,sum:n)", found).find("error: No more elements") == 0);
  // Outer functions read only the last one of several series with equal tags, so an earlier one may
  // have a failure. Tags that the first set lacks are not shown.
  const std::vector<std::vector<Group>> sparse = {
      {HostGroup(0, "g.a", "x", OfInts({{10, 1}}))},
      {HostGroup(1, "g.b", "h", OfInts({{11, 2}, {21, 2}})),
       HostGroup(1, "g.b", "z", OfInts({{11, 2}}))},
      {HostGroup(2, "g.c", "h", OfInts({{12, 7}}))},
      {HostGroup(3, "g.d", "p", OfInts({{5, 1}}))}};
  CHECK(Evaluate("sum(sum:m,sum:n,sum:o)", sparse).find("error: No more elements") == 0);
  CHECK(Evaluate("multiply(sum:m,sum(sum:n,sum:o))", {sparse[0], sparse[1], sparse[2]})
            .find("error: No more elements") == 0);
  CHECK(Evaluate("multiply(sum(sum:m,sum:n,sum:o),sum:p)", sparse).find("error") ==
        std::string::npos);
  // Each level of functions reads each series one point ahead, even if that point is not used.
  const std::vector<std::vector<Group>> ahead = {
      {HostGroup(0, "g.a", "x", OfInts({{10, 1}}))},
      {HostGroup(1, "g.b", "h", OfInts({{11, 2}})),
       HostGroup(1, "g.b", "z", OfInts({{11, 2}, {21, 2}}))},
      {HostGroup(2, "g.c", "z", OfInts({{12, 7}}))},
      {HostGroup(3, "g.d", "p", OfInts({{5, 1}}))},
      {HostGroup(4, "g.e", "e", OfInts({{5, 1}}))}};
  CHECK(Evaluate("sum(sum:q,multiply(sum(sum:m,sum:n,sum:o),sum:p))",
                 {ahead[4], ahead[0], ahead[1], ahead[2], ahead[3]})
            .find("error: No more elements") == 0);
  found.resize(2);
  found[1][0] = HostGroup(1, "g.b", "other", PointColumns());
  CHECK(Evaluate("divide(sum:m,sum:n)", found).find("error: A series to be combined") == 0);
}

TEST_CASE("combined series have the lowest metric and the tags of the first set") {
  std::vector<std::vector<Group>> found = {{HostGroup(0, "g.b", "1", OfInts({{10, 1}}))},
                                           {HostGroup(1, "g.a", "1", OfDoubles({{10, 4}})),
                                            HostGroup(1, "g.a", "2", OfDoubles({{10, kNan}}))}};
  CHECK(Evaluate("sum(sum:m,sum:n)", found) == "g.a{host=1} 10:5.0; g.a{} 10:0.0");
  CHECK(Evaluate("multiply(sum:m,sum:n)", found) == "g.a{host=1} 10:4.0; g.a{} 10:0.0");
  CHECK(Evaluate("alias(sum(sum:m,sum:n),x)", found).find("error: ") == 0);
  CHECK(Evaluate("alias(absolute(sum(sum:m,sum:n)),x)", found) == "x{} 10:5.0; x{} 10:0.0");
  CHECK(Evaluate("sum(alias(sum:m,x),sum:n)", found).find("error: An alias") == 0);
  CHECK(Evaluate("sum(sum:m)", found).find("error: Must have 2 to 26") == 0);
}

TEST_CASE(
    "a series that a moving average leaves empty cannot be combined, even if another one "
    "represents it") {
  // B, which is outside of the range, and C have no tags after the inner sum, so C represents both.
  const std::vector<std::vector<Group>> found = {{A(OfInts({{10, 1}}))},
                                                 {A(OfInts({{10, 2}}))},
                                                 {B(OfInts({{-10, 3}})), C(OfInts({{10, 4}}))}};
  CHECK(Evaluate("sumSeries(sum:x,scale(sumSeries(sum:y,sum:z),1))", found).find("error") ==
        std::string::npos);
  CHECK(Evaluate("sumSeries(sum:x,scale(movingAverage(sumSeries(sum:y,sum:z),1),1))", found) ==
        "error: A series to be combined has no points");
}

TEST_CASE("functions apply to all of their sets and to results of other functions") {
  std::vector<std::vector<Group>> found = {{HostGroup(0, "g.a", "1", OfInts({{10, -1}}))},
                                           {HostGroup(1, "g.b", "1", OfInts({{10, 2}}))}};
  CHECK(Evaluate("scale(sum:m,sum:n,2)", found) == "g.a{host=1} 10:-2; g.b{host=1} 10:4");
  CHECK(Evaluate("sum(scale(absolute(sum:m),10),sum:n)", found) == "g.a{host=1} 10:12.0");
  CHECK(EvaluateAll({"absolute(sum:m)", "scale(sum:n,3)"}, found) ==
        "g.a{host=1} 10:1; g.b{host=1} 10:6");
  CHECK(Evaluate("scale(sum:m,2,sum:n)", found).find("error: ") == 0);
}

TEST_CASE("a second metric with an equal sub-query is not found") {
  std::vector<std::vector<Group>> found = {{A(OfInts({{0, 1}}))}};
  CHECK(Evaluate("sum(sum:m,sum:m)", found).find("error: Metric 1") == 0);
}

// Computes the averages like OpenTSDB, which sums each window from its newest number to its oldest.
std::vector<double> AveragesByCount(const std::vector<double>& values, size_t window) {
  std::vector<double> numbers, out;
  for (const double v : values) {
    if (!std::isnan(v)) numbers.push_back(v);
    double sum = 0.0;
    for (size_t i = 0; i < window && numbers.size() >= window; ++i)
      sum += numbers[numbers.size() - 1 - i];
    out.push_back(sum / static_cast<double>(window));
  }
  return out;
}

PointColumns EachSecond(const std::vector<double>& values) {
  PointColumns points;
  points.all_double = true;
  for (size_t i = 0; i < values.size(); ++i) {
    points.time_ms.push_back(static_cast<int64_t>(i) * 1000);
    points.bits.push_back(std::bit_cast<uint64_t>(values[i]));
  }
  return points;
}

TEST_CASE("a moving average equals that of sums computed anew, to the last bit") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) {
      const auto number = static_cast<double>(static_cast<int64_t>(random() % 2001) - 1000);
      const double scales[] = {1.0, 0.25, 0.1, 0x1p40, -0.0};
      // Some rounds have numbers with exact sums, some have others, and some have both.
      const double scale = scales[round % 6 == 5 ? random() % 5 : round % 6 % 5];
      values.push_back(random() % 20 == 0 ? kNan : number * scale);
    }
    const size_t window = 1 + random() % 50;
    PointColumns points = EachSecond(values);
    REQUIRE(ApplyMovingAverage(std::to_string(window), {0, 1'000'000}, &points, nullptr).ok());
    const std::vector<double> expected = AveragesByCount(values, window);
    for (size_t i = 0; i < values.size(); ++i)
      REQUIRE(points.bits[i] == std::bit_cast<uint64_t>(expected[i]));
    // The same with a window by time that is full, without missing numbers.
    points = EachSecond(values);
    const std::string time = "'" + std::to_string(window) + "s'";
    REQUIRE(ApplyMovingAverage(time, {0, 1'000'000}, &points, nullptr).ok());
    for (size_t i = window; i < values.size(); ++i) {
      double sum = 0.0;
      size_t count = 0;
      for (size_t k = i + 1; k-- > i + 1 - window;) {
        if (std::isnan(values[k])) continue;
        sum += values[k];
        ++count;
      }
      REQUIRE(points.bits[i] ==
              std::bit_cast<uint64_t>(count == 0 ? 0.0 : sum / static_cast<double>(count)));
    }
  }
}

TEST_CASE("a moving average over a long window reports its additions") {
  const std::vector<double> tenths(20'000, 0.1), ones(20'000, 1.0);
  for (const char* window : {"10000", "'10000s'"}) {
    CAPTURE(std::string(window));
    FakeWatch watch;
    PointColumns points = EachSecond(tenths);
    REQUIRE(ApplyMovingAverage(window, {0, 1'000'000'000}, &points, &watch).ok());
    CHECK(watch.steps > 10'000'000);
    FakeWatch hasty;
    hasty.steps_max = 1'000'000;
    points = EachSecond(tenths);
    CHECK(ApplyMovingAverage(window, {0, 1'000'000'000}, &points, &hasty).code() ==
          StatusCode::kDeadlineExceeded);
    // Exact sums are carried from window to window.
    points = EachSecond(ones);
    REQUIRE(ApplyMovingAverage(window, {0, 1'000'000'000}, &points, &hasty).code() ==
            StatusCode::kDeadlineExceeded);
    FakeWatch patient;
    patient.steps_max = 100'000;
    points = EachSecond(ones);
    CHECK(ApplyMovingAverage(window, {0, 1'000'000'000}, &points, &patient).ok());
  }
}

TEST_CASE("an alias is charged before it grows by the names that it inserts") {
  GexpSeries series;
  const std::string longer(10'000, 'v');
  series.group.tags = {{"a", "@b@b@b@b@b@b@b@b@b@b"}, {"b", longer}};
  std::string alias;
  for (int i = 0; i < 1000; ++i) alias += "@a";
  FakeWatch poor;
  poor.bytes_max = 1'000'000;
  CHECK(ApplyAlias(alias, &series, &poor).code() == StatusCode::kLimitExceeded);
  CHECK(ApplyAlias("@a", &series, &poor).ok());
  CHECK(series.group.metric.size() == 100'000);
}

}  // namespace
}  // namespace hg::query
