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
  kUnsupported,  // the case needs a feature that docs/promql.md excludes
};

/// The result of one "eval" command.
struct CaseResult {
  size_t line = 0;  // number of the line in the file, from 1
  std::string command;
  CaseEnd end = CaseEnd::kPassed;
  std::string why;  // the reason; empty for kPassed
};

/// Evaluates each case as it is written. An instant query is also evaluated as FormatExpression
/// prints it, as the middle of a range, and with all its selectors fixed by "@". Formatting the
/// printed text again must not change it. Texts of errors are not compared, because Hourglass has
/// its own texts. The result of a command that cannot be parsed is kFailed.
std::vector<CaseResult> RunCases(std::string_view text);

}  // namespace hg::query::promql
