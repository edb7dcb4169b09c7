#include "query/promql/matcher.h"

#include <algorithm>
#include <utility>

namespace hg::query::promql {

Result<Matcher> Matcher::Make(std::string label, MatchKind kind, std::string value) {
  Matcher matcher{std::move(label), kind, std::move(value), nullptr};
  if (kind != MatchKind::kMatches && kind != MatchKind::kMatchesNot) return matcher;
  matcher.choices = LiteralChoices(matcher.value);
  if (matcher.choices.empty()) {
    ASSIGN_OR_RETURN(matcher.pattern, AnchoredPattern::Compile(matcher.value));
  }
  return matcher;
}

std::span<const std::string> Matcher::Choices() const {
  if (kind == MatchKind::kEqual) return {&value, 1};
  if (kind == MatchKind::kMatches) return choices;
  return {};
}

bool Matcher::Matches(std::string_view text) const {
  if (pattern != nullptr) return pattern->Matches(text);
  return std::binary_search(choices.begin(), choices.end(), text);
}

bool Matcher::Admits(std::string_view text) const {
  switch (kind) {
    case MatchKind::kEqual:
      return text == value;
    case MatchKind::kNotEqual:
      return text != value;
    case MatchKind::kMatches:
      return Matches(text);
    case MatchKind::kMatchesNot:
      return !Matches(text);
  }
  return false;
}

bool SaysSomething(const Matchers& matchers) {
  return std::any_of(matchers.begin(), matchers.end(),
                     [](const Matcher& matcher) { return !matcher.Admits(""); });
}

}  // namespace hg::query::promql
