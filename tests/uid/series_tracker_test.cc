#include "uid/series_tracker.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"
#include "uid/metadata.h"

namespace hg::uid {
namespace {

const Bytes kTrackedSeries("\0\0\1\0\0\1\0\0\1", 9);

struct TrackerFixture {
  explicit TrackerFixture(bool tracking, bool realtime_ts, bool incrementing)
      : tracker(store, clock, {"tsdb-meta", tracking, realtime_ts, incrementing}) {
    REQUIRE(store.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
    REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
  }

  /// Returns "qualifier=value …" of the series, with counters as numbers.
  std::string Cells() {
    const Result<Row> row = store.Get("tsdb-meta", kTrackedSeries);
    REQUIRE(row.ok());
    std::string text;
    for (const Cell& cell : row->cells) {
      if (!text.empty()) text += " ";
      text +=
          cell.qualifier + "=" +
          (cell.qualifier == "ts_ctr" ? std::to_string(ReadBig64(cell.value.data())) : cell.value);
    }
    return text;
  }

  ManualClock clock{1700000000123};
  ModelStore store{clock};
  SeriesTracker tracker;
};

const std::string kObject =
    R"(ts_meta={"tsuid":"000001000001000001","displayName":"","description":"","notes":"","created":1700000000,)"
    R"("custom":null,"units":"","dataType":"","retention":0,"max":"NaN","min":"NaN"})";

TEST_CASE("three options of tracking determine which metadata cells the points of a series write") {
  struct {
    bool tracking, realtime_ts, incrementing;
    std::string once, twice;
  } cases[] = {
      {false, false, false, "", ""},
      {false, true, true, "", ""},
      {true, false, false, "ts_ctr=1", "ts_ctr=1"},
      {true, false, true, "ts_ctr=1", "ts_ctr=1"},
      {true, true, false, kObject, kObject},
      {true, true, true, "ts_ctr=1 " + kObject, "ts_ctr=2 " + kObject},
  };
  for (const auto& c : cases) {
    CAPTURE(c.tracking);
    CAPTURE(c.realtime_ts);
    CAPTURE(c.incrementing);
    TrackerFixture f(c.tracking, c.realtime_ts, c.incrementing);
    CHECK(f.tracker.enabled() == c.tracking);
    REQUIRE(f.tracker.Note(kTrackedSeries, RequestContext::Unlimited()).ok());
    CHECK(f.Cells() == c.once);
    f.clock.AdvanceMs(5000);
    REQUIRE(f.tracker.Note(kTrackedSeries, RequestContext::Unlimited()).ok());
    CHECK(f.Cells() == c.twice);
  }
}

TEST_CASE("the tracker does not overwrite a TSMeta that a user has created") {
  TrackerFixture f(true, true, false);
  Names names(f.store, {});
  for (UidKind kind : kUidKinds) REQUIRE(names.FindOrAssign(kind, "x").ok());
  Metadata metadata(f.store, names, {});
  TsMeta mine;
  mine.tsuid = kTrackedSeries;
  mine.notes = "mine";
  REQUIRE(metadata.CreateSeries(mine, RequestContext::Unlimited()).ok());
  REQUIRE(f.tracker.Note(kTrackedSeries, RequestContext::Unlimited()).ok());
  CHECK(metadata.FindSeries(kTrackedSeries, RequestContext::Unlimited())->notes == "mine");
}

TEST_CASE("each assigned id is reported once, after both mappings are stored") {
  TrackerFixture f(false, false, false);
  std::string told;
  NamesOptions options;
  options.assigned = [&](UidKind kind, const Bytes& id, Store& store) {
    told += std::string(UidKindName(kind)) + ToHexUpper(id) + ";";
    Names other(f.store, {});
    CHECK(other.NameOf(kind, id).ok());
    CHECK(other.Find(kind, *other.NameOf(kind, id)).ok());
    CHECK(StoreFreshUidMeta(store, "tsdb-uid", kind, id, 1700000000).ok());
  };
  Names names(f.store, options);
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "host").ok());
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "host").ok());
  REQUIRE(names.FindOrAssign(UidKind::kTagv, "host").ok());
  CHECK(told == "tagk000001;tagv000001;");
  const Result<Row> row = f.store.Get("tsdb-uid", Bytes("\0\0\1", 3), "name", {"tagk_meta"});
  REQUIRE(row->cells.size() == 1);
  CHECK(
      row->cells[0].value ==
      R"({"type":"TAGK","displayName":"","description":"","notes":"","created":1700000000,"custom":null})");
}

}  // namespace
}  // namespace hg::uid
