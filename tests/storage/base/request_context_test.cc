#include "storage/base/request_context.h"

#include <doctest/doctest.h>

#include <thread>

namespace hg {
namespace {

class LoopContext final : public RequestContext {
 public:
  LoopContext() { StayOnLoop(); }
  Status Step(uint64_t) override { return {}; }
  Status Charge(int64_t) override { return {}; }
};

}  // namespace

TEST_CASE("only a request on an event loop may not wait, on every thread that works for it") {
  CHECK(RequestContext::Unlimited().MayWait().ok());
  CHECK_FALSE(RequestContext::Unlimited().on_loop());
  LoopContext first, second;
  CHECK(first.on_loop());
  CHECK_FALSE(first.refused());
  std::thread([&] {
    CHECK(RequestContext::Unlimited().MayWait().ok());
    CHECK(first.MayWait().code() == StatusCode::kBusy);
  }).join();
  CHECK(first.refused());
  CHECK_FALSE(second.refused());
  CHECK_FALSE(RequestContext::Unlimited().refused());
}

}  // namespace hg
