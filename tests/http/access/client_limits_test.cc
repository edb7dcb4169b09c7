#include "http/access/client_limits.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/manual_clock.h"

namespace hg::http {
namespace {

constexpr int kAddresses = 65536;
const ClientLimitOptions kOnePointASecond = {.points_per_s = 1, .new_series_per_hour = 0};

std::string Address(int number) { return "10.0." + std::to_string(number); }

}  // namespace

TEST_CASE(
    "an address is remembered while it is over its limit, however many other addresses connect") {
  ManualClock clock(1'700'000'000'000);
  ClientLimits limits(kOnePointASecond, clock);
  limits.OfAddress("busy")->ChargePoints(100);
  for (int i = 0; i < 2 * kAddresses; ++i) {
    if (i % kAddresses == 0) clock.AdvanceMs(2000);
    CHECK(limits.OfAddress(Address(i))->AskForPoints(1).ok());
  }
  CHECK(limits.clients() <= kAddresses);
  CHECK(limits.OfAddress("busy")->AskForPoints(1).code() == StatusCode::kLimitExceeded);
}

TEST_CASE("addresses beyond the maximum share one limit, and users have their own") {
  ManualClock clock(1'700'000'000'000);
  ClientLimits limits(kOnePointASecond, clock);
  for (int i = 0; i < kAddresses; ++i) limits.OfAddress(Address(i))->ChargePoints(10);
  const auto one = limits.OfAddress("one"), another = limits.OfAddress("another");
  CHECK(one == another);
  one->ChargePoints(2);
  const Status refused = another->AskForPoints(1);
  CHECK(refused.code() == StatusCode::kLimitExceeded);
  CHECK(refused.message() == "every address beyond 65536 together may write 1 points a second");
  CHECK(limits.OfUser("one")->AskForPoints(1).ok());
  clock.AdvanceMs(11'000);
  CHECK(limits.OfAddress("one") != limits.OfAddress("another"));
}

}  // namespace hg::http
