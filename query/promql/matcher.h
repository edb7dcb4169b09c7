#pragma once
// One condition on one label of a selector.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/promql/anchored_pattern.h"
#include "storage/base/status.h"

namespace hg::query::promql {

enum class MatchKind : unsigned char { kEqual, kNotEqual, kMatches, kMatchesNot };

/// Immutable.
struct Matcher {
  std::string label;
  MatchKind kind = MatchKind::kEqual;
  std::string value;
  // For kMatches and kMatchesNot, either `pattern` or `choices` is set. `choices` is the sorted
  // list of all texts that match.
  std::shared_ptr<const AnchoredPattern> pattern;
  std::vector<std::string> choices = {};

  /// Makes a matcher. InvalidArgument: the value is not a valid regular expression. Busy: a pattern
  /// may not be compiled on an event loop. Work and memory are reported to `context`; a pattern
  /// stays charged until the request ends. Also fails with errors of `context`.
  static Result<Matcher> Make(std::string label, MatchKind kind, std::string value,
                              RequestContext& context = RequestContext::Unlimited());

  /// Returns all values that the label may have, if the matcher lists them: for = and for regular
  /// expressions that only list texts. Returns an empty span for other matchers.
  [[nodiscard]] std::span<const std::string> Choices() const;
  /// Returns whether the label may have the value. "" stands for a series without the label.
  /// Reports the work to `context`. Fails like AnchoredPattern::Matches.
  Result<bool> Admits(std::string_view text, RequestContext& context) const;
  /// Like Admits with a context, but reports no work. A text that is too long for the pattern is
  /// not admitted.
  [[nodiscard]] bool Admits(std::string_view text) const;

 private:
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
};

using Matchers = std::vector<Matcher>;

/// Returns whether some matcher excludes series without its label. If none does, the matchers could
/// select every series, which Prometheus does not allow.
bool SaysSomething(const Matchers& matchers);

}  // namespace hg::query::promql
