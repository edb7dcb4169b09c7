#include "tsd/tools/pacer.h"

#include <doctest/doctest.h>

namespace hg::tsd {
namespace {

using std::chrono::milliseconds;

TEST_CASE("reads wait for the time of earlier reads, however many callers there are") {
  const Pacer::Time now{std::chrono::hours(1)};
  Pacer pacer(1'000'000);
  CHECK(pacer.TurnOf(500'000, now) == now);
  CHECK(pacer.TurnOf(250'000, now) == now + milliseconds(500));
  CHECK(pacer.TurnOf(1, now + milliseconds(600)) == now + milliseconds(750));
}

TEST_CASE("unused time is not saved for later reads") {
  const Pacer::Time now{std::chrono::hours(1)};
  Pacer pacer(1'000'000);
  CHECK(pacer.TurnOf(500'000, now) == now);
  const Pacer::Time later = now + std::chrono::seconds(60);
  CHECK(pacer.TurnOf(500'000, later) == later);
  CHECK(pacer.TurnOf(1, later) == later + milliseconds(500));
}

}  // namespace
}  // namespace hg::tsd
