#include "query/promql/stored_series.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "query/promql/parser.h"
#include "storage/model/instant.h"
#include "tests/query/engine_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

class TextSink : public SampleSink {
 public:
  Status AddSeries(Labels labels) override {
    lines.push_back(labels.Text());
    return {};
  }
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override {
    for (size_t i = 0; i < values.size(); ++i)
      lines[series] += " " + std::to_string(values[i]) + "@" + std::to_string(times_ms[i]);
    return {};
  }
  std::vector<std::string> lines;
};

/// Lists series from an index, like the embedded engine, if `from_index` is true. Checks the ranges
/// of hours.
class IndexedPoints : public points::PointsOverCells {
 public:
  IndexedPoints(Store* store, const bool& from_index)
      : PointsOverCells(store, {}), from_index_(from_index) {}
  [[nodiscard]] bool ListsFromIndex() const override { return from_index_; }
  Status ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher, const RowRange& rows,
                          RequestContext* watch,
                          const std::function<bool(ByteView tsuid)>& visit) override {
    CHECK(rows.end <= RowRange().end);
    return PointsOverCells::ListSeriesWithin(metric, matcher, rows, watch, visit);
  }
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& reconcile) override {
    CHECK(spec.rows.end <= RowRange().end);
    return PointsOverCells::Scan(spec, reconcile);
  }

 private:
  const bool& from_index_;
};

class SeriesFixture : public EngineFixture {
 public:
  std::vector<std::string> Read(const std::string& selector, int64_t from_ms = 0,
                                int64_t to_ms = INT64_C(1) << 42) {
    StoredSeries series(indexed, names, options, watch);
    TextSink sink;
    const Result<Matchers> matchers = ParseSelector(selector);
    REQUIRE(matchers.ok());
    const Status status = series.Read(*matchers, from_ms, to_ms, &sink);
    if (!status.ok()) return {std::string(status.message())};
    std::sort(sink.lines.begin(), sink.lines.end());
    return std::move(sink.lines);
  }

  bool from_index = false;
  IndexedPoints indexed{&store, from_index};
  const Options options;
  FakeWatch watch;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a series has its metric as name and its tags as labels") {
  SeriesFixture fixture;
  fixture.Put("sys.cpu.user", {{"host", "web-1"}, {"cpu", "0"}}, 1700000000, int64_t{42});
  const Lines expected = {
      "{__name__=\"sys.cpu.user\", cpu=\"0\", host=\"web-1\"} 42.000000@1700000000000"};
  CHECK(fixture.Read("{__name__=\"sys.cpu.user\"}") == expected);
  CHECK(fixture.Read("{\"sys.cpu.user\"}") == expected);
  CHECK(fixture.Read("{host=\"web-1\"}") == expected);
  CHECK(fixture.Read("{__name__=~\"sys[.].*\",cpu=~\"[0-3]\"}") == expected);
}

TEST_CASE("only samples of the requested times are delivered") {
  SeriesFixture fixture;
  for (const int64_t second : {3599, 3600, 3601, 7300})
    fixture.Put("m", {{"a", "b"}}, second, second);
  CHECK(fixture.Read("m", 3600000, 3601000) ==
        Lines{"{__name__=\"m\", a=\"b\"} 3600.000000@3600000 3601.000000@3601000"});
  CHECK(fixture.Read("m", -5, 3599000) == Lines{"{__name__=\"m\", a=\"b\"} 3599.000000@3599000"});
  CHECK(fixture.Read("m", 10, 5).empty());
}

TEST_CASE("a time range may end at any time, and contains the last sample that can be stored") {
  SeriesFixture fixture;
  fixture.from_index = true;
  fixture.Put("m", {{"a", "b"}}, kInstantMaxMs, int64_t{1});
  const Lines last = {"{__name__=\"m\", a=\"b\"} 1.000000@" + std::to_string(kInstantMaxMs)};
  for (const int64_t end :
       {kInstantMaxMs, kInstantMaxMs + 1, INT64_C(9'999'999'999'999), INT64_MAX})
    CHECK(fixture.Read("m", kInstantMaxMs - 1, end) == last);
  CHECK(fixture.Read("m", kInstantMaxMs + 1, INT64_MAX).empty());
  StoredSeries series(fixture.indexed, fixture.names, fixture.options, fixture.watch);
  size_t listed = 0;
  REQUIRE(series
              .List(*ParseSelector("m"), StoredSeries::Times{kInstantMaxMs, INT64_MAX},
                    [&](ByteView) { return ++listed, Status(); })
              .ok());
  CHECK(listed == 1);
}

TEST_CASE("series are selected before they are read if the store has an index") {
  SeriesFixture fixture;
  fixture.Put("m", {{"host", "a"}, {"dc", "x"}}, 100, int64_t{1});
  fixture.Put("m", {{"host", "b"}}, 100, int64_t{2});
  fixture.Put("n", {{"host", "a"}}, 100, int64_t{3});
  const std::string first = "{__name__=\"m\", dc=\"x\", host=\"a\"} 1.000000@100000";
  const std::string second = "{__name__=\"m\", host=\"b\"} 2.000000@100000";
  const std::string third = "{__name__=\"n\", host=\"a\"} 3.000000@100000";
  const std::pair<const char*, Lines> cases[] = {
      {"m", {first, second}},
      {"m{host=\"a\"}", {first}},
      {"m{host!=\"a\"}", {second}},
      {"m{dc=~\"x?\"}", {first, second}},
      {"m{dc=\"\"}", {second}},
      {"m{host=~\"a|c\"}", {first}},
      {"m{host=~\"(b|a)\"}", {first, second}},
      {"m{host=~\"c|d\"}", {}},
      {"m{host!~\"a|c\"}", {second}},
      {"m{dc=~\"x|\"}", {first, second}},
      {"m{dc=~\"y|\"}", {second}},
      {"m{host=~\"a|b\",host!=\"b\"}", {first}},
      {"{__name__=~\"m|n|o\",host=\"a\"}", {first, third}},
      {"{__name__=~\"m|n\",__name__!~\"m|o\"}", {third}},
      {"{host=~\"a.*\"}", {first, third}},
      {"m{host=~\"c.*\"}", {}},
      {"gone", {}},
  };
  for (const bool indexed : {false, true}) {
    fixture.from_index = indexed;
    for (const auto& [selector, lines] : cases) {
      CAPTURE(selector);
      CAPTURE(indexed);
      CHECK(fixture.Read(selector) == lines);
    }
  }
}

TEST_CASE("series with the default tag only have no labels except the name") {
  SeriesFixture fixture;
  fixture.Put("job_x003A_up", {{"instance", "localhost_x003A_9090"}}, 100, int64_t{1});
  fixture.Put("up", {{"source", "unknown"}}, 100, int64_t{2});
  const Lines rule = {"{__name__=\"job:up\", instance=\"localhost:9090\"} 1.000000@100000"};
  CHECK(fixture.Read("job:up{instance=\"localhost:9090\"}") == rule);
  CHECK(fixture.Read("{__name__=~\"job:.*\",instance=~\".*:9090\"}") == rule);
  CHECK(fixture.Read("up") == Lines{"{__name__=\"up\"} 2.000000@100000"});
}

TEST_CASE("all series with samples are listed, whatever the times of their samples") {
  SeriesFixture fixture;
  fixture.Put("m", {{"host", "a"}}, 100, int64_t{1});
  fixture.Put("m", {{"host", "b"}}, 2000000000, int64_t{1});
  StoredSeries series(fixture.points, fixture.names, fixture.options, fixture.watch);
  std::vector<std::string> found;
  const Result<Matchers> matchers = ParseSelector("m{host=~\".+\"}");
  REQUIRE(matchers.ok());
  REQUIRE(series
              .List(*matchers, {},
                    [&](ByteView tsuid) {
                      found.push_back(series.names().LabelsOf(tsuid)->Text());
                      return Status();
                    })
              .ok());
  CHECK(found == Lines{"{__name__=\"m\", host=\"a\"}", "{__name__=\"m\", host=\"b\"}"});
  CHECK(series.List(*matchers, {}, [](ByteView) { return Status::Busy("enough"); }).message() ==
        "enough");
}

TEST_CASE("work on rows is reported, and its errors end the reading") {
  SeriesFixture fixture;
  fixture.Put("m", {{"a", "b"}}, 100, int64_t{1});
  (void)fixture.Read("m");
  CHECK(fixture.watch.steps > 0);
  fixture.watch.steps_max = 0;
  CHECK(fixture.Read("m") == Lines{"too many steps"});
}

}  // namespace hg::query::promql
