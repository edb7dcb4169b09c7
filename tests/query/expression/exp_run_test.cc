#include "query/expression/exp_run.h"

#include <doctest/doctest.h>

#include <limits>

#include "query/expression/limits.h"
#include "tests/query/expression/exp_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

constexpr NumericFill kNanFill{FillPolicy::kNan, std::numeric_limits<double>::quiet_NaN()};

// The data of opentsdb-queries.md §11.2.
ExpCase WorkedExample(std::optional<NumericFill> fill = {}) {
  ExpCase c;
  c.metrics.push_back({"a",
                       {HostGroup(0, "m.a", "h1", OfInts({{10, 1}, {20, 2}, {30, 3}})),
                        HostGroup(0, "m.a", "h2", OfInts({{10, 10}, {20, 20}, {30, 30}}))},
                       fill});
  c.metrics.push_back({"b",
                       {HostGroup(1, "m.b", "h1", OfInts({{10, 5}, {30, 7}})),
                        HostGroup(1, "m.b", "h3", OfInts({{10, 100}, {20, 200}, {30, 300}}))},
                       fill});
  return c;
}

TEST_CASE("a joined series has the tags of its first variable and the metrics of all variables") {
  ExpCase c = WorkedExample();
  c.expressions = {{"e", "a + b"}};
  Result<std::vector<ExpResult>> results = c.Run();
  REQUIRE(results.ok());
  const std::vector<SeriesIdentity>& series = (*results)[0].table->series;
  REQUIRE(series.size() == 3);
  CHECK(series[0].metrics.size() == 2);
  REQUIRE(series[1].tags.size() == 1);
  CHECK(series[1].tags[0].value.name == "h2");
  CHECK(series[2].tags.empty());
  CHECK(series[2].metrics[0].name == "m.b");
}

TEST_CASE("the first variable is the first one in the order of a Java map, not in the text") {
  ExpCase c = WorkedExample();
  // In a Java hash map with four slots, d (slot 0) comes before a (slot 1).
  c.metrics[1].id = "d";
  c.expressions = {{"e", "a + d"}};
  Result<std::vector<ExpResult>> results = c.Run();
  REQUIRE(results.ok());
  CHECK((*results)[0].table->series[1].tags.empty());
  CHECK((*results)[0].table->series[2].tags[0].value.name == "h3");
}

TEST_CASE("variables in one slot of Java's map have the order of the request's metrics") {
  ExpCase c = WorkedExample();
  c.metrics[1].id = "q";  // in the same slot as a
  c.expressions = {{"e", "q + a"}};
  CHECK_FALSE((*c.Run())[0].table->series[1].tags.empty());
  std::swap(c.metrics[0].id, c.metrics[1].id);
  CHECK_FALSE((*c.Run())[0].table->series[1].tags.empty());
}

TEST_CASE("a repeated metric has the position of its first sub-query") {
  ExpCase c = WorkedExample();
  c.metrics[0].id = "m1";
  c.metrics[1].id = "q";  // in the same slot as a
  c.metrics.push_back({"a", {}, {}});
  c.metrics[0].name = c.metrics[2].name = "m.a";
  c.expressions = {{"e", "q + a"}};
  const auto results = c.Run();
  REQUIRE(results.ok());
  CHECK_FALSE((*results)[0].table->series[1].tags.empty());
  CHECK((*results)[0].table->series[2].tags.empty());
}

TEST_CASE("a failed metric fails only outputs that use it") {
  ExpCase c = WorkedExample();
  c.metrics[1].failure = Status::InvalidArgument("Got Infinity");
  c.expressions = {{"e", "a + b"}, {"f", "a"}};
  CHECK(Rows(c.Run()).find("Got Infinity") != std::string::npos);
  c.outputs = {"f"};
  CHECK(c.Run().ok());
  c.outputs = {"a"};
  CHECK(c.Run().ok());
  c.outputs = {"b"};
  CHECK_FALSE(c.Run().ok());
}

TEST_CASE("an expression has no query tags") {
  ExpCase c = WorkedExample();
  c.filter_keys = {"\x01"};
  c.expressions = {{"e", "a"}, {"f", "a + e", false, true}, {"g", "a + b", false, true}};
  const auto results = c.Run();
  REQUIRE(results.ok());
  // All series of e share one key. The two series of a have keys of their own.
  CHECK((*results)[1].table->series.size() == 3);
  CHECK((*results)[2].table->series.size() == 3);  // h1, h2, h3
}

TEST_CASE("instants are those of all series, and only those in [start, end] are shown") {
  ExpCase c;
  c.metrics.push_back({"a", {HostGroup(0, "m.a", "h1", OfInts({{10, 1}, {20, 2}, {30, 3}}))}, {}});
  c.metrics.push_back({"o", {HostGroup(1, "m.o", "h1", OfInts({{12, 1}, {22, 2}}))}, {}});
  c.expressions = {{"e", "a + o"}};
  CHECK(Rows(c.Run()) == "10:1.0 12:1.0 20:2.0 22:2.0 30:3.0");
  c.start_s = 12;
  c.end_s = 20;
  CHECK(Rows(c.Run()) == "12:1.0 20:2.0");
}

TEST_CASE("an intersection ignores the points of series that it leaves out") {
  ExpCase c;
  c.metrics.push_back({"a",
                       {HostGroup(0, "m.a", "h1", OfInts({{10, 1}, {20, 2}})),
                        HostGroup(0, "m.a", "h2", OfInts({{15, 9}}))},
                       {}});
  c.metrics.push_back({"b", {HostGroup(1, "m.b", "h1", OfInts({{10, 5}, {20, 6}}))}, {}});
  c.expressions = {{"e", "a + b", true}};
  CHECK(Rows(c.Run()) == "10:6.0 20:8.0");
}

TEST_CASE("metrics are shown completely, with zeros in their gaps") {
  ExpCase c = WorkedExample(kNanFill);
  c.start_s = 20;
  Result<std::vector<ExpResult>> results = c.Run();
  CHECK(Rows(results, 0) == "10:1.0,10.0 20:2.0,20.0 30:3.0,30.0");
  CHECK(Rows(results, 1) == "10:5.0,100.0 20:0.0,200.0 30:7.0,300.0");
}

TEST_CASE("an expression may use other expressions, in any order") {
  ExpCase c = WorkedExample();
  c.expressions = {{"g", "e * a", true}, {"e", "a + b", true}, {"k", "g - e", true}};
  Result<std::vector<ExpResult>> results = c.Run();
  CHECK(Rows(results, 0) == "10:6.0 20:4.0 30:30.0");
  CHECK(Rows(results, 1) == "10:6.0 20:2.0 30:10.0");
  CHECK(Rows(results, 2) == "10:0.0 20:2.0 30:20.0");
  c.outputs = {"k"};
  CHECK(Rows(c.Run()) == "10:0.0 20:2.0 30:20.0");
}

TEST_CASE(
    "an inner series with NaN does not fail the request if another series with its key is used") {
  // The sum of a and b has two series without tags. One has the group of a, which several hosts
  // share. The other one has the group of b, whose key a lacks. The second one represents both.
  ExpCase c = WorkedExample(kNanFill);
  Group several = HostGroup(0, "m.a", "h1", OfInts({{10, 1}}));
  several.aggregate_tags = {"host"};
  several.tags.clear();
  several.tsuids.push_back(HostGroup(0, "m.a", "h2", {}).tsuids[0]);
  c.metrics[0].groups = {several};
  c.metrics[1].groups = {HostGroup(1, "m.b", "h1", OfInts({{20, 5}}))};
  c.metrics[1].fill.reset();
  c.expressions = {{"e", "a + b * 0"}, {"g", "e * 1"}};
  CHECK(Rows(c.Run(), 0) == "10:1.0,0.0 20:NaN,0.0");
  c.outputs = {"g"};
  CHECK(Rows(c.Run()) == "10:0.0 20:0.0");
}

TEST_CASE("an inner expression that ends early or is NaN fails the request") {
  ExpCase c = WorkedExample();
  c.metrics.push_back({"o", {HostGroup(0, "m.o", "h1", OfInts({{12, 1}, {22, 2}, {32, 3}}))}, {}});
  c.expressions = {{"e", "a + 1"}, {"g", "e + o"}};
  CHECK(Rows(c.Run()).find("error: No more data") == 0);
  c = WorkedExample(kNanFill);
  c.expressions = {{"e", "a + b"}, {"g", "e * 2"}};
  CHECK(Rows(c.Run()).find("NaN") != std::string::npos);
  c.outputs = {"e"};
  CHECK(Rows(c.Run()) == "10:6.0,10.0,100.0 20:NaN,20.0,200.0 30:10.0,30.0,300.0");
}

TEST_CASE("expressions that use themselves are refused") {
  ExpCase c = WorkedExample();
  c.expressions = {{"e", "e + a"}};
  CHECK(Rows(c.Run()).find("uses itself") != std::string::npos);
  c.expressions = {{"e", "g + a"}, {"g", "k + a"}, {"k", "e + a"}};
  CHECK(Rows(c.Run()).find("uses itself") != std::string::npos);
}

TEST_CASE("the cost of chained expressions grows with their number only") {
  ExpCase c = WorkedExample();
  c.expressions = {{"e0", "a", true}, {"e1", "b - b + a", true}};
  for (int i = 2; i < 200; ++i) {
    std::string n = std::to_string(i - 1), m = std::to_string(i - 2);
    c.expressions.push_back({"e" + std::to_string(i), "(e" + n + " + e" + m + ") / 2", true});
  }
  c.outputs = {"e199"};
  CHECK(Rows(c.Run()) == "10:1.0 20:2.0 30:3.0");
}

TEST_CASE("ids in upper case have no results") {
  ExpCase c = WorkedExample();
  c.metrics[0].id = "A";
  c.expressions = {{"e", "A + b"}};
  CHECK(Rows(c.Run()).find("error: Missing results for variable A") == 0);
}

TEST_CASE("a group without points fails the outputs that use it, unless no group has points") {
  ExpCase c = WorkedExample();
  c.metrics[0].groups[1].points = PointColumns();
  c.expressions = {{"e", "a + b"}};
  CHECK(Rows(c.Run()).find("no points left") != std::string::npos);
  c.expressions.clear();
  CHECK(Rows(c.Run()).find("no points left") != std::string::npos);
  c.metrics[0].groups[0].points = PointColumns();
  CHECK(Rows(c.Run(), 0) == "");
}

TEST_CASE("a metric without groups gives no rows, and an intersection with other groups fails") {
  ExpCase c;
  c.metrics.push_back({"x", {}, {}});
  c.expressions = {{"e", "x"}};
  CHECK(Rows(c.Run()) == "");
  c.expressions = {{"e", "x", true}};
  CHECK(Rows(c.Run()) == "");
  c = WorkedExample();
  c.metrics.push_back({"x", {}, {}});
  c.expressions = {{"e", "a + x", true}};
  CHECK(Rows(c.Run()).find("No intersections found") != std::string::npos);
}

TEST_CASE("the number of values is limited") {
  ExpCase c;
  c.metrics.push_back({"a", {}, {}});
  // Series without common times: each adds its times to the rows of all others.
  for (int s = 0; s < 200; ++s) {
    PointColumns points;
    for (int64_t i = 0; i < 500; ++i) {
      points.time_ms.push_back(i * 1000 + s);
      points.bits.push_back(1);
    }
    Group group = HostGroup(0, "m.a", "h1", std::move(points));
    group.tsuids.Edit()[0].back() = static_cast<char>(s);
    c.metrics[0].groups.push_back(std::move(group));
  }
  Result<std::vector<ExpResult>> results = c.Run();
  CHECK(results.status().code() == StatusCode::kLimitExceeded);
  c.metrics[0].groups.resize(20);
  CHECK(c.Run().ok());
}

/// Returns 20,000 points with the value 1, one for each millisecond.
static PointColumns ManyPoints() {
  PointColumns points;
  for (int64_t i = 0; i < 20'000; ++i) {
    points.time_ms.push_back(i);
    points.bits.push_back(1);
  }
  return points;
}

TEST_CASE("an evaluation ends with its request, and its results are charged") {
  ExpCase c;
  c.metrics = {{"a", {HostGroup(0, "m.a", "h1", ManyPoints())}, {}}};
  c.expressions = {{"e", "a + 1"}};
  FakeWatch watch;
  c.watch = &watch;
  CHECK(c.Run().ok());
  CHECK(watch.steps >= 20'000);
  CHECK(watch.bytes >= 20'000 * 16);
  watch.steps_max = watch.steps + 10'000;
  CHECK(c.Run().status().code() == StatusCode::kDeadlineExceeded);
  watch.steps_max = UINT64_MAX;
  watch.bytes_max = watch.bytes + 100'000;
  CHECK(c.Run().status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("a metric that has a group without series is not an output") {
  ExpCase c;
  c.metrics = {{"a", {Group()}, {}}};
  CHECK(c.Run().status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("equal metrics share their series, and all cursors are charged") {
  constexpr int kMetrics = 50, kSeries = 300;
  ExpCase c;
  std::string sum;
  for (int m = 0; m < kMetrics; ++m) {
    const std::string id = "a" + std::to_string(m);
    c.metrics.push_back({id, {}, {}, {}, "one"});
    sum += (m > 0 ? "+" : "") + id;
  }
  for (int s = 0; s < kSeries; ++s) {
    Group group = HostGroup(0, "m.a", "h1", OfInts({{10, 1}}));
    group.tsuids = {Bytes("a\x01") + static_cast<char>(s % 256)};
    group.tags = {{"host", std::string(2000, 'n')}};
    c.metrics[0].groups.push_back(std::move(group));
  }
  c.expressions = {{"e", sum}};
  FakeWatch watch;
  c.watch = &watch;
  const Result<std::vector<ExpResult>> results = c.Run();
  REQUIRE(results.ok());
  CHECK(results->at(0).table->values.at(0) == kMetrics);
  // One copy of the names, and one member of each joined series per metric.
  CHECK(watch.bytes_most > kSeries * 2000);
  CHECK(watch.bytes_most < 4 * kSeries * 2000 + kMetrics * kSeries * 64);
  CHECK(watch.steps > kMetrics * 256);
  watch.bytes_max = watch.bytes + kSeries * 1000;
  CHECK(c.Run().status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("repeated outputs of a metric share its rows") {
  ExpCase c;
  c.metrics = {{"a", {HostGroup(0, "m.a", "h1", OfInts({{10, 1}, {20, 2}}))}, {}}};
  c.outputs = {"a", "a"};
  const Result<std::vector<ExpResult>> results = c.Run();
  REQUIRE(results.ok());
  REQUIRE(results->size() == 2);
  CHECK(results->at(0).table == results->at(1).table);
  CHECK(Rows(results, 1) == "10:1.0 20:2.0");
}

TEST_CASE("the values of repeated outputs count towards the limit on values") {
  ExpCase c;
  c.metrics = {{"a", {HostGroup(0, "m.a", "h1", ManyPoints())}, {}}};
  c.outputs.assign(500, "a");
  CHECK(c.Run().ok());
  c.outputs.assign(1000, "a");
  CHECK(c.Run().status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("the series of repeated outputs count towards the limit on values") {
  constexpr int kSeries = 4096;
  ExpCase c;
  c.metrics.push_back({"a", {}, {}});
  for (int s = 0; s < kSeries; ++s) {
    Group group = HostGroup(0, "m.a", "h1", OfInts({{10, 1}}));
    group.tags = {{"host", "h"}, {"zone", "z"}};
    Bytes tsuid = "a\x01";
    tsuid += static_cast<char>(s % 256);
    tsuid += '\x02';
    tsuid += static_cast<char>(s / 256);
    group.tsuids = {tsuid};
    c.metrics[0].groups.push_back(std::move(group));
  }
  c.expressions = {{"e", "a + 1"}};
  // Repeated outputs of an expression have no rows. Each describes all series, which counts as four
  // values for each series and one for each 16 bytes of names.
  c.outputs.assign(500, "e");
  const Result<std::vector<ExpResult>> results = c.Run();
  REQUIRE(results.ok());
  CHECK(results->back().table->series.size() == kSeries);
  CHECK(Rows(results, 1) == "");
  c.outputs.assign(1000, "e");
  CHECK(c.Run().status().code() == StatusCode::kLimitExceeded);
  // Metrics with equal sub-queries share their series.
  c.expressions.clear();
  c.outputs.clear();
  c.metrics[0].name = "one";
  while (c.metrics.size() < 1000)
    c.metrics.push_back({"a" + std::to_string(c.metrics.size()), {}, {}, {}, "one"});
  CHECK(c.Run().status().code() == StatusCode::kLimitExceeded);
  c.metrics.resize(400);
  CHECK(c.Run().ok());
}

TEST_CASE("the work on texts in expressions is counted") {
  const Program program =
      *CompileExpression("'" + std::string(10'000, 'x') + "' == 'y' ? 1.0d : a + 0.5d");
  Evaluator evaluator(program);
  double out = 0;
  REQUIRE(evaluator.Run({1.0}, &out).ok());
  CHECK(out == 1.5);
  CHECK(evaluator.steps() > 1000);
  CHECK(evaluator.steps() < 10'000);
}

}  // namespace
}  // namespace hg::query
