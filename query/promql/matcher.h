#pragma once
// A label matcher: one condition on one label of a selector.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/promql/anchored_pattern.h"
#include "storage/base/status.h"

namespace hg::query::promql {

enum class MatchKind : unsigned char { kEqual, kNotEqual, kMatches, kMatchesNot };

/// A label matcher. It is immutable.
struct Matcher {
  std::string label;
  MatchKind kind = MatchKind::kEqual;
  std::string value;
  // `pattern` is the compiled regular expression. `choices` is the sorted list of all texts that
  // the regular expression matches, if it only lists literal texts. For kMatches and kMatchesNot,
  // exactly one of them is set.
  std::shared_ptr<const AnchoredPattern> pattern;
  std::vector<std::string> choices = {};

  /// Creates a matcher. Charges the work to `context`. The memory of a compiled pattern stays
  /// charged to `context` until the request ends. InvalidArgument: the value is not a valid regular
  /// expression. Busy: the pattern must be compiled, and this thread is an event loop
  /// (RequestContext::MayWait). Also returns the errors of `context`.
  static Result<Matcher> Make(std::string label, MatchKind kind, std::string value,
                              RequestContext& context = RequestContext::Unlimited());

  /// Returns the list of all values that the matcher accepts, if this list is known. It is known
  /// for the operator = and for a regular expression that only lists literal texts. Otherwise
  /// returns an empty span.
  [[nodiscard]] std::span<const std::string> Choices() const;
  /// Returns whether the matcher accepts a label value. `text` is "" for a series that does not
  /// have the label. Charges the work to `context`. Returns the errors of AnchoredPattern::Matches.
  Result<bool> Admits(std::string_view text, RequestContext& context) const;
  /// Returns whether the matcher accepts a label value, as Admits with `context` does, but charges
  /// no work. Returns false for a text that is too long for the pattern.
  [[nodiscard]] bool Admits(std::string_view text) const;

 private:
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
};

using Matchers = std::vector<Matcher>;

/// Returns whether at least one matcher rejects series that do not have its label. Prometheus does
/// not allow a selector without a matcher of this kind, because it could select every series.
bool SaysSomething(const Matchers& matchers);

}  // namespace hg::query::promql
