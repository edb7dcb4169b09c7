#include "storage/base/survive.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/fault/starve.h"

namespace hg {

TEST_CASE("what work returns comes back, and what it throws is a failure that says so") {
  CHECK(Survive([] {}).ok());
  CHECK(Survive([] { return Status::Busy("full"); }).code() == StatusCode::kBusy);
  CHECK(*Survive([] { return Result<int>(3); }) == 3);
  const Status status = Survive([] { throw std::runtime_error("no thread"); });
  CHECK(status.ToString() == "unavailable: broken off: no thread");
  const Result<int> result = Survive([]() -> Result<int> { throw std::bad_alloc(); });
  CHECK(result.status().code() == StatusCode::kUnavailable);
}

TEST_CASE("a want of memory is a failure even where there is no memory to say so") {
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
