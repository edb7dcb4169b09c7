#include "query/buckets/downsample.h"

#include <doctest/doctest.h>

#include <ctime>
#include <limits>
#include <random>

#include "tests/query/columns.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

constexpr int64_t kDayStart = 1'500'076'800;  // 2017-07-15 00:00 UTC

/// Downsamples points (seconds, value) of one series for a query of [start, end] seconds.
Result<PointColumns> Run(const char* spec_text, const Doubles& points, int64_t start, int64_t end,
                         const char* zone = nullptr) {
  DownsampleSpec spec = *ParseDownsample(spec_text);
  if (zone != nullptr) spec.zone = *TimeZone::Find(zone);
  ScanWindow window = PlanScan(start * 1000, end * 1000, spec.interval_ms());
  BucketGrid grid(spec, window, start * 1000, end * 1000);
  MemoryTally memory(nullptr);
  RETURN_IF_ERROR(grid.BuildFillGrid(window, &memory));
  Downsampler downsampler(&grid);
  for (const auto& [t, v] : points) {
    if (t < window.begin_s || t >= window.end_s) continue;
    int64_t base = t - t % 3600;
    uint32_t offset = static_cast<uint32_t>(t - base) * 1000;
    downsampler.Add(base * 1000, {&offset, 1}, {&v, 1});
  }
  PointColumns out;
  Status status = downsampler.Finish(&out);
  if (!status.ok()) return status;
  return out;
}

TEST_CASE("downsampling specifications are parsed") {
  DownsampleSpec spec = *ParseDownsample("1dc-avg-NULL");
  CHECK(spec.calendar);
  CHECK(spec.interval_ms() == 86'400'000);
  CHECK(spec.function->name == "avg");
  CHECK(spec.fill == FillPolicy::kNull);
  CHECK(ParseDownsample("0all-sum")->run_all);
  for (const char* bad : {"1m", "1m-", "1m-none", "1m-foo", "1m-sum-foo", "1m-sum-nan-x", "m-sum",
                          "-1m-sum", "0m-sum"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(ParseDownsample(bad).ok());
  }
}

TEST_CASE("buckets are aligned to the epoch and have the time of their start") {
  int64_t noon = kDayStart + 12 * 3600;
  Doubles points = {{noon + 300, 2}, {noon + 1200, 4}, {noon + 2400, 6}, {noon + 3900, 9}};
  std::string t0 = std::to_string(noon), t30 = std::to_string(noon + 1800),
              t60 = std::to_string(noon + 3600);
  CHECK(Text(*Run("30m-sum", points, noon + 600, noon + 3600)) ==
        t0 + ":6.0 " + t30 + ":6.0 " + t60 + ":9.0");
  CHECK(Text(*Run("30m-count", points, noon + 600, noon + 3600)) ==
        t0 + ":2.0 " + t30 + ":1.0 " + t60 + ":1.0");
  CHECK(Text(*Run("30m-p50", points, noon + 600, noon + 3600)) ==
        t0 + ":3.0 " + t30 + ":6.0 " + t60 + ":9.0");
}

TEST_CASE("a bucket that begins before the scan does not exist") {
  // 2 h buckets start at even hours. The scan of a query at 13:30 begins at 12:00, so both points
  // count.
  int64_t one = kDayStart + 13 * 3600;
  Result<PointColumns> two_hours =
      Run("2h-sum", {{one - 3000, 1}, {one + 60, 2}}, one + 1800, one + 3000);
  CHECK(Text(*two_hours) == std::to_string(kDayStart + 12 * 3600) + ":3.0");
}

TEST_CASE("0all uses the points from the start of the query to just before its end") {
  Doubles points = {
      {kDayStart + 1, 1}, {kDayStart + 10, 2}, {kDayStart + 20, 4}, {kDayStart + 30, 8}};
  CHECK(Text(*Run("0all-sum", points, kDayStart + 10, kDayStart + 30)) ==
        std::to_string(kDayStart + 10) + ":6.0");
  CHECK(Text(*Run("0all-sum-nan", {{kDayStart + 1, 1}}, kDayStart + 10, kDayStart + 30)) == "");
}

TEST_CASE("fill policies emit every bucket of the scan") {
  Doubles points = {{kDayStart, 10}, {kDayStart + 1200, 20}};
  std::string t[] = {std::to_string(kDayStart), std::to_string(kDayStart + 1200),
                     std::to_string(kDayStart + 2400)};
  CHECK(Text(*Run("20m-sum-nan", points, kDayStart, kDayStart + 2400)) ==
        t[0] + ":10.0 " + t[1] + ":20.0 " + t[2] + ":NaN");
  CHECK(Text(*Run("20m-sum-zero", points, kDayStart, kDayStart + 2400)) ==
        t[0] + ":10.0 " + t[1] + ":20.0 " + t[2] + ":0.0");
  CHECK(Text(*Run("20m-sum", points, kDayStart, kDayStart + 2400)) ==
        t[0] + ":10.0 " + t[1] + ":20.0");
  CHECK_FALSE(Run("20m-sum-scalar", points, kDayStart, kDayStart + 2400).ok());
}

TEST_CASE(
    "a fixed interval beyond all times is one bucket from the epoch, and a calendar "
    "interval is refused") {
  CHECK(Text(*Run("9223372036854775807ms-sum", {{kDayStart, 1}, {kDayStart + 5000, 2}}, kDayStart,
                  kDayStart + 10)) == "0:3.0");
  CHECK_FALSE(ParseDownsample("9223372036854775807msc-sum").ok());
}

TEST_CASE("a fill policy with too many buckets is refused") {
  ScanWindow year = PlanScan(kDayStart * 1000, (kDayStart + 365 * 86'400) * 1000, 1);
  const auto fill = [&year](const char* text) {
    FakeWatch watch;
    MemoryTally memory(&watch);
    return BucketGrid(*ParseDownsample(text), year, 0, 1).BuildFillGrid(year, &memory).code();
  };
  CHECK(fill("1ms-sum-nan") == StatusCode::kLimitExceeded);
  CHECK(fill("1msc-sum-nan") == StatusCode::kLimitExceeded);
  CHECK(fill("1ms-sum") == StatusCode::kOk);
  CHECK(fill("1s-sum-nan") == StatusCode::kOk);
}

TEST_CASE("a range that ends after the year 2106 has no buckets to fill") {
  constexpr int64_t kAfter2106 = 6'800'040'000;
  const Doubles points = {{kDayStart, 10}, {kDayStart + 1200, 20}};
  for (const char* text : {"5m-avg-zero", "5m-avg-nan", "1dc-sum-zero", "0all-sum-zero"}) {
    CAPTURE(std::string(text));
    const DownsampleSpec spec = *ParseDownsample(text);
    const ScanWindow window = PlanScan(kDayStart * 1000, kAfter2106 * 1000, spec.interval_ms());
    FakeWatch watch;
    MemoryTally memory(&watch);
    BucketGrid grid(spec, window, kDayStart * 1000, kAfter2106 * 1000);
    CHECK(grid.BuildFillGrid(window, &memory).ok());
    CHECK(grid.fill_grid().size() <= 1);
  }
  CHECK(Text(*Run("5m-avg-zero", points, kDayStart, kAfter2106)) == "");
}

TEST_CASE("the buckets of a fill policy are charged and counted before they are made") {
  const ScanWindow year = PlanScan(kDayStart * 1000, (kDayStart + 365 * 86'400) * 1000, 1000);
  for (const char* text : {"1s-sum-nan", "1sc-sum-zero"}) {
    FakeWatch poor;
    poor.bytes_max = 100'000'000;
    MemoryTally memory(&poor);
    BucketGrid grid(*ParseDownsample(text), year, 0, 1);
    CHECK(grid.BuildFillGrid(year, &memory).code() == StatusCode::kLimitExceeded);
    CHECK(grid.fill_grid().empty());
    FakeWatch hasty;
    hasty.steps_max = 100'000;
    MemoryTally other(&hasty);
    CHECK(grid.BuildFillGrid(year, &other).code() == StatusCode::kDeadlineExceeded);
    CHECK(grid.fill_grid().size() < 200'000);
  }
}

TEST_CASE("calendar buckets between two distant points are skipped, not visited") {
  constexpr int64_t kFirst = 1'400'000'000, kLast = 1'700'000'000;
  const Doubles points = {{kFirst, 1}, {kLast, 2}};
  timespec before{}, after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  for (const char* text : {"1msc-sum", "7msc-sum", "1sc-avg", "1mc-count", "1hc-max", "1dc-sum",
                           "3dc-sum", "2wc-sum", "1nc-sum", "1yc-sum"}) {
    for (const char* zone : {"UTC", "America/Los_Angeles", "Pacific/Apia"}) {
      CAPTURE(std::string(text));
      CAPTURE(std::string(zone));
      CHECK(Run(text, points, kFirst, kLast + 1, zone)->size() >= 1);
    }
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  CHECK(after.tv_sec - before.tv_sec <= 1);
}

TEST_CASE("the last calendar month is cut at the end of the scan") {
  int64_t start = 1'483'228'800, end = 1'489'536'000;  // 2017-01-01 … 2017-03-15
  Doubles hourly;
  for (int64_t t = start; t < start + 120 * 86'400; t += 3600) hourly.emplace_back(t, 1);
  CHECK(Text(*Run("1nc-sum", hourly, start, end)) ==
        "1483228800:744.0 1485907200:672.0 1488326400:576.0");
  // With a fill policy the bucket that contains the end of the scan is missing.
  CHECK(Text(*Run("1nc-sum-zero", hourly, start, end)) ==
        "1480550400:0.0 1483228800:744.0 1485907200:672.0");
}

TEST_CASE("days have 23 hours when the clock is set forward") {
  TimeZone zone = *TimeZone::Find("America/Los_Angeles");
  int64_t start = zone.FromLocal(DaysFromCivil(2017, 3, 10) * 86'400'000) / 1000;
  int64_t end = zone.FromLocal(DaysFromCivil(2017, 3, 14) * 86'400'000 + 12 * 3'600'000) / 1000;
  Doubles hourly;
  for (int64_t t = start; t < start + 10 * 86'400; t += 3600) hourly.emplace_back(t, 1);
  PointColumns days = *Run("1dc-sum", hourly, start, end, "America/Los_Angeles");
  std::string values;
  for (uint64_t bits : days.bits)
    values += std::to_string(static_cast<int>(std::bit_cast<double>(bits))) + " ";
  CHECK(values == "24 24 23 24 17 ");
}

TEST_CASE("a bucket has the same value however its points arrive") {
  // The tests above add one point per call. This test adds one row-hour per call.
  DownsampleSpec spec = *ParseDownsample("10m-avg");
  ScanWindow window = PlanScan(kDayStart * 1000, (kDayStart + 3000) * 1000, spec.interval_ms());
  BucketGrid grid(spec, window, kDayStart * 1000, (kDayStart + 3000) * 1000);
  Downsampler downsampler(&grid);
  std::vector<uint32_t> offsets;
  std::vector<double> values;
  Doubles points;
  for (uint32_t s = 0; s < 3600; s += 7) {
    offsets.push_back(s * 1000);
    values.push_back(0.1 * s);
    points.emplace_back(kDayStart + s, values.back());
  }
  downsampler.Add(kDayStart * 1000, offsets, values);
  PointColumns out;
  REQUIRE(downsampler.Finish(&out).ok());
  CHECK(Text(out) == Text(*Run("10m-avg", points, kDayStart, kDayStart + 3000)));
  CHECK(out.size() == 6);
}

using Offsets = std::vector<uint32_t>;

// Two hours with points at offsets_of(hour), as doubles and as integers.
template <typename OffsetsOf>
void CheckAtOnce(const char* text, std::mt19937_64& random, OffsetsOf offsets_of) {
  CAPTURE(std::string(text));
  const DownsampleSpec spec = *ParseDownsample(text);
  const ScanWindow window =
      PlanScan(kDayStart * 1000, (kDayStart + 7200) * 1000, spec.interval_ms());
  const BucketGrid grid(spec, window, kDayStart * 1000, (kDayStart + 7200) * 1000);
  Downsampler at_once(&grid), one_by_one(&grid);
  for (int64_t hour = 0; hour < 2; ++hour) {
    const int64_t base_ms = (kDayStart + hour * 3600) * 1000;
    const Offsets offsets = offsets_of(hour);
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    for (size_t i = 0; i < offsets.size(); ++i) {
      ints.push_back(static_cast<int64_t>(random() >> random() % 64));
      const double zeros[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 0.1};
      doubles.push_back(random() % 2 == 0 ? zeros[random() % 4]
                                          : static_cast<double>(ints.back()) * 1e-9);
    }
    const auto add = [&](const auto& values) {
      at_once.Add(base_ms, offsets, values);
      for (size_t i = 0; i < offsets.size(); ++i)
        one_by_one.Add(base_ms, {&offsets[i], 1}, {&values[i], 1});
    };
    hour == 0 ? add(doubles) : add(ints);
  }
  PointColumns expected, out;
  REQUIRE(at_once.Finish(&out).ok());
  REQUIRE(one_by_one.Finish(&expected).ok());
  CHECK(out.size() > 10);
  CHECK(out.time_ms == expected.time_ms);
  CHECK(out.bits == expected.bits);
}

TEST_CASE("rows with few points per bucket give the same result as points added one by one") {
  std::mt19937_64 random(7);
  for (const char* text : {"1m-sum", "1m-avg", "1m-min", "1m-max", "1m-count", "1m-last"}) {
    CheckAtOnce(text, random, [&](int64_t) {
      Offsets offsets;
      for (uint32_t s = 5; s < 3600; s += 1 + random() % 40) offsets.push_back(s * 1000);
      return offsets;
    });
  }
}

TEST_CASE("rows with points at regular times give the same result as points added one by one") {
  std::mt19937_64 random(8);
  for (const char* text : {"1m-sum", "1m-avg", "1m-min", "1m-max", "1m-count", "5m-max", "90s-sum",
                           "1mc-max", "1500ms-sum"}) {
    for (const uint32_t step_ms : {500, 1000, 7000, 10'000, 15'000, 30'000, 60'000, 90'000}) {
      CAPTURE(step_ms);
      // Whole hours, hours that begin anywhere, and hours that lack some points after the first
      // ones.
      for (const int kind : {0, 1, 2}) {
        CheckAtOnce(text, random, [&](int64_t) {
          Offsets offsets;
          uint32_t at = kind == 0 ? 0 : static_cast<uint32_t>(random() % 300'000);
          const size_t gap = kind == 2 ? 1 + random() % 8 : SIZE_MAX;
          for (; at < 3'600'000; at += step_ms) {
            if (offsets.size() == gap) at += static_cast<uint32_t>(random() % 900'000);
            if (at < 3'600'000) offsets.push_back(at);
          }
          return offsets;
        });
      }
    }
  }
}

}  // namespace
}  // namespace hg::query
