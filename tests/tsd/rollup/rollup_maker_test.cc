#include "tsd/rollup/rollup_maker.h"

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <new>
#include <random>

#include "storage/model/special_double.h"
#include "tests/support/fake_watch.h"
#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

TEST_CASE_FIXTURE(
    Opened, "rollups of an interval are computed once it is over, and are read from then on") {
  Round();
  for (int minute = 0; minute < 150; ++minute)
    REQUIRE(world.PutInt("a", kMidnight + minute * 60, minute).ok());
  AdvanceTo(kMidnight + kHourS + 599);
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 3 * kHourS) == "raw");
  AdvanceTo(kMidnight + kHourS + 600);
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 3 * kHourS) == "1h");
  CHECK(Compare("10m-avg", kMidnight, kMidnight + 3 * kHourS) == "10m");
  CHECK(Compare("1d-max", kMidnight, kMidnight + 3 * kHourS) == "1h");
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(Compare("1d-max", kMidnight, kMidnight + 3 * kHourS) == "1d");
  CHECK(world.maker->Stats().lag_s == 0);
  AdvanceTo(kMidnight + 3 * kDayS);
  CHECK(world.maker->Stats().lag_s == 2 * kDayS - kHourS);
}

TEST_CASE_FIXTURE(Opened, "queries that rollups cannot answer read raw points") {
  for (int minute = 0; minute < 150; ++minute)
    REQUIRE(world.PutInt("a", kMidnight + minute * 60, minute).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  const int64_t end = kMidnight + kDayS - 1;
  CHECK(Compare("1h-sum", kMidnight, end) == "1h");
  for (const char* other : {"1h-p95", "1h-first", "1h-dev", "7m-sum", "0all-sum"}) {
    CAPTURE(other);
    CHECK(Compare(other, kMidnight, end) == "raw");
  }
  query::SubQuery query = RollupWorld::Query("1h-sum");
  query.rollup_usage = "ROLLUP_RAW";
  CHECK(world.Compare(query, kMidnight, end) == "raw");
  query.rollup_usage = "ROLLUP_NOFALLBACK";
  CHECK(world.Compare(query, kMidnight, end) == "1h");
  query.value_filter = "> 5";
  CHECK(world.Compare(query, kMidnight, end) == "raw");
}

TEST_CASE_FIXTURE(Opened, "rollup cells have the form that OpenTSDB's reader expects") {
  REQUIRE(world.PutInt("a", kMidnight + 5 * kHourS, 300).ok());
  REQUIRE(world.PutInt("a", kMidnight + 5 * kHourS + 1, -1).ok());
  REQUIRE(world.Put("m", "b", kMidnight + 5 * kHourS, PointValue::Double(0.1)).ok());
  Round();
  AdvanceTo(kMidnight + kDayS);
  Round();
  const auto cells = [&](const std::string& host) {
    const Bytes key = codec::MakeRowKey(world.store->points().layout(), *world.Tsuid("m", host),
                                        static_cast<uint32_t>(kMidnight));
    std::string out;
    const auto row = world.store->cells().Get("tsdb-1h", key);
    REQUIRE(row.ok());
    for (const Cell& cell : row->cells)
      out += ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value) + " ";
    return out;
  };
  CHECK(cells("a") == "000051=012B 010050=02 020050=FF 030051=012C ");
  CHECK(cells("b") ==
        "00005F=3FB999999999999A 010050=01 02005F=3FB999999999999A 03005F=3FB999999999999A ");
}

TEST_CASE_FIXTURE(
    Opened,
    "points from before the first start get rollups, too, even if there are years between them") {
  for (const int64_t days : {4000, 2500, 2499, 40, 2, 1})
    for (int hour = 0; hour < 30; ++hour)
      REQUIRE(world.PutInt("a", kMidnight - days * kDayS + hour * kHourS, days + hour).ok());
  REQUIRE(world.Put("other", "a", kMidnight - kDayS, PointValue::Int(1)).ok());
  Round();
  CHECK(world.state->complete());
  CHECK(Compare("1d-sum", kMidnight - 4001 * kDayS, kMidnight) == "1d");
  CHECK(Compare("1h-avg", kMidnight - 4001 * kDayS, kMidnight) == "1h");
}

TEST_CASE_FIXTURE(Opened, "sums of integers are exact above 2^53, and are doubles above 2^63") {
  constexpr int64_t kLarge = (int64_t{1} << 53) + 1;
  REQUIRE(world.PutInt("a", kMidnight, kLarge).ok());
  REQUIRE(world.PutInt("a", kMidnight + 1, kLarge).ok());
  REQUIRE(world.PutInt("b", kMidnight, INT64_MAX).ok());
  REQUIRE(world.PutInt("b", kMidnight + 1, INT64_MAX).ok());
  Round();
  AdvanceTo(kMidnight + 2 * kHourS);
  Round();
  const auto sum = [&](const std::string& host) {
    const Bytes key = codec::MakeRowKey(world.store->points().layout(), *world.Tsuid("m", host),
                                        static_cast<uint32_t>(kMidnight));
    const auto row = world.store->cells().Get("tsdb-1h", key);
    return ToHexUpper(row->cells[0].qualifier) + "=" + ToHexUpper(row->cells[0].value);
  };
  CHECK(sum("a") == "000007=0040000000000002");
  CHECK(sum("b") == "00000B=5F800000");  // 2^64
}

TEST_CASE_FIXTURE(Opened,
                  "doubles of an hour are added in the same order as in a query of raw points") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(-1, 1e6);
  for (int i = 0; i < 700; ++i)
    REQUIRE(world.Put("m", "a", kMidnight + i * 10, PointValue::Double(any(random))).ok());
  Round();
  AdvanceTo(kMidnight + 3 * kHourS);
  SUBCASE("from memory") {}
  SUBCASE("from files, which have statistics") { REQUIRE(world.store->cells().Flush().ok()); }
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 2 * kHourS) == "1h");
  CHECK(Compare("10m-avg", kMidnight, kMidnight + 2 * kHourS) == "10m");
}

TEST_CASE_FIXTURE(Opened, "rollups skip stale markers and NaN, as queries do") {
  for (int hour = 0; hour < 24; ++hour) {
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
    const uint64_t bits[] = {kStaleMarkerBits, kNormalNanBits};
    REQUIRE(world.Put("m", "a", kMidnight + hour * kHourS + 10, {bits[hour % 2], kFloat64}).ok());
    REQUIRE(world.Put("m", "b", kMidnight + hour * kHourS, {bits[hour % 2], kFloat64}).ok());
  }
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->markers() == 0);
  for (const char* hours : {"1h-min", "1h-sum", "1h-avg", "1h-count"})
    CHECK(Compare(hours, kMidnight, kMidnight + kDayS - 1) == "1h");
  CHECK(Compare("1d-max", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "an hour with the NaN of a float has no rollups, and other hours do") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  REQUIRE(world
              .Put("m", "b", kMidnight + kHourS,
                   PointValue::Float(std::numeric_limits<float>::quiet_NaN()))
              .ok());
  REQUIRE(world.PutInt("b", kMidnight + 2 * kHourS, 2).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->markers() == 1);
  CHECK(Compare("1h-min", kMidnight, kMidnight + kDayS - 1) == "1h");
  CHECK(Compare("1d-min", kMidnight, kMidnight + kDayS - 1) == "1h");
  Round();
  CHECK(world.state->markers() == 1);
  CHECK(world.Delete("b", kMidnight + kHourS, kMidnight + 2 * kHourS).ok());
  Round();
  CHECK(world.state->markers() == 0);
  CHECK(Compare("1d-min", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened,
                  "the result of a query that reads rollups has the annotations of its series") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  REQUIRE(world.Note("a", kMidnight + 3 * kHourS).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(world.Note("a", kMidnight + 7 * kHourS).ok());
  Round();
  CHECK(world.state->markers() == 2);
  query::Request request;
  request.start = std::to_string(kMidnight);
  request.end = std::to_string(kMidnight + kDayS - 1);
  request.queries = {RollupWorld::Query("1h-sum")};
  const auto answer =
      world.rolled->Run(*world.rolled->Validate(request, RequestContext::Unlimited()), {});
  REQUIRE(answer.ok());
  CHECK(answer->queries[0].rollup_table == "1h");
  CHECK(answer->groups[0].annotations.size() == 2);
}

TEST_CASE_FIXTURE(Opened, "calendar intervals are read from rollups whose intervals divide them") {
  for (int hour = 0; hour < 24 * 20; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + 21 * kDayS);
  Round();
  const int64_t end = kMidnight + 20 * kDayS;
  CHECK(Compare("1dc-sum", kMidnight, end) == "1d");
  CHECK(Compare("1wc-sum", kMidnight, end) == "1d");
  CHECK(Compare("1nc-sum", kMidnight, end) == "1d");
  const auto in_zone = [&](const char* zone) {
    const auto ask = [&](query::Engine& engine) {
      query::Request request;
      request.start = std::to_string(kMidnight);
      request.end = std::to_string(end);
      request.timezone = zone;
      request.use_calendar = true;
      request.queries = {RollupWorld::Query("1d-sum")};
      const auto valid = engine.Validate(request, RequestContext::Unlimited());
      REQUIRE(valid.ok());
      const auto answer = engine.Run(*valid, {});
      REQUIRE(answer.ok());
      return std::make_pair(query::Text(answer->groups[0].points), answer->queries[0].rollup_table);
    };
    CHECK(ask(*world.rolled).first == ask(*world.raw).first);
    return ask(*world.rolled).second;
  };
  CHECK(in_zone("Europe/Berlin") == "1h");
  CHECK(in_zone("Asia/Kolkata") == "10m");
}

TEST_CASE_FIXTURE(Opened, "days of a zone whose clocks change within the range use rollups") {
  const int64_t start = kMidnight - 240 * kDayS;  // 20 March 2023; summer time begins on the 26th
  for (int hour = 0; hour < 24 * 12; ++hour)
    REQUIRE(world.PutInt("a", start + hour * kHourS, hour).ok());
  Round();
  for (const auto& [zone, table] :
       {std::pair("Europe/London", "1h"), std::pair("UTC", "1d"), std::pair("Asia/Tokyo", "1h")}) {
    CAPTURE(zone);
    const auto ask = [&, zone = zone](query::Engine& engine) {
      query::Request request;
      request.start = std::to_string(start);
      request.end = std::to_string(start + 12 * kDayS - 1);
      request.timezone = zone;
      request.use_calendar = true;
      request.queries = {RollupWorld::Query("1d-sum")};
      const auto answer = engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {});
      REQUIRE(answer.ok());
      return std::make_pair(query::Text(answer->groups[0].points), answer->queries[0].rollup_table);
    };
    CHECK(ask(*world.rolled).first == ask(*world.raw).first);
    CHECK(ask(*world.rolled).second == table);
  }
}

TEST_CASE_FIXTURE(Opened, "after a long stop rollups of all past intervals are computed") {
  Round();
  for (int hour = 0; hour < 40 * 24; hour += 5)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  AdvanceTo(kMidnight + 40 * kDayS + 5 * kHourS + 600);
  Round();
  CHECK(world.maker->Stats().lag_s <= 5 * kHourS + 600);
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 39 * kDayS) == "1h");
  CHECK(Compare("1d-avg", kMidnight, kMidnight + 40 * kDayS - 1) == "1d");
  CHECK(Compare("1h-sum", kMidnight + 40 * kDayS, kMidnight + 41 * kDayS) == "1h");
}

TEST_CASE("a clock that is set late does not prevent rollups") {
  FaultyFileSystem disk(1);
  ManualClock clock{5'000};  // 1970-01-01
  RollupWorld world(disk, clock);
  REQUIRE(world.Open().ok());
  REQUIRE(world.maker->Round().ok());
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  clock.SetMs((kMidnight + kDayS + 600) * 1000);
  REQUIRE(world.maker->Round().ok());
  const auto query = RollupWorld::Query("1d-sum", true);
  CHECK(world.Compare(query, kMidnight, kMidnight + kDayS - 1) == "1d");
  clock.SetMs((kMidnight - 3 * kDayS) * 1000);  // the clock is set back
  REQUIRE(world.maker->Round().ok());
  REQUIRE(world.PutInt("a", kMidnight + 7, 1000).ok());
  CHECK(world.Compare(query, kMidnight, kMidnight + kDayS - 1) == "1h");
  REQUIRE(world.maker->Round().ok());
  CHECK(world.Compare(query, kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened,
                  "while the points have a TTL, queries read them, because rollups do not expire") {
  for (int hour = 0; hour < 48; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + 2 * kDayS + 600);
  Round();
  const auto compare = [this] { return Compare("1h-sum", kMidnight, kMidnight + 2 * kDayS - 1); };
  CHECK(compare() == "1h");
  TableDescriptor table = *world.store->cells().DescribeTable("tsdb");
  table.families[0].ttl_s = kDayS;
  REQUIRE(world.store->cells().AlterTable(table).ok());
  CHECK(world.maker->Round().code() == StatusCode::kUnsupported);
  CHECK(compare() == "raw");
  REQUIRE(world.Reopen().ok());
  CHECK(compare() == "raw");
  table.families[0].ttl_s = kTtlForever;
  REQUIRE(world.store->cells().AlterTable(table).ok());
  Round();
  CHECK(compare() == "1h");
}

TEST_CASE_FIXTURE(Opened, "recomputed rollups contain no deleted points") {
  for (int hour = 0; hour < 48; ++hour)
    for (const char* host : {"a", "b"})
      REQUIRE(world.PutInt(host, kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + 2 * kDayS + 600);
  Round();
  REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
  REQUIRE(world.Reopen().ok());
  REQUIRE(world.Delete("b", 0, kMidnight + 2 * kDayS).ok());
  REQUIRE(world.Delete("a", kMidnight, kMidnight + 5 * kHourS).ok());
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 2 * kDayS - 1) == "1h");
  CHECK(Compare("1d-count", kMidnight, kMidnight + 2 * kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "an unreadable hour does not prevent rollups of other hours") {
  world.fix_duplicates = false;
  REQUIRE(world.Reopen().ok());
  for (int hour = -48; hour < 48; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  // The values have different widths, so one second has two cells.
  const auto twice = [&](int64_t at) {
    REQUIRE(world.PutInt("a", at, 1).ok());
    REQUIRE(world.PutInt("a", at, 100'000).ok());
  };
  twice(kMidnight - 19 * kHourS + 5);
  Round();
  twice(kMidnight + 29 * kHourS + 5);
  AdvanceTo(kMidnight + 2 * kDayS + 600);
  Round();
  CHECK(world.state->markers() == 2);
  CHECK(Compare("1h-sum", kMidnight - 2 * kDayS, kMidnight - 21 * kHourS) == "1h");
  CHECK(Compare("1h-sum", kMidnight - 17 * kHourS, kMidnight + 27 * kHourS) == "1h");
  CHECK(Compare("1h-sum", kMidnight + 31 * kHourS, kMidnight + 2 * kDayS - 1) == "1h");
  // The rollups of the unreadable points were never computed, so these and all later points stay.
  const Bytes metric = world.Tsuid("m", "a")->substr(0, 3);
  CHECK(*world.state->KeepBefore(metric, kMidnight + 2 * kDayS) == kMidnight - kDayS);
  REQUIRE(world.Reopen().ok());
  CHECK(*world.state->KeepBefore(metric, kMidnight + 2 * kDayS) == kMidnight - kDayS);
}

TEST_CASE_FIXTURE(Opened, "the series of a metric are filled in batches, with a pause after each") {
  constexpr int kHosts = 7;
  for (int host = 0; host < kHosts; ++host)
    REQUIRE(world.PutInt("h" + std::to_string(host), kMidnight + host, host).ok());
  const codec::RollupLevel seconds = {
      "1s", "tsdb-10m", "pre", {1, codec::RollupSpanUnit::kHours, 1, 3600}, false, 0};
  const RollupSpan day{kMidnight, kMidnight + kDayS};
  REQUIRE(RollupFill::SeriesAtOnce(day, {&seconds}) == 3);
  int pauses = 0;
  const auto pause = [&pauses] { return ++pauses, Status(); };
  RollupFill fill(world.store->points(), world.store->cells(), *RollupIds::Of(world.tables), {},
                  pause, unlimited);
  OddHours odd;
  CHECK(fill.Fill(world.Tsuid("m", "h0")->substr(0, 3), day, {&seconds}, &odd).ok());
  CHECK(pauses == 3);
  CHECK(fill.rows_written() == kHosts);
}

TEST_CASE_FIXTURE(Opened, "a request to stop ends the listing and the scan of series for rollups") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  FakeWatch watch;
  RollupFill fill(
      world.store->points(), world.store->cells(), *RollupIds::Of(world.tables), {},
      [] { return Status(); }, watch);
  const auto fill_day = [&](uint64_t steps_max) {
    watch.steps = 0;
    watch.steps_max = steps_max;
    OddHours odd;
    const RollupSpan day{kMidnight, kMidnight + kDayS};
    return fill.Fill(world.Tsuid("m", "a")->substr(0, 3), day, world.state->levels(), &odd).code();
  };
  CHECK(fill_day(0) == StatusCode::kDeadlineExceeded);
  CHECK(watch.steps < 10);
  CHECK(fill_day(10) == StatusCode::kDeadlineExceeded);
  CHECK(watch.steps > 100);  // the expected work of the scan
  CHECK(fill.rows_written() == 0);
  CHECK(fill_day(UINT64_MAX) == StatusCode::kOk);
  CHECK(fill.rows_written() > 0);
}

/// A clock that fails with bad_alloc when the lag is computed.
class StarvedClock : public ManualClock {
 public:
  using ManualClock::ManualClock;
  [[nodiscard]] int64_t MonotonicNs() const override { throw std::bad_alloc(); }
};

TEST_CASE_FIXTURE(Opened, "later rounds run after a round that failed for lack of memory") {
  const StarvedClock starved(kMidnight * 1000);
  RollupMakerOptions options;
  options.ids = *RollupIds::Of(world.tables);
  std::atomic<int> told{0};
  options.report = [&](const std::string& text) {
    CHECK(text.find("broken off") != std::string::npos);
    ++told;
    throw std::bad_alloc();  // reporting the failure fails, too
  };
  RollupMaker maker(world.store->points(), world.store->watched(), world.store->cells(),
                    *world.state, starved, options);
  maker.Start();
  while (told == 0) std::this_thread::yield();
  maker.Stop();
  CHECK(maker.Stats().failures >= 1);
}

TEST_CASE_FIXTURE(Opened, "rollups that were computed with another configuration are recomputed") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  SUBCASE("the same configuration") {
    REQUIRE(world.Reopen().ok());
    CHECK(world.state->start());
    return;
  }
  SUBCASE("another span of rows") {
    world.tables.levels[2].interval = {3600, codec::RollupSpanUnit::kMonths, 1, 744};
  }
  SUBCASE("another table") { world.tables.levels[2].table = "tsdb-2h"; }
  SUBCASE("other ids of functions") {
    std::swap(world.tables.aggregator_ids["min"], world.tables.aggregator_ids["max"]);
  }
  SUBCASE("another rule for duplicates") { world.fix_duplicates = false; }
  SUBCASE("one interval less") { world.tables.levels.pop_back(); }
  REQUIRE(world.Reopen().ok());
  CHECK_FALSE(world.state->start());
  Round();
  CHECK(Compare("1h-min", kMidnight, kMidnight + kDayS - 1) == "1h");
  REQUIRE(world.Reopen().ok());
  CHECK(world.state->start());
}

TEST_CASE_FIXTURE(Opened,
                  "a rollup table with rollups of clients or of another interval is "
                  "refused, and the error names it") {
  const auto refused = [&](const std::string& table) {
    const Status opened = world.Reopen();
    CHECK(opened.code() == StatusCode::kInvalidArgument);
    CHECK(opened.message().find('"' + table + '"') != std::string::npos);
  };
  SUBCASE("rollups of clients") {
    REQUIRE(world.store->cells().Mutate("tsdb-1h", {{"row", {PutCell("t", "q", "v")}}}).ok());
    refused("tsdb-1h");
  }
  SUBCASE("another interval") {
    Round();
    world.tables.levels[1].interval = {1800, codec::RollupSpanUnit::kHours, 6, 12};
    refused("tsdb-10m");
  }
}

}  // namespace
}  // namespace hg::tsd
