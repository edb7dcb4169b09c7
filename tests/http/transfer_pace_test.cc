#include "http/server/transfer_pace.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

/// Returns the seconds until a client that always takes `bytes_per_s` is disconnected; `limit_s` if
/// it is not.
int64_t Lasts(uint64_t bytes_per_s, int64_t limit_s) {
  TransferPace pace(kSlowReplyBytes);
  for (int64_t at = 0; at < limit_s; ++at)
    if (pace.TooSlow(1000 + at, true, static_cast<uint64_t>(at) * bytes_per_s)) return at;
  return limit_s;
}

constexpr uint64_t kLeastPerS = kSlowReplyBytes / kSlowTransferS;

TEST_CASE("a client that reads almost nothing is disconnected after a minute") {
  CHECK(Lasts(0, 600) == kSlowTransferS + 1);
  CHECK(Lasts(kLeastPerS / 2, 600) == kSlowTransferS + 1);
}

TEST_CASE(
    "a client just above the minimum rate has ten minutes, and each doubling of the rate "
    "gives ten more") {
  for (int doublings = 0; doublings < 5; ++doublings) {
    const int64_t lasts = Lasts((kLeastPerS + 1) << doublings, 100'000);
    CHECK(lasts > kSlowTransferDoublesS * (doublings + 1));
    CHECK(lasts <= kSlowTransferDoublesS * (doublings + 1) + 2 * (kSlowTransferS + 1));
  }
}

TEST_CASE("a client with one megabit per second gets more than 300 MB") {
  constexpr uint64_t kMegabit = 1'000'000 / 8;
  CHECK(Lasts(kMegabit, 100'000) * static_cast<int64_t>(kMegabit) > 300'000'000);
}

TEST_CASE("only waiting time counts, and neither pauses nor fast phases reset it") {
  TransferPace pace(kSlowReplyBytes);
  int64_t now = 0;
  // The handler works for hours, and the client has taken everything.
  for (int i = 0; i < 100; ++i) CHECK_FALSE(pace.TooSlow(now += 100, false, 5000));
  CHECK_FALSE(pace.TooSlow(now += 1, true, 5000));
  CHECK_FALSE(pace.TooSlow(now += kSlowTransferS, true, 5000));
  CHECK_FALSE(pace.TooSlow(now += 1, false, 6000));
  CHECK_FALSE(pace.TooSlow(now += 1000, true, 6000));
  CHECK(pace.TooSlow(now += 1, true, 6000));
}

TEST_CASE("each response starts with a new measurement") {
  TransferPace pace(kSlowReplyBytes);
  CHECK_FALSE(pace.TooSlow(1, true, 0));
  CHECK_FALSE(pace.TooSlow(1 + kSlowTransferS, true, 0));
  pace.End();
  CHECK_FALSE(pace.TooSlow(2 + kSlowTransferS, true, 0));
  CHECK_FALSE(pace.TooSlow(1 + 2 * kSlowTransferS, true, 0));
}

}  // namespace
}  // namespace hg::http
