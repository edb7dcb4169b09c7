#include "storage/model/java_digits.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>

#include "storage/model/number_text.h"
#include "tests/storage/model/printed_numbers.h"

namespace hg {
namespace {

constexpr double D(uint64_t bits) { return std::bit_cast<double>(bits); }
constexpr float F(uint32_t bits) { return std::bit_cast<float>(bits); }

// Printed by OpenJDK 17.
TEST_CASE("doubles have the digits of Double.toString before JDK 19") {
  CheckPrinted<double>(
      AppendJavaDouble,
      {
          {D(0x1), "4.9E-324"},
          {D(0x2), "1.0E-323"},
          {D(0x3), "1.5E-323"},
          {D(0x12), "8.9E-323"},
          {D(0x8000000000000), "1.1125369292536007E-308"},
          {D(0x10000000000000), "2.2250738585072014E-308"},
          {D(0x3a00000000000000), "2.5243548967072378E-29"},  // a power of two
          {D(0x3eb0000000000000), "9.5367431640625E-7"},
          {D(0x4820000000000000), "2.7222589353675077E39"},
          {D(0x4448bb8853436c58), "9.124700000000001E20"},  // 9.1247E20 is halfway
          {D(0x4461425737ad4cfe), "2.5470000000000003E21"},
          {D(0x44c52d02c7e14af6), "1.9999999999999998E23"},
          {D(0x44b52d02c7e14af6), "9.999999999999999E22"},
          {D(0x447c7e83209e90b2), "8.409999999999999E21"},
          {D(0x4480f0cf064dd592), "1.0E22"},
          {D(0x43e0000000000000), "9.223372036854776E18"},
          {D(0x43f0000000000000), "1.8446744073709552E19"},
          {D(0x43cf344c635abdf8), "4.4970122071451853E18"},  // an integer of more than 53 bits
          {D(0x437b69b4ba630f35), "1.2345678901234568E17"},
          {D(0x7fefffffffffffff), "1.7976931348623157E308"},
          {D(0x3ee4f8b588e368f1), "1.0E-5"},
          {D(0x3fd3333333333333), "0.3"},
      });
}

TEST_CASE("floats have the digits of Float.toString before JDK 19") {
  CheckPrinted<float>(AppendJavaFloat,
                      {
                          {F(0x1), "1.4E-45"},
                          {F(0x14800000), "1.2924697E-26"},
                          {F(0x38d1b717), "1.0E-4"},
                          {F(0x3dcccccd), "0.1"},
                          {F(0x42c7cccd), "99.9"},
                          {F(0x4b800000), "1.6777216E7"},
                          {F(0x4c000000), "3.3554432E7"},
                          {F(0x4d800000), "2.68435456E8"},  // an integer of more than 24 bits
                          {F(0x4ceb79a3), "1.23456792E8"},
                          {F(0x4e932c06), "1.23456794E9"},
                          {F(0x501502f9), "1.0E10"},
                          {F(0x55f74477), "3.39841783E13"},
                          {F(0x5ef9ccd9), "9.0000002E18"},
                          {F(0x60ad78ec), "1.0E20"},
                          {F(0x61000000), "1.4757395E20"},
                          {F(0x7f7fffff), "3.4028235E38"},
                          {F(0x40866666), "4.2"},
                      });
}

}  // namespace
}  // namespace hg
