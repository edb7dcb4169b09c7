#include "storage/base/no_wait.h"

#include <doctest/doctest.h>

#include <thread>

namespace hg {

TEST_CASE("waiting is refused only within a scope, and the innermost scope records it") {
  CHECK(NoWait::MayWait().ok());
  CHECK_FALSE(NoWait::Refuse());
  {
    NoWait outer;
    CHECK_FALSE(outer.refused());
    {
      NoWait inner;
      CHECK(NoWait::MayWait().code() == StatusCode::kBusy);
      CHECK(inner.refused());
    }
    CHECK_FALSE(outer.refused());
    CHECK(NoWait::Refuse());
    CHECK(outer.refused());
  }
  CHECK(NoWait::MayWait().ok());
}

TEST_CASE("a scope applies to its thread and to threads that help it") {
  NoWait scope;
  std::thread([&] {
    CHECK(NoWait::MayWait().ok());
    {
      NoWait::Shared shared(nullptr);
      CHECK(NoWait::MayWait().ok());
    }
    CHECK_FALSE(scope.refused());
    {
      NoWait::Shared shared(&scope);
      CHECK(NoWait::Refuse());
    }
    CHECK(NoWait::MayWait().ok());
  }).join();
  CHECK(scope.refused());
}

}  // namespace hg
