#pragma once
// Runs files of test cases in the notation of Prometheus' promqltest: "load", "eval" and "clear".
// The project's own PromQL tests use this notation. The tests of Prometheus also use this notation;
// they run if they can be fetched (tests/compat/promql/upstream.py).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query::promql {

enum class CaseEnd : unsigned char {
  kPassed,
  kFailed,
  kUnsupported,  // the case needs a PromQL feature that Hourglass excludes (docs/promql.md)
};

/// The result of one "eval" command in a file of test cases.
struct CaseResult {
  size_t line = 0;  // number of the line in the file; the first line is 1
  std::string command;
  CaseEnd end = CaseEnd::kPassed;
  std::string why;  // the reason of the result; empty for kPassed
};

/// Evaluates each case as it is written. An instant query is evaluated again in three other forms:
/// as FormatExpression prints it, as the middle of a range query, and with all its selectors fixed
/// by "@". Formatting the printed text again must not change the text. The texts of errors are not
/// compared, because Hourglass has its own texts. If a command cannot be parsed, its result is
/// kFailed.
std::vector<CaseResult> RunCases(std::string_view text);

}  // namespace hg::query::promql
