#pragma once
// Runs files of cases in the notation of Prometheus' promqltest: "load", "eval" and "clear". The
// project's own PromQL tests use this notation. So do the tests of Prometheus, which run if they
// can be fetched (tests/compat/promql/upstream.py).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query::promql {

enum class CaseEnd : unsigned char {
  kPassed,
  kFailed,
  kUnsupported,  // fails because it needs what docs/promql.md excludes
};

/// The result of one "eval" command.
struct CaseResult {
  size_t line = 0;  // from 1
  std::string command;
  CaseEnd end = CaseEnd::kPassed;
  std::string why;  // empty for kPassed
};

/// Evaluates each case as it is written and, at an instant, as FormatExpression writes it.
/// Formatting that text again must not change it. An instant is also evaluated as the middle of a
/// range, and with all its selectors fixed by "@". Texts of errors are not compared, because
/// Hourglass has its own texts. A command that cannot be read is a result with the end kFailed.
std::vector<CaseResult> RunCases(std::string_view text);

}  // namespace hg::query::promql
