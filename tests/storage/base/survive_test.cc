#include "storage/base/survive.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/fault/starve.h"

namespace hg {

TEST_CASE("the result of the work is returned, and an exception becomes a failure") {
  CHECK(Survive([] {}).ok());
  CHECK(Survive([] { return Status::Busy("full"); }).code() == StatusCode::kBusy);
  CHECK(*Survive([] { return Result<int>(3); }) == 3);
  const Status status = Survive([] { throw std::runtime_error("no thread"); });
  CHECK(status.ToString() == "unavailable: broken off: no thread");
  const Result<int> result = Survive([]() -> Result<int> { throw std::bad_alloc(); });
  CHECK(result.status().code() == StatusCode::kUnavailable);
}

TEST_CASE("running out of memory becomes a failure even without memory for the message") {
  int poor = 0;
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    Status status;
    REQUIRE(Starve(n, &failed, [&] {
      status = Survive([] { throw std::bad_alloc(); });
      return Status();
    }));
    CHECK(status.code() == StatusCode::kUnavailable);
    CHECK(status.message().starts_with("broken off"));
    poor += failed ? 1 : 0;
  }
  CHECK(poor > 0);
}

}  // namespace hg
