// PromQL and remote read of times for which only rollups are left.

#include <doctest/doctest.h>

#include <utility>

#include "query/promql/evaluator.h"
#include "query/promql/number_text.h"
#include "query/promql/parser.h"
#include "query/promql/stored_series.h"
#include "tests/support/fake_watch.h"
#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

namespace promql = query::promql;

constexpr int64_t kDayTwo = kMidnight + kDayS;
constexpr int64_t kDayThree = kMidnight + 2 * kDayS;

std::string Numbers(const std::vector<double>& values) {
  std::string out;
  for (const double value : values)
    out += " " + (promql::IsAbsent(value) ? "_" : promql::FixedText(value));
  return out;
}

/// Two days of two series with four points per hour. Series "a" rises and falls, and series "b" is
/// a counter with one reset. There are rollups of hours and days. A test may delete the points of
/// the first day.
struct KeptDays {
  explicit KeptDays(bool hours = true) {
    world.tables.levels.erase(world.tables.levels.begin() + 1);  // the level of ten minutes
    if (!hours) world.tables.levels.erase(world.tables.levels.begin() + 1);
    REQUIRE(world.Open().ok());
    int64_t counted = 1000;
    for (int hour = 0; hour < 48; ++hour) {
      for (const int minute : {10, 20, 35, 50}) {
        const int64_t at = kMidnight + hour * kHourS + minute * 60;
        counted = hour == 5 && minute == 35 ? 7 : counted + 10;
        REQUIRE(world.PutInt("a", at, (hour * 17 + minute) % 23).ok());
        REQUIRE(world.PutInt("b", at, counted).ok());
      }
    }
    metric = world.Tsuid("m", "a")->substr(0, 3);
    REQUIRE(world.maker->Round().ok());
    clock.SetMs((kDayThree + 600) * 1000);
    REQUIRE(world.maker->Round().ok());
    options.reconcile.fix_duplicates = true;
    options.rollups = world.tables;
  }

  void Keep() { REQUIRE(*world.state->KeepBefore(metric, kDayTwo) == kDayTwo); }
  void DeleteFirstDay(const std::string& host) { REQUIRE(world.Delete(host, 0, kDayTwo).ok()); }
  void LoseFirstDay() {
    Keep();
    DeleteFirstDay("a");
    DeleteFirstDay("b");
  }

  /// Returns "host: values", or for a matrix "value@seconds of the first day".
  std::string Ask(query::RolledHoursSource* rolled, const std::string& text, int64_t start_s,
                  int64_t step_s = 0, size_t count = 1) {
    const auto expr = promql::ParseExpression(text);
    REQUIRE(expr.ok());
    promql::StoredSeries series(world.store->points(), *world.names, options, watch, {}, {},
                                &world.store->cells(), rolled);
    const promql::Steps steps{start_s * 1000, step_s * 1000, count};
    promql::Evaluator evaluator(series, &watch, {steps.start_ms, steps.end_ms()});
    std::string out;
    for (bool again = true; again; again = *series.KeptMeanwhile()) {
      const auto value = evaluator.Evaluate(**expr, steps);
      if (!value.ok()) return value.status().ToString();
      out.clear();
      for (const promql::VectorSeries& one : value->vector)
        out += std::string(one.labels.Get("host")) + ":" + Numbers(one.values) + "; ";
      for (const promql::RangeSeries& one : value->matrix) {
        out += std::string(one.labels.Get("host")) + ":";
        for (size_t i = 0; i < one.values.size(); ++i)
          out += Numbers({one.values[i]}) + "@" +
                 promql::FixedText(static_cast<double>(one.times_ms[i] - kMidnight * 1000) / 1000);
        out += "; ";
      }
    }
    return out;
  }
  std::string Ask(const std::string& text, int64_t start_s, int64_t step_s = 0, size_t count = 1) {
    return Ask(world.state.get(), text, start_s, step_s, count);
  }

  FaultyFileSystem disk{1};
  ManualClock clock{kMidnight * 1000};
  RollupWorld world{disk, clock};
  query::Options options;
  FakeWatch watch;
  Bytes metric;
};

TEST_CASE_FIXTURE(KeptDays, "sums, counts, averages and extremes of whole hours are unchanged") {
  const std::pair<const char*, int64_t> asked[] = {
      {"sum_over_time(m[1h])", kHourS},
      {"count_over_time(m[1h])", kHourS},
      {"round(avg_over_time(m[1h]), 1e-9)", kHourS},
      {"min_over_time(m[1h])", kHourS},
      {"max_over_time(m[1h])", kHourS},
      {"round(avg_over_time(m[5h]), 1e-9)", 2 * kHourS},
      {"count_over_time(m[1d])", kHourS},
      {"sum(sum_over_time(m[3h] offset 1h))", kHourS},
      {"round(avg_over_time(m[1d]), 1e-9)", kDayS}};
  std::vector<std::string> before;
  for (const auto& [text, step] : asked)
    before.push_back(Ask(text, kMidnight + kHourS, step, static_cast<size_t>(2 * kDayS / step)));
  CHECK(before[1].substr(0, 10) == "a: 4 4 4 4");
  LoseFirstDay();
  for (size_t i = 0; i < before.size(); ++i) {
    const auto& [text, step] = asked[i];
    CAPTURE(text);
    CHECK(Ask(text, kMidnight + kHourS, step, static_cast<size_t>(2 * kDayS / step)) == before[i]);
  }
}

TEST_CASE_FIXTURE(KeptDays,
                  "an hour whose points were deleted is one sample, its mean at its "
                  "end, and other samples are points") {
  LoseFirstDay();
  CHECK(Ask("m{host=\"a\"}[3h]", kDayTwo + 1300) ==
        "a: 12@79199.999 11.75@82799.999 11.5@86399.999 4@87000 14@87600; ");
  // The range contains neither the beginning nor the end of an hour, so it has no sample.
  CHECK(Ask("m{host=\"b\"}[30m]", kMidnight + 2 * kHourS - 1) == "");
}

TEST_CASE_FIXTURE(KeptDays,
                  "an instant in an hour whose points were deleted has the mean of the hour") {
  LoseFirstDay();
  CHECK(Ask("m{host=\"b\"}", kMidnight, 1800, 5) == "b: 1025 1025 1065 1065 1105; ");
  CHECK(Ask("timestamp(m{host=\"b\"}) - time()", kMidnight, 1800, 3) == "b: 0 0 0; ");
  // After the last hour that has rollups, the look-back counts from the end of this hour.
  CHECK(Ask("m{host=\"b\"}", kDayTwo, 299, 2) == "b: 722 722; ");
  CHECK(Ask("m{host=\"b\"}", kDayTwo + 300) == "");
  CHECK(Ask("m{host=\"b\"}", kDayTwo + 600) == "b: 747; ");
  CHECK(Ask("m{host=\"b\"}", kMidnight - 1) == "");
}

TEST_CASE_FIXTURE(KeptDays, "a counter is read by its maximum, so that it increases as before") {
  LoseFirstDay();
  // Eight points of 10 in two hours.
  CHECK(Ask("round(increase(m{host=\"b\"}[2h]))", kMidnight + 2 * kHourS, kHourS, 3) ==
        "b: 80 80 80; ");
  CHECK(Ask("round(increase(m{host=\"b\"}[2h]))", kMidnight + 22 * kHourS, kHourS, 3) ==
        "b: 80 80 80; ");
  // It was reset in the sixth hour.
  CHECK(Ask("resets(m{host=\"b\"}[1d])", kDayTwo) == "b: 1; ");
  CHECK(Ask("rate(m{host=\"b\"}[5m])", kMidnight + 2 * kHourS) == "");
}

TEST_CASE_FIXTURE(KeptDays,
                  "a series that still has all its points is read from them, not from rollups") {
  const std::string asked[] = {"m{host=\"b\"}[1d]", "avg_over_time(m{host=\"b\"}[1h])"};
  const std::string before[] = {Ask(asked[0], kDayTwo), Ask(asked[1], kDayTwo - 600)};
  Keep();
  DeleteFirstDay("a");
  CHECK(Ask(asked[0], kDayTwo) == before[0]);
  CHECK(Ask(asked[1], kDayTwo - 600) == before[1]);
  CHECK(Ask("sum(count_over_time(m[1d]))", kDayTwo) == ": 192; ");
}

TEST_CASE_FIXTURE(KeptDays,
                  "a late point in a deleted hour does not hide the rollups of the hour") {
  LoseFirstDay();
  REQUIRE(world.PutInt("a", kMidnight + 7 * kHourS + 1, 1000).ok());
  CHECK(Ask("max_over_time(m[1d])", kDayTwo) == "a: 22; b: 1220; ");
  CHECK(Ask("count_over_time(m[1d])", kDayTwo) == "a: 96; b: 96; ");
}

TEST_CASE_FIXTURE(KeptDays, "a range of all times skips the years before the first point") {
  LoseFirstDay();
  CHECK(Ask("count_over_time(m{host=\"b\"}[100y])", kDayThree) == "b: 192; ");
  const uint64_t steps = watch.steps;
  CHECK(steps < 1'000'000);  // one year of scans, not fifty
}

TEST_CASE("if there are only rollups of days, a day is one sample") {
  KeptDays days(false);
  days.LoseFirstDay();
  CHECK(days.Ask("count_over_time(m[1d])", kDayTwo, kDayS, 2) == "a: 96 96; b: 96 96; ");
  CHECK(days.Ask("m{host=\"b\"} * 96", kMidnight + 5 * kHourS) ==
        days.Ask("sum_over_time(m{host=\"b\"}[1d])", kDayTwo));
}

TEST_CASE_FIXTURE(KeptDays, "all series are listed for a time whose points were deleted") {
  REQUIRE(world.PutInt("c", kDayThree + 60, 1).ok());
  const auto count = [&](query::RolledHoursSource* rolled, int64_t from_s, int64_t to_s) {
    promql::StoredSeries series(world.store->points(), *world.names, options, watch, {}, {},
                                &world.store->cells(), rolled);
    const auto matchers = promql::ParseSelector("m");
    REQUIRE(matchers.ok());
    size_t found = 0;
    REQUIRE(series
                .List(*matchers, promql::StoredSeries::Times{from_s * 1000, to_s * 1000},
                      [&](ByteView) {
                        ++found;
                        return Status();
                      })
                .ok());
    return found;
  };
  LoseFirstDay();
  CHECK(count(world.state.get(), kMidnight, kMidnight + kHourS) == 3);
  CHECK(count(world.state.get(), kDayTwo, kDayTwo + kHourS) == 2);
  CHECK(count(world.state.get(), kDayThree, kDayThree + kHourS) == 1);
  CHECK(count(nullptr, kMidnight, kMidnight + kHourS) < 3);
}

TEST_CASE_FIXTURE(KeptDays, "without a source of rollups only points are read") {
  LoseFirstDay();
  CHECK(Ask(nullptr, "count_over_time(m[1d])", kDayTwo) == "");
  CHECK(Ask(nullptr, "count_over_time(m[1d])", kDayThree) == "a: 96; b: 96; ");
}

TEST_CASE_FIXTURE(KeptDays, "rollups in memory are charged, and refused if the charge is refused") {
  LoseFirstDay();
  watch.bytes_max = 1000;
  CHECK(Ask("count_over_time(m[1d])", kDayTwo).find("too many bytes") != std::string::npos);
}

TEST_CASE_FIXTURE(KeptDays, "what a query remembers of rollups is charged, once for equal reads") {
  promql::StoredSeries series(world.store->points(), *world.names, options, watch, {}, {},
                              &world.store->cells(), world.state.get());
  const auto selector = promql::ParseSelector("m");
  REQUIRE(selector.ok());
  struct Ignoring : promql::SampleSink {
    Status AddSeries(promql::Labels) override { return {}; }
    Status AddSamples(size_t, std::span<const int64_t>, std::span<const double>) override {
      return {};
    }
  } sink;
  constexpr int64_t kReads = 3000;
  const auto read_all = [&] {
    for (int64_t hour = 0; hour < kReads; ++hour) {
      const int64_t ms = hour * kHourS * 1000;
      REQUIRE(series.Read(*selector, ms, ms, &sink).ok());
    }
    return watch.bytes.load();
  };
  const int64_t once = read_all();
  CHECK(once > kReads * 64);
  CHECK(read_all() == once);
  CHECK_FALSE(*series.KeptMeanwhile());
}

TEST_CASE_FIXTURE(KeptDays,
                  "if points are deleted while a query reads them, it reads the rollups instead") {
  SourceBefore source(*world.state);
  source.then = [this] { LoseFirstDay(); };
  CHECK(Ask(&source, "count_over_time(m[1d])", kDayTwo) == "a: 96; b: 96; ");
}

}  // namespace
}  // namespace hg::tsd
