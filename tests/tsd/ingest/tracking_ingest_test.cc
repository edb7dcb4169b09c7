#include "tsd/ingest/tracking_ingest.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/http/edge_fixture.h"

namespace hg::tsd {
namespace {

TEST_CASE("each stored point is told to the tracker, a refused one is not") {
  http::EdgeFixture edge;
  uid::SeriesTracker tracker(edge.store, SystemClock(), {"meta-of-test", true, true, true});
  REQUIRE(edge.store.CreateTable({"meta-of-test", {{"name"}}, false}).ok());
  TrackingIngest tracking(edge.ingest, edge.names, tracker);

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
  tracking.AppendNamed(points, &results);
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

TEST_CASE("no spelling is ever known, and a failing tracker does not fail points") {
  http::EdgeFixture edge;
  uid::SeriesTracker tracker(edge.store, SystemClock(), {"no-such-table", true, false, false});
  TrackingIngest tracking(edge.ingest, edge.names, tracker);
  const TagText tag{"host", "a"};
  NamedPoint point;
  point.metric = "m";
  point.tags = {&tag, 1};
  point.time.raw = 1700000000;
  point.value = PointValue::Int(1);
  point.spelling = {Dialect::kJson, "m", "{\"host\":\"a\"}"};
  std::vector<Status> results;
  tracking.AppendNamed({&point, 1}, &results);
  CHECK(results[0].ok());
  CHECK(tracking.failures() == 1);

  const SpelledPoint spelled{point.spelling, point.time, point.value};
  CHECK(edge.ingest.AppendSpelled({&spelled, 1})->known);
  CHECK_FALSE(tracking.AppendSpelled({&spelled, 1})->known);
}

}  // namespace
}  // namespace hg::tsd
