#include "tsd/ingest/tracking_ingest.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/http/edge_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::tsd {
namespace {

TEST_CASE("each stored point is reported to the tracker, and refused ones are not") {
  http::EdgeFixture edge;
  uid::SeriesTracker tracker(edge.store, SystemClock(), {"meta-of-test", true, true, true});
  REQUIRE(edge.store.CreateTable({"meta-of-test", {{"name"}}, false}).ok());
  TrackingIngest tracking(edge.ingest, edge.points, edge.names, tracker);

  const TagText tag{"host", "a"};
  NamedPoint good;
  good.metric = "room.temp";
  good.tags = {&tag, 1};
  good.time.raw = 1700000000;
  good.value = PointValue::Int(1);
  NamedPoint bad = good;
  bad.metric = "room temp";
  const NamedPoint points[] = {good, bad, good};
  std::vector<Status> results;
  tracking.AppendNamed(points, WriteContext::Unlimited(), &results);
  REQUIRE(results.size() == 3);
  CHECK(results[0].ok());
  CHECK_FALSE(results[1].ok());

  const Result<Row> row =
      edge.store.Get("meta-of-test", Bytes("\0\0\1\0\0\1\0\0\1", 9), "name", {"ts_ctr"});
  REQUIRE(row.ok());
  REQUIRE(row->cells.size() == 1);
  CHECK(ReadBig64(row->cells[0].value.data()) == 2);
  CHECK(tracking.failures() == 0);
}

TEST_CASE("if a request ends early, exactly its stored points are tracked") {
  http::EdgeFixture edge;
  uid::SeriesTracker tracker(edge.store, SystemClock(), {"meta-of-test", true, true, true});
  REQUIRE(edge.store.CreateTable({"meta-of-test", {{"name"}}, false}).ok());
  TrackingIngest tracking(edge.ingest, edge.points, edge.names, tracker);
  const TagText tag{"host", "a"};
  NamedPoint point;
  point.metric = "m";
  point.tags = {&tag, 1};
  point.value = PointValue::Int(1);
  std::vector<NamedPoint> points(1000, point);
  for (size_t i = 0; i < points.size(); ++i)
    points[i].time.raw = 1700000000 + static_cast<int64_t>(i);
  FakeWatch request;
  request.checks_max = 10;
  std::vector<Status> results;
  WriteContext context(request);
  tracking.AppendNamed(points, context, &results);
  REQUIRE(results.size() == points.size());
  uint64_t stored = 0;
  for (const Status& result : results) stored += result.ok() ? 1 : 0;
  CHECK(stored == 160);
  const Result<int64_t> count =
      edge.store.Increment("meta-of-test", Bytes("\0\0\1\0\0\1\0\0\1", 9), "name", "ts_ctr", 0);
  REQUIRE(count.ok());
  CHECK(*count == static_cast<int64_t>(stored));
}

TEST_CASE(
    "points are acknowledged only after the writes of the tracker, also if its last write "
    "was earlier") {
  http::EdgeFixture edge;
  uid::SeriesTracker tracker(edge.store, SystemClock(), {"meta-of-test", true, true, false});
  REQUIRE(edge.store.CreateTable({"meta-of-test", {{"name"}}, false}).ok());
  TrackingIngest tracking(edge.ingest, edge.points, edge.names, tracker);
  const TagText tag{"host", "a"};
  NamedPoint point;
  point.metric = "m";
  point.tags = {&tag, 1};
  point.time.raw = 1700000000;
  point.value = PointValue::Int(1);
  const NamedPoint points[] = {point, point};
  std::vector<std::string> appends;
  edge.points.before_append = [&] {
    const Result<Row> row =
        edge.store.Get("meta-of-test", Bytes("\0\0\1\0\0\1\0\0\1", 9), "name", {"ts_meta"});
    appends.emplace_back(row.ok() && !row->empty() ? "tracked" : "not tracked");
  };
  std::vector<Status> results;
  tracking.AppendNamed(points, WriteContext::Unlimited(), &results);
  CHECK(appends.front() == "not tracked");
  CHECK(appends.back() == "tracked");

  size_t calls = 0;
  edge.points.before_append = [&] {
    if (++calls == 2) edge.points.RefuseAppends(1);
  };
  tracking.AppendNamed({&point, 1}, WriteContext::Unlimited(), &results);
  CHECK(results[0].code() == StatusCode::kBusy);
}

TEST_CASE(
    "with tracking no raw series key is ever known, and a failing tracker does not fail points") {
  http::EdgeFixture edge;
  uid::SeriesTracker tracker(edge.store, SystemClock(), {"no-such-table", true, false, false});
  TrackingIngest tracking(edge.ingest, edge.points, edge.names, tracker);
  const TagText tag{"host", "a"};
  NamedPoint point;
  point.metric = "m";
  point.tags = {&tag, 1};
  point.time.raw = 1700000000;
  point.value = PointValue::Int(1);
  point.raw_key = {Dialect::kJson, "m", "{\"host\":\"a\"}"};
  std::vector<Status> results;
  tracking.AppendNamed({&point, 1}, WriteContext::Unlimited(), &results);
  CHECK(results[0].ok());
  CHECK(tracking.failures() == 1);

  const KeyedPoint keyed{point.raw_key, point.time, point.value};
  CHECK(edge.ingest.AppendKeyed({&keyed, 1}, WriteContext::Unlimited())->known);
  CHECK_FALSE(tracking.AppendKeyed({&keyed, 1}, WriteContext::Unlimited())->known);
}

}  // namespace
}  // namespace hg::tsd
