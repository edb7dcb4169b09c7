// PromQL cases written for this project, and tests that the runner of case files reports wrong
// results.

#include "tests/query/promql/case_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace hg::query::promql {
namespace {

/// The reasons of all cases that did not pass.
std::string WhyNot(const std::string& text) {
  std::string out;
  for (const CaseResult& result : RunCases(text)) {
    if (result.end != CaseEnd::kPassed)
      out += std::to_string(result.line) + ": " + result.command + ": " + result.why + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("the PromQL cases of this project pass") {
  std::ifstream in(HG_SOURCE_DIR "/tests/query/promql/cases.test");
  REQUIRE(in);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(RunCases(text).size() > 50);
  CHECK(WhyNot(text) == "");
}

TEST_CASE("a case with a wrong result fails") {
  const std::string load = "load 10s\n  m{a=\"1\"} 1 2 3\n\n";
  for (const char* wrong : {
           "eval instant at 20s m\n  m{a=\"1\"} 4\n",
           "eval instant at 20s m\n",
           "eval instant at 20s m\n  m 3\n",
           "eval instant at 20s m\n  m{a=\"1\"} 3\n  m{a=\"2\"} 3\n",
           "eval instant at 20s m\n  expect fail\n",
           "eval instant at 20s rate(m[1m])\n  expect no_info\n  {a=\"1\"} 0.05\n",
           "eval instant at 20s sum_over_time(m[1m])\n  expect warn\n  {a=\"1\"} 6\n",
           "eval instant at 20s 1 + 1\n  3\n",
           "eval range from 0s to 20s step 10s m\n  m{a=\"1\"} 1 2 4\n",
           "eval range from 0s to 20s step 10s m\n  m{a=\"1\"} 1 _ 3\n",
           "eval sometimes m\n",
       }) {
    CAPTURE(wrong);
    const auto results = RunCases(load + wrong);
    REQUIRE(results.size() == 1);
    CHECK(results[0].end == CaseEnd::kFailed);
    CHECK(results[0].line == 4);
  }
}

TEST_CASE("a case that needs an unsupported feature is reported as unsupported, not as failed") {
  const auto results = RunCases(
      "load 10s\n  h {{schema:0 count:1}}x3\n  m 1\n\n"
      "eval instant at 20s h\n  h {{schema:0 count:1}}\n\n"
      "eval instant at 20s limitk(1, m)\n  m 1\n\n"
      "eval instant at 20s m\n  m 1\n");
  REQUIRE(results.size() == 3);
  CHECK(results[0].end == CaseEnd::kUnsupported);
  CHECK(results[1].end == CaseEnd::kUnsupported);
  CHECK(results[2].end == CaseEnd::kPassed);
}

}  // namespace hg::query::promql
