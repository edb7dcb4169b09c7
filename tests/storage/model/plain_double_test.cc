#include "storage/model/plain_double.h"

#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace hg {
namespace {

std::string Printed(double v) {
  char text[kPlainDoubleBytesMax];
  const char* const end = PutPlainDouble(v, text);
  return end != nullptr ? std::string(text, static_cast<size_t>(end - text)) : "none";
}

/// The shortest text of the library. Java requires a digit after the decimal point.
std::string Expected(double v) {
  char text[64];
  const char* const end = std::to_chars(text, text + sizeof(text), v, std::chars_format::fixed).ptr;
  std::string out(text, static_cast<size_t>(end - text));
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

bool Same(double v) {
  const bool same = Printed(v) == Expected(v);
  if (!same) MESSAGE("bits " << std::bit_cast<uint64_t>(v) << ": " << Printed(v));
  return same;
}

double Above(double v) { return std::nextafter(v, HUGE_VAL); }
double Below(double v) { return std::nextafter(v, -HUGE_VAL); }

}  // namespace

TEST_CASE("any double in the range has the digits that the library finds") {
  std::mt19937_64 random(5);
  const auto least = std::bit_cast<uint64_t>(1e-3);
  const auto range = std::bit_cast<uint64_t>(1e7) - least;
  bool same = true;
  for (int i = 0; i < 500'000; ++i) {
    same = same && Same(std::bit_cast<double>(least + random() % range));
  }
  CHECK(same);
}

TEST_CASE("sums, averages, decimals and their neighbours have the digits that the library finds") {
  std::mt19937_64 random(6);
  bool same = true;
  for (int i = 0; i < 300'000; ++i) {
    const auto number = static_cast<double>(random() % 3'600'000 + 1);
    double power = 1;
    for (uint64_t digits = random() % 10; digits > 0; --digits) power *= 10;
    for (const double v : {number / 360, number / 3600, number / 7, number / power,
                           0.1 * static_cast<double>(random() % 1000 + 1)}) {
      if (v < 1e-3) continue;
      same = same && Same(v) && Same(Above(v)) && Same(-v) && (Below(v) < 1e-3 || Same(Below(v)));
    }
  }
  CHECK(same);
}

TEST_CASE(
    "powers of two and ten, whole numbers and their neighbours have the digits that the library "
    "finds") {
  bool same = true;
  for (int exponent = -9; exponent <= 23; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    for (const double v : {Below(power), power, Above(power)}) same = same && Same(v);
    // An even and an odd number, with short decimals halfway to their neighbours.
    for (int i = 0; i < 20'000; ++i) same = same && Same(power + std::ldexp(i, exponent - 52));
  }
  for (const double v : {1e-3, 0.01, 0.1, 1.0, 9.0, 10.0, 99.0, 100.0, 1e6, 9999999.0}) {
    same = same && Same(v) && Same(Above(v)) && (v == 1e-3 || Same(Below(v)));
  }
  CHECK(same);
}

TEST_CASE("numbers out of the range are left to other code") {
  for (const double v : {0.0, -0.0, 1e7, -1e7, Below(1e-3), 1e300, 5e-324, HUGE_VAL, -HUGE_VAL,
                         std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(Printed(v) == "none");
  }
  CHECK(Printed(-42.5) == "-42.5");
  CHECK(Printed(Below(1e7)) == "9999999.999999998");
}

}  // namespace hg
