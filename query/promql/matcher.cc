#include "query/promql/matcher.h"

#include <algorithm>
#include <utility>

namespace hg::query::promql {

Result<Matcher> Matcher::Make(std::string label, MatchKind kind, std::string value,
                              RequestContext& context) {
  Matcher matcher{std::move(label), kind, std::move(value), nullptr};
  if (kind != MatchKind::kMatches && kind != MatchKind::kMatchesNot) return matcher;
  matcher.choices = LiteralChoices(matcher.value);
  if (matcher.choices.empty()) {
    ASSIGN_OR_RETURN(matcher.pattern, AnchoredPattern::Compile(matcher.value, context));
  }
  return matcher;
}

std::span<const std::string> Matcher::Choices() const {
  if (kind == MatchKind::kEqual) return {&value, 1};
  if (kind == MatchKind::kMatches) return choices;
  return {};
}

Result<bool> Matcher::Matches(std::string_view text, RequestContext& context) const {
  if (pattern != nullptr) return pattern->Matches(text, context);
  return std::binary_search(choices.begin(), choices.end(), text);
}

bool Matcher::Admits(std::string_view text) const {
  const Result<bool> admitted = Admits(text, RequestContext::Unlimited());
  return admitted.ok() && *admitted;
}

Result<bool> Matcher::Admits(std::string_view text, RequestContext& context) const {
  constexpr uint64_t kStepsPerMatcher = 2;
  RETURN_IF_ERROR(context.Step(kStepsPerMatcher + text.size() / 16));
  switch (kind) {
    case MatchKind::kEqual:
      return text == value;
    case MatchKind::kNotEqual:
      return text != value;
    case MatchKind::kMatches:
      return Matches(text, context);
    case MatchKind::kMatchesNot: {
      ASSIGN_OR_RETURN(const bool matches, Matches(text, context));
      return !matches;
    }
  }
  return false;
}

bool SaysSomething(const Matchers& matchers) {
  return std::any_of(matchers.begin(), matchers.end(),
                     [](const Matcher& matcher) { return !matcher.Admits(""); });
}

}  // namespace hg::query::promql
