// Retention rules over the embedded engine: files are dropped unread if all their points may be
// deleted, other points are deleted row by row, and the remaining points are the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/tsd/rollup/rollup_world.h"
#include "tsd/retention/retention.h"

namespace hg::tsd {
namespace {

constexpr char kAllOneDay[] = R"([{"metric":"*","keep":"1d"}])";

struct Files : Opened {
  static RetentionOptions Options(const std::string& rules) {
    Result<std::vector<RetentionRule>> read = ParseRetentionRules(rules);
    REQUIRE(read.ok());
    RetentionOptions options;
    options.rules = std::move(*read);
    options.query.timezone = "UTC";
    return options;
  }
  Status Delete(RetentionOptions options) {
    Retention retention(world.store->points(), *world.names, clock, std::move(options));
    return retention.Round();
  }
  void Put(const std::string& metric, const std::string& host, int64_t hour) {
    REQUIRE(world.Put(metric, host, kMidnight + hour * kHourS + 7, PointValue::Int(hour)).ok());
  }
  void PutDays(const std::string& metric, const std::string& host, int64_t days) {
    for (int64_t hour = 0; hour < days * 24; ++hour) Put(metric, host, hour);
  }
  void Flush() { REQUIRE(world.store->cells().Flush().ok()); }
  [[nodiscard]] uint64_t Dropped() const { return world.store->Stats().dropped_parts; }
  /// Returns the number of remaining points of a series.
  size_t Left(const std::string& metric, const std::string& host) {
    PointScanSpec spec;
    spec.matcher.tsuids = {*world.Tsuid(metric, host)};
    spec.metric = spec.matcher.tsuids[0].substr(0, 3);
    const auto scan = *world.store->points().Scan(spec, {});
    size_t points = 0;
    for (RowHour row;;) {
      const auto more = scan->Next(&row);
      REQUIRE(more.ok());
      if (!*more) return points;
      points += row.points();
    }
  }
  std::string Cells() {
    ScanSpec spec;
    spec.table = "tsdb";
    const auto scan = *world.store->cells().Scan(spec);
    std::string text;
    for (std::vector<Row> rows;;) {
      REQUIRE(scan->Next(&rows).ok());
      if (rows.empty()) return text;
      for (const Row& row : rows)
        for (const Cell& cell : row.cells)
          text += ToHex(row.key) + " " + ToHex(cell.qualifier) + " " + ToHex(cell.value) + "\n";
    }
  }
};

TEST_CASE_FIXTURE(Files, "files covered by rules are deleted unread, and other points row by row") {
  PutDays("m", "a", 3);
  PutDays("n", "a", 3);
  REQUIRE(world.Note("a", kMidnight).ok());
  Flush();
  PutDays("m", "late", 1);
  const std::vector<std::string> files = *disk.List("data");
  const auto first = std::find_if(files.begin(), files.end(),
                                  [](const auto& n) { return n.ends_with(".points"); });
  REQUIRE(first != files.end());
  disk.FlipBit("data/" + *first, 40, 3);  // reading the first day would fail
  AdvanceTo(kMidnight + 3 * kDayS + 5 * kHourS);
  SUBCASE("one rule for all metrics") { CHECK(Delete(Options(kAllOneDay)).ok()); }
  SUBCASE("the shortest of several rules for a metric") {
    CHECK(Delete(Options(R"([{"metric":"*","keep":"90d"},{"metric":"m","keep":"1d"},
                             {"metric":"n*","keep":"1d"},{"metric":"n","keep":"2d"}])"))
              .ok());
  }
  CHECK(Dropped() == 2);
  CHECK(Left("m", "a") == 19);
  CHECK(Left("n", "a") == 19);
  CHECK(Left("m", "late") == 0);
}

TEST_CASE_FIXTURE(Files,
                  "files with metrics whose names are beyond ISO-8859-1 are deleted unread") {
  PutDays("温度", "a", 3);
  PutDays("m", "a", 3);
  Flush();
  AdvanceTo(kMidnight + 3 * kDayS + 5 * kHourS);
  SUBCASE("by a rule for all metrics") { CHECK(Delete(Options(kAllOneDay)).ok()); }
  SUBCASE("by a rule with the name") {
    CHECK(Delete(Options(R"([{"metric":"温度","keep":"1d"},{"metric":"m","keep":"1d"}])")).ok());
  }
  CHECK(Dropped() == 2);
  CHECK(Left("温度", "a") == 19);
}

TEST_CASE_FIXTURE(Files, "a file with a series that is kept longer is deleted row by row") {
  PutDays("m", "a", 2);
  PutDays("m", "b", 2);
  PutDays("n", "a", 2);
  Flush();
  AdvanceTo(kMidnight + 9 * kDayS);
  std::string rules;
  size_t of_n = 48;
  SUBCASE("because a rule has tags") {
    rules = R"([{"metric":"m","tags":{"host":"a"},"keep":"1d"},{"metric":"n","keep":"1d"}])";
    of_n = 0;
  }
  SUBCASE("because its metric has no rule") {
    rules = R"([{"metric":"m","tags":{"host":"a"},"keep":"1d"},{"metric":"m","keep":"90d"}])";
  }
  CHECK(Delete(Options(rules)).ok());
  CHECK(Dropped() == 0);
  CHECK(Left("m", "a") == 0);
  CHECK(Left("m", "b") == 48);
  CHECK(Left("n", "a") == of_n);
}

TEST_CASE_FIXTURE(
    Files,
    "retention keeps files until their rollups are computed, and queries then read the rollups") {
  PutDays("m", "a", 3);
  Flush();
  AdvanceTo(kMidnight + 5 * kDayS);
  RetentionOptions options = Options(kAllOneDay);
  options.may_delete = [this](const Bytes& metric, uint32_t end_s) {
    return world.state->KeepBefore(metric, end_s);
  };
  CHECK(Delete(options).ok());
  CHECK(Dropped() == 0);
  CHECK(Left("m", "a") == 72);
  Round();
  // This hour must be recomputed.
  CHECK(world.Put("m", "a", kMidnight + 2 * kDayS + 9, PointValue::Int(5)).ok());
  const auto ask = [&] {
    return RollupWorld::Ask(*world.rolled, RollupWorld::Query("1d-sum"), kMidnight,
                            kMidnight + 3 * kDayS - 1);
  };
  const std::string before = ask().text;
  CHECK(Delete(options).ok());
  CHECK(Dropped() == 2);
  CHECK(Left("m", "a") == 25);
  CHECK(ask().text == before);
  REQUIRE(world.Reopen().ok());
  CHECK(ask().text == before);
  Round();
  CHECK(Delete(options).ok());
  CHECK(Dropped() == 1);
  CHECK(Left("m", "a") == 0);
  CHECK(ask().text == before);
}

TEST_CASE("the record of kept rollups survives a power failure after their points were deleted") {
  for (int more = 0; more < 8; ++more) {
    CAPTURE(more);
    Files files;
    RollupWorld& world = files.world;
    files.PutDays("m", "a", 2);
    for (int i = 0; i < more; ++i) files.Put("m", std::string(1, static_cast<char>('b' + i)), i);
    files.Flush();
    files.AdvanceTo(kMidnight + 5 * kDayS);
    files.Round();
    REQUIRE(world.store->cells().Flush().ok());
    RetentionOptions options = Files::Options(kAllOneDay);
    options.may_delete = [&](const Bytes& metric, uint32_t end_s) {
      return world.state->KeepBefore(metric, end_s);
    };
    REQUIRE(files.Delete(options).ok());
    REQUIRE(files.Dropped() == 2);
    const Bytes metric = world.Tsuid("m", "a")->substr(0, 3);
    files.disk.FailAllCalls();
    world.Die();
    files.disk.PowerCut();
    files.disk.FailCall(0);
    REQUIRE(world.Open().ok());
    CHECK(files.Left("m", "a") == 0);
    CHECK(world.state->KeptBefore(metric) == kMidnight + 4 * kDayS);
  }
}

// The same points and rules, with and without files.
TEST_CASE("retention rules leave the same cells, whatever files there are") {
  const std::vector<std::string> rules = {
      kAllOneDay, R"([{"metric":"*","keep":"2d"},{"metric":"n","keep":"5h"}])",
      R"([{"metric":"*","keep":"3d"},{"metric":"m","tags":{"host":"a"},"keep":"1h"}])",
      R"([{"metric":"m","keep":"1d"},{"metric":"n","keep":"7h"}])",
      R"([{"metric":"m","tags":{"host":"a|b"},"keep":"1d"},{"metric":"n","keep":"1d"}])"};
  uint64_t dropped = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Files with, without;
    for (int round = 0; round < 4; ++round) {
      for (int writes = 0; writes < 60; ++writes) {
        const std::string metric = random() % 2 == 0 ? "m" : "n",
                          host = random() % 2 == 0 ? "a" : "b";
        const auto hour = static_cast<int64_t>(random() % 96);
        const bool note = metric == "m" && random() % 8 == 0;
        for (Files* files : {&with, &without}) {
          if (!note) files->Put(metric, host, hour);
          if (note) REQUIRE(files->world.Note(host, kMidnight + hour * kHourS).ok());
        }
        if (random() % 16 == 0) with.Flush();
      }
      if (random() % 3 == 0) REQUIRE(with.world.store->cells().Compact().ok());
      if (random() % 4 == 0) {
        const Bytes middle = with.world.Tsuid("n", "a")->substr(0, 3);
        (void)with.world.store->cells().Split("tsdb", middle, middle);
      }
      const std::string& said = rules[random() % rules.size()];
      CAPTURE(said);
      const auto now = static_cast<int64_t>(random() % 144);
      for (Files* files : {&with, &without}) {
        files->AdvanceTo(kMidnight + now * kHourS);
        REQUIRE(files->Delete(Files::Options(said)).ok());
      }
      REQUIRE(with.Cells() == without.Cells());
    }
    dropped += with.Dropped();
    CHECK(without.Dropped() == 0);
    REQUIRE(with.world.Reopen().ok());
    CHECK(with.Cells() == without.Cells());
  }
  CHECK(dropped > 20);
}

}  // namespace
}  // namespace hg::tsd
