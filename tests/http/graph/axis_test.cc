#include "http/graph/axis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>

namespace hg::http::graph {
namespace {

std::string Texts(const std::vector<Mark>& marks) {
  std::string out;
  for (const Mark& mark : marks) out += (out.empty() ? "" : " ") + mark.text;
  return out;
}

std::string Scale(double low, double high, ValueAxis axis = {}) {
  return Texts(ValueScale(axis, low, high, 6).marks());
}

TEST_CASE("tick marks are at round numbers and enclose the values") {
  CHECK(Scale(0, 100) == "0 20 40 60 80 100");
  CHECK(Scale(3, 97) == "0 20 40 60 80 100");
  CHECK(Scale(-1.2, 1.4) == "-1.5 -1.0 -0.5 0.0 0.5 1.0 1.5");
  CHECK(Scale(0, 0.003) == "0.0000 0.0005 0.0010 0.0015 0.0020 0.0025 0.0030");
  CHECK(Scale(0, 5e9) == "0 1e+09 2e+09 3e+09 4e+09 5e+09");
}

TEST_CASE("a single value, no value and given ends have a valid range") {
  CHECK(Scale(5, 5) == "4.4 4.6 4.8 5.0 5.2 5.4 5.6");
  CHECK(Scale(0, 0) == "-1.0 -0.5 0.0 0.5 1.0");
  CHECK(Scale(INFINITY, -INFINITY) == "0.0 0.2 0.4 0.6 0.8 1.0");
  ValueAxis from_zero;
  from_zero.low = 0;
  CHECK(Scale(50, 90, from_zero) == "0 20 40 60 80 100");
  CHECK_FALSE(Scale(-9, -5, from_zero).empty());
  ValueAxis both;
  both.low = 0;
  both.high = 1;
  const ValueScale scale(both, 50, 90, 6);
  CHECK(scale.At(0.5) == 0.5);
  CHECK(scale.At(2) == 2);
}

TEST_CASE("extreme numbers cause no endless loop and no overflow") {
  for (const auto& [low, high] : {std::pair(-1.7e308, 1.7e308), std::pair(1e17, 1e17 + 16),
                                  std::pair(4.9e-324, 4.9e-324), std::pair(1.7e308, 1.7e308)}) {
    const ValueScale scale({}, low, high, 6);
    CHECK(scale.marks().size() <= 100);
    CHECK(std::isfinite(scale.At(low)));
  }
}

TEST_CASE("axes of the smallest numbers have few tick marks at finite places") {
  constexpr double kTiny = 5e-324;
  for (const bool logarithmic : {true, false}) {
    for (const double high : {kTiny, 1e-322, 1e-308, 1e-300, 1.0, 1.7e308}) {
      for (const std::optional<double> end :
           {std::optional<double>(), std::optional(0.0), std::optional(-1.0), std::optional(kTiny),
            std::optional(-1.7e308), std::optional(1.7e308)}) {
        for (const bool given_low : {true, false}) {
          ValueAxis axis;
          axis.logarithmic = logarithmic;
          (given_low ? axis.low : axis.high) = end;
          CAPTURE(logarithmic);
          CAPTURE(high);
          CAPTURE(end.value_or(NAN));
          const ValueScale scale(axis, kTiny, high, 6);
          CHECK(scale.marks().size() <= 100);
          for (const Mark& mark : scale.marks()) CHECK(std::isfinite(mark.at));
        }
      }
    }
  }
}

TEST_CASE("an axis whose given ends are too near to each other is made longer") {
  for (const bool logarithmic : {true, false}) {
    ValueAxis axis;
    axis.logarithmic = logarithmic;
    axis.low = 100;
    axis.high = std::nextafter(100.0, 200.0);
    const ValueScale scale(axis, 1, 1000, 6);
    CHECK(std::isfinite(scale.At(100)));
    CHECK(std::isfinite(scale.At(1000)));
    for (const Mark& mark : scale.marks()) CHECK(std::isfinite(mark.at));
  }
}

TEST_CASE("a logarithmic axis has a tick mark per power of ten and cannot show zero") {
  ValueAxis axis;
  axis.logarithmic = true;
  CHECK(Scale(3, 4000, axis) == "1 10 100 1000 10000");
  const ValueScale scale(axis, 1, 100, 6);
  CHECK(scale.At(10) == doctest::Approx(0.5));
  CHECK(scale.At(0) < -100);
  CHECK(scale.At(-5) < -100);
  CHECK_FALSE(Scale(-3, -1, axis).empty());
}

TEST_CASE("numbers follow the format, including gnuplot's scaled ones") {
  CHECK(NumberLabel("%.2f ms", 1.5, 1) == "1.50 ms");
  CHECK(NumberLabel("%.1s%cB", 1500, 1) == "1.5kB");
  CHECK(NumberLabel("%s %c", 2e6, 1) == "2 M");
  CHECK(NumberLabel("%s%c", 0.002, 1) == "2m");
  CHECK(NumberLabel("100%%", 7, 1) == "100%");
  CHECK(NumberLabel("%g %g", 7, 1) == "7 7");
}

TEST_CASE("time marks are at full units of the time zone") {
  const auto berlin = query::TimeZone::Find("Europe/Berlin");
  REQUIRE(berlin.ok());
  constexpr int64_t kNoon = 1700042400000;  // 2023-11-15 10:00 UTC, 11:00 in Berlin
  CHECK(Texts(TimeMarks(kNoon, kNoon + 6 * 3600000, query::TimeZone(), 6)) ==
        "10:00 11:00 12:00 13:00 14:00 15:00 16:00");
  CHECK(Texts(TimeMarks(kNoon, kNoon + 24 * 3600000, *berlin, 4)) == "12:00 18:00 11/16 06:00");
  CHECK(Texts(TimeMarks(kNoon + 500, kNoon + 2500, query::TimeZone(), 2)) == "10:00:01 10:00:02");
  CHECK(Texts(TimeMarks(kNoon, kNoon + int64_t{100} * 86400000, query::TimeZone(), 4)) ==
        "2023/12 2024/01 2024/02");
  CHECK(Texts(TimeMarks(0, int64_t{50} * 365 * 86400000, query::TimeZone(), 5)) ==
        "1970 1980 1990 2000 2010");
  CHECK(TimeMarks(5, 5, query::TimeZone(), 5).empty());
  CHECK(TimeMarks(0, int64_t{9999999999999}, query::TimeZone(), 5).size() <= 200);
}

}  // namespace
}  // namespace hg::http::graph
