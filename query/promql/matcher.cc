#include "query/promql/matcher.h"

#include <algorithm>
#include <utility>

namespace hg::query::promql {

Result<Matcher> Matcher::Make(std::string label, MatchKind kind, std::string value) {
  Matcher matcher{std::move(label), kind, std::move(value), nullptr};
  if (kind == MatchKind::kMatches || kind == MatchKind::kMatchesNot) {
    ASSIGN_OR_RETURN(matcher.pattern, AnchoredPattern::Compile(matcher.value));
  }
  return matcher;
}

bool Matcher::Admits(std::string_view text) const {
  switch (kind) {
    case MatchKind::kEqual:
      return text == value;
    case MatchKind::kNotEqual:
      return text != value;
    case MatchKind::kMatches:
      return pattern->Matches(text);
    case MatchKind::kMatchesNot:
      return !pattern->Matches(text);
  }
  return false;
}

bool SaysSomething(const Matchers& matchers) {
  return std::any_of(matchers.begin(), matchers.end(),
                     [](const Matcher& matcher) { return !matcher.Admits(""); });
}

}  // namespace hg::query::promql
