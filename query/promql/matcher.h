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
  // The regular expression. For kMatches and kMatchesNot, either `pattern` or `choices` is set.
  // `choices` is the sorted list of all texts that match.
  std::shared_ptr<const AnchoredPattern> pattern;
  std::vector<std::string> choices = {};

  /// Makes a matcher. Charges the work to `context`. The memory of a compiled pattern stays charged
  /// to `context` until the request ends. InvalidArgument: the value is not a valid regular
  /// expression. Busy: `context` belongs to an event loop, where patterns may not be compiled. Also
  /// fails if `context` reports an error.
  static Result<Matcher> Make(std::string label, MatchKind kind, std::string value,
                              RequestContext& context = RequestContext::Unlimited());

  /// If the matcher accepts only a known list of values (operator =, or a regular expression that
  /// only lists texts), returns these values. Otherwise returns an empty span.
  [[nodiscard]] std::span<const std::string> Choices() const;
  /// Returns whether the matcher accepts a value. The value "" means that the series lacks the
  /// label. Charges the work to `context`. Returns the errors of AnchoredPattern::Matches.
  Result<bool> Admits(std::string_view text, RequestContext& context) const;
  /// Returns whether the matcher accepts a value, as the function with `context` does, but charges
  /// no work. Returns false for a text that is too long for the pattern.
  [[nodiscard]] bool Admits(std::string_view text) const;

 private:
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
};

using Matchers = std::vector<Matcher>;

/// Returns whether at least one matcher rejects series that lack its label. If no matcher does so,
/// the matchers could select every series, which Prometheus does not allow.
bool SaysSomething(const Matchers& matchers);

}  // namespace hg::query::promql
