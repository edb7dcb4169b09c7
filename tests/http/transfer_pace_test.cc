#include "http/transfer_pace.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

/// Seconds until a client that takes `bytes_per_s` all the time is cut off, `limit_s` if it is not.
int64_t Lasts(uint64_t bytes_per_s, int64_t limit_s) {
  TransferPace pace(kSlowReplyBytes);
  for (int64_t at = 0; at < limit_s; ++at)
    if (pace.TooSlow(1000 + at, true, static_cast<uint64_t>(at) * bytes_per_s)) return at;
  return limit_s;
}

constexpr uint64_t kLeastPerS = kSlowReplyBytes / kSlowTransferS;

TEST_CASE("a client that takes next to nothing is cut off after a minute") {
  CHECK(Lasts(0, 600) == kSlowTransferS + 1);
  CHECK(Lasts(kLeastPerS / 2, 600) == kSlowTransferS + 1);
}

TEST_CASE("just above the least a client has its ten minutes, and twice the rate gives ten more") {
  for (int doublings = 0; doublings < 5; ++doublings) {
    const int64_t lasts = Lasts((kLeastPerS + 1) << doublings, 100'000);
    CHECK(lasts > kSlowTransferDoublesS * (doublings + 1));
    CHECK(lasts <= kSlowTransferDoublesS * (doublings + 1) + 2 * (kSlowTransferS + 1));
  }
}

TEST_CASE("a client on a line of a megabit gets more than 300 MB") {
  constexpr uint64_t kMegabit = 1'000'000 / 8;
  CHECK(Lasts(kMegabit, 100'000) * static_cast<int64_t>(kMegabit) > 300'000'000);
}

TEST_CASE("time counts while the reply waits, and neither pauses nor fast moments win it back") {
  TransferPace pace(kSlowReplyBytes);
  int64_t now = 0;
  // The handler works for hours, the client has taken all there is.
  for (int i = 0; i < 100; ++i) CHECK_FALSE(pace.TooSlow(now += 100, false, 5000));
  CHECK_FALSE(pace.TooSlow(now += 1, true, 5000));
  CHECK_FALSE(pace.TooSlow(now += kSlowTransferS, true, 5000));
  CHECK_FALSE(pace.TooSlow(now += 1, false, 6000));
  CHECK_FALSE(pace.TooSlow(now += 1000, true, 6000));
  CHECK(pace.TooSlow(now += 1, true, 6000));
}

TEST_CASE("each reply begins anew") {
  TransferPace pace(kSlowReplyBytes);
  CHECK_FALSE(pace.TooSlow(1, true, 0));
  CHECK_FALSE(pace.TooSlow(1 + kSlowTransferS, true, 0));
  pace.End();
  CHECK_FALSE(pace.TooSlow(2 + kSlowTransferS, true, 0));
  CHECK_FALSE(pace.TooSlow(1 + 2 * kSlowTransferS, true, 0));
}

}  // namespace
}  // namespace hg::http
