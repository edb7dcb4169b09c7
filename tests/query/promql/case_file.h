#pragma once
// Runs files of test cases in the notation of Prometheus' promqltest: "load", "eval" and "clear".
// The PromQL tests of this project use the notation. Prometheus' own tests use it as well; they run
// if they can be downloaded (tests/compat/promql/upstream.py).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query::promql {

enum class CaseEnd : unsigned char {
  kPassed,
  kFailed,
  kUnsupported,  // the case needs a PromQL feature that Hourglass does not support (docs/promql.md)
};

/// The result of one "eval" command in a file of test cases.
struct CaseResult {
  size_t line = 0;  // number of the line in the file; the first line is 1
  std::string command;
  CaseEnd end = CaseEnd::kPassed;
  std::string why;  // the reason for kFailed or kUnsupported; empty for kPassed
};

/// Runs the test cases in `text` and returns one result for each case. Each case is evaluated as it
/// is written. An instant query is evaluated again in three other forms: as FormatExpression prints
/// it, as the middle of a range query, and with all its selectors fixed by "@". Formatting the
/// printed text again must not change the text. The texts of errors are not compared, because
/// Hourglass has its own texts. If a command cannot be parsed, its result is kFailed.
std::vector<CaseResult> RunCases(std::string_view text);

}  // namespace hg::query::promql
