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

/// Immutable value.
struct Matcher {
  std::string label;
  MatchKind kind = MatchKind::kEqual;
  std::string value;
  // Of kMatches and kMatchesNot: the pattern, or else, sorted, all texts that match.
  std::shared_ptr<const AnchoredPattern> pattern;
  std::vector<std::string> choices = {};

  /// InvalidArgument: the value is no regular expression. Busy: it may not be compiled on a loop.
  static Result<Matcher> Make(std::string label, MatchKind kind, std::string value);

  /// All values that the label may have, where they are named: = or a regular expression of nothing
  /// but a choice. Empty: they are not.
  [[nodiscard]] std::span<const std::string> Choices() const;
  /// Whether the label may have that value; "" is that of a series without the label.
  [[nodiscard]] bool Admits(std::string_view text) const;

 private:
  [[nodiscard]] bool Matches(std::string_view text) const;
};

using Matchers = std::vector<Matcher>;

/// Whether one of them refuses series that do not have its label: others would select everything.
bool SaysSomething(const Matchers& matchers);

}  // namespace hg::query::promql
