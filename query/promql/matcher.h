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

  /// Makes a matcher. InvalidArgument: the value is not a valid regular expression. Busy: `context`
  /// is on an event loop, where patterns may not be compiled. Work is reported to `context`, and a
  /// pattern stays charged to it until the request ends. Also fails with errors of `context`.
  static Result<Matcher> Make(std::string label, MatchKind kind, std::string value,
                              RequestContext& context = RequestContext::Unlimited());

  /// If the matcher lists all values that it admits (=, and regular expressions that only list
  /// texts), returns these values. Otherwise returns an empty span.
  [[nodiscard]] std::span<const std::string> Choices() const;
  /// Returns whether the matcher admits the value. "" stands for a series without the label.
  /// Reports the work to `context`. Fails like AnchoredPattern::Matches.
  Result<bool> Admits(std::string_view text, RequestContext& context) const;
  /// Like Admits with a context, but reports no work. Returns false for a text that is too long for
  /// the pattern.
  [[nodiscard]] bool Admits(std::string_view text) const;

 private:
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
};

using Matchers = std::vector<Matcher>;

/// Returns whether at least one matcher excludes series without its label. If none does, the
/// matchers could select every series, which Prometheus does not allow.
bool SaysSomething(const Matchers& matchers);

}  // namespace hg::query::promql
