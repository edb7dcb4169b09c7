// 20 seeds of 100,000 random operations against the model (region-store.md §12). A longer run by
// hand:
//   HG_HISTORY_STEPS=1000000 build/release/random_history_test
// To repeat one history: HG_HISTORY_SEED=7.

#include "tests/fault/random_history.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace hg {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST_CASE(
    "after random writes, region splits and merges, flushes, restarts and clock steps, the "
    "engine equals the model") {
  const uint64_t only = FromEnvironment("HG_HISTORY_SEED", 0);
  HistoryOptions options;
  options.steps = FromEnvironment("HG_HISTORY_STEPS", options.steps);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = only != 0 ? only : seed;
    const auto failure = RunHistory(options);
    if (failure) FAIL(failure->text);
    if (only != 0) break;
  }
}

TEST_CASE(
    "the random history test detects a store that ignores row deletes, and reduces the "
    "history to the needed steps") {
  HistoryOptions options;
  options.steps = 3000;
  options.forget_row_deletes = true;
  const auto failure = RunHistory(options);
  REQUIRE(failure);
  INFO(failure->text);
  CHECK(failure->steps.size() <= 4);
  CHECK(failure->text.find("delete a row") != std::string::npos);
  CHECK(failure->text.find("seed 1,") != std::string::npos);
}

}  // namespace
}  // namespace hg
