#include "query/promql/selector_parser.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "query/promql/duration_text.h"
#include "query/promql/labels.h"
#include "query/promql/number_text.h"
#include "query/promql/parser.h"
#include "storage/base/invariant.h"

namespace hg::query::promql {
namespace {

Result<MatchKind> TakeMatchKind(TokenStream* tokens) {
  if (tokens->Take("=")) return MatchKind::kEqual;
  if (tokens->Take("!=")) return MatchKind::kNotEqual;
  if (tokens->Take("=~")) return MatchKind::kMatches;
  if (tokens->Take("!~")) return MatchKind::kMatchesNot;
  return tokens->Unexpected("in label matching", "one of = != =~ !~");
}

/// Parses one matcher, or the metric name in quotes.
Status TakeMatcher(TokenStream* tokens, Matchers* matchers) {
  const Token name = tokens->Next();
  const Token& next = tokens->Peek();
  if (name.kind == TokenKind::kString && (next.Is(",") || next.Is("}"))) {
    matchers->push_back({std::string(kNameLabel), MatchKind::kEqual, name.text, nullptr});
    return {};
  }
  ASSIGN_OR_RETURN(const MatchKind kind, TakeMatchKind(tokens));
  if (tokens->Peek().kind != TokenKind::kString)
    return tokens->Unexpected("in label matching", "a quoted text");
  const Token value = tokens->Next();
  const bool pattern = kind == MatchKind::kMatches || kind == MatchKind::kMatchesNot;
  if (pattern && tokens->CountPattern() > kPatternsMax) {
    return tokens->Fail(value.at,
                        "more than " + std::to_string(kPatternsMax) + " regular expressions");
  }
  Result<Matcher> matcher = Matcher::Make(name.text, kind, value.text, tokens->context());
  if (matcher.status().code() == StatusCode::kInvalidArgument)
    return tokens->Fail(value.at, matcher.status());
  RETURN_IF_ERROR(matcher.status());
  matchers->push_back(std::move(*matcher));
  return {};
}

Status TakeMatchers(TokenStream* tokens, Matchers* matchers) {
  while (!tokens->Take("}")) {
    const size_t before = tokens->place();
    const Token& name = tokens->Peek();
    if (name.kind != TokenKind::kIdentifier &&
        (name.kind != TokenKind::kString || name.text.empty()))
      return tokens->Unexpected("in label matching", "the name of a label or \"}\"");
    RETURN_IF_ERROR(TakeMatcher(tokens, matchers));
    if (!tokens->Take(",") && !tokens->Peek().Is("}"))
      return tokens->Unexpected("in label matching", "\",\" or \"}\"");
    INVARIANT(tokens->place() > before);
  }
  return {};
}

Status RefuseSecondName(const TokenStream& tokens, size_t at, const Matchers& matchers) {
  for (size_t i = 1; i < matchers.size(); ++i) {
    if (matchers[i].label != kNameLabel) continue;
    return tokens.Fail(at, "the name of the metric is given twice: \"" + matchers[0].value +
                               "\" and \"" + matchers[i].value + "\"");
  }
  return {};
}

/// A duration in brackets.
struct Length {
  int64_t ms = 0;
  DurationExprPtr expr;  // nullptr for a number
};

/// Parses a duration in brackets. A computed duration is 1 ms until ResolveDurations computes it.
Result<Length> TakeLength(TokenStream* tokens) {
  const size_t at = tokens->Peek().at;
  ASSIGN_OR_RETURN(const DurationExprPtr expr, TakeDurationExpr(tokens));
  if (expr->kind != DurationExpr::Kind::kNumber) return Length{1, expr};
  const int64_t ms = LiteralMs(*expr);
  if (ms <= 0) return tokens->Fail(at, "a duration must be greater than 0");
  return Length{ms, nullptr};
}

/// Returns the object in which the modifiers offset and @ of the expression are stored, or nullptr
/// if the expression cannot have them.
TimeShift* ShiftOf(Expr* expr) {
  if (expr->parentheses > 0) return nullptr;
  if (auto* selector = std::get_if<Selector>(&expr->node)) return &selector->shift;
  if (auto* subquery = std::get_if<Subquery>(&expr->node)) return &subquery->shift;
  return nullptr;
}

bool HasOffset(const TimeShift& shift) { return shift.offset_ms || shift.offset_expr != nullptr; }

Status TakeOffset(TokenStream* tokens, size_t at, Expr* operand) {
  ASSIGN_OR_RETURN(const DurationExprPtr expr, TakeOffsetExpr(tokens));
  TimeShift* const shift = ShiftOf(operand);
  if (shift == nullptr)
    return tokens->Fail(at, "offset belongs behind a selector, a range or a subquery");
  if (HasOffset(*shift)) return tokens->Fail(at, "offset is given twice");
  if (expr->kind == DurationExpr::Kind::kNumber) {
    shift->offset_ms = LiteralMs(*expr);
  } else {
    shift->offset_expr = expr;
  }
  return {};
}

Result<int64_t> TakeTimestamp(TokenStream* tokens) {
  const bool negative = tokens->Take("-");
  if (!negative) (void)tokens->Take("+");
  const Token token = tokens->Peek();
  if (!IsNumber(token))
    return tokens->Fail(token.at, "\"" + token.text + "\" behind @ is no time, start() or end()");
  ASSIGN_OR_RETURN(const double seconds, TakeNumber(tokens));
  const double ms = std::round(seconds * 1000) * (negative ? -1 : 1);
  if (!(std::abs(ms) < 9.2e18))
    return tokens->Fail(token.at, "the time \"" + token.text + "\" behind @ is out of range");
  return static_cast<int64_t>(ms);
}

Status TakeAt(TokenStream* tokens, size_t at, Expr* operand) {
  TimeShift::At kind = TimeShift::At::kTime;
  int64_t ms = 0;
  const bool start = tokens->Peek().IsWord("start");
  if (start || tokens->Peek().IsWord("end")) {
    tokens->Next();
    RETURN_IF_ERROR(tokens->Expect("(", "behind @"));
    RETURN_IF_ERROR(tokens->Expect(")", "behind @"));
    kind = start ? TimeShift::At::kStart : TimeShift::At::kEnd;
  } else {
    ASSIGN_OR_RETURN(ms, TakeTimestamp(tokens));
  }
  TimeShift* const shift = ShiftOf(operand);
  if (shift == nullptr)
    return tokens->Fail(at, "@ belongs behind a selector, a range or a subquery");
  if (shift->at != TimeShift::At::kNone) return tokens->Fail(at, "@ is given twice");
  shift->at = kind;
  shift->at_ms = ms;
  return {};
}

Status MakeRange(TokenStream* tokens, size_t at, Length range, Expr* operand) {
  auto* const selector = std::get_if<Selector>(&operand->node);
  if (selector == nullptr || operand->parentheses > 0)
    return tokens->Fail(at, "a range belongs behind a selector");
  if (HasOffset(selector->shift)) return tokens->Fail(at, "a range belongs in front of offset");
  if (selector->shift.at != TimeShift::At::kNone)
    return tokens->Fail(at, "a range belongs in front of @");
  if (selector->range_ms > 0) return tokens->Fail(at, "a range is given twice");
  selector->range_ms = range.ms;
  selector->range_expr = std::move(range.expr);
  return {};
}

Status TakeBrackets(TokenStream* tokens, size_t at, ExprPtr* operand) {
  ASSIGN_OR_RETURN(Length range, TakeLength(tokens));
  if (tokens->Take("]")) return MakeRange(tokens, at, std::move(range), operand->get());
  if ((*operand)->As<Subquery>() != nullptr)
    return tokens->Fail(at, "a subquery belongs behind an instant vector");
  RETURN_IF_ERROR(tokens->Expect(":", "in a range"));
  Subquery subquery;
  subquery.range_ms = range.ms;
  subquery.range_expr = std::move(range.expr);
  if (!tokens->Peek().Is("]")) {
    ASSIGN_OR_RETURN(Length step, TakeLength(tokens));
    subquery.step_ms = step.ms;
    subquery.step_expr = std::move(step.expr);
  }
  RETURN_IF_ERROR(tokens->Expect("]", "in a subquery"));
  auto outer = std::make_unique<Expr>();
  outer->at = (*operand)->at;
  subquery.inner = std::move(*operand);
  outer->node = std::move(subquery);
  *operand = std::move(outer);
  return {};
}

}  // namespace

bool IsReserved(const Token& word) {
  for (const std::string_view reserved :
       {"atan2", "bool", "group_left", "group_right", "ignoring", "inf", "nan", "on"}) {
    if (word.IsWord(reserved)) return true;
  }
  return false;
}

bool IsNumber(const Token& token) {
  return token.kind == TokenKind::kNumber || token.kind == TokenKind::kDuration ||
         token.IsWord("inf") || token.IsWord("nan");
}

Result<double> TakeNumber(TokenStream* tokens) {
  const Token token = tokens->Next();
  if (token.kind == TokenKind::kDuration) {
    const Result<int64_t> ms = ParseDurationMs(token.text);
    if (!ms.ok()) return tokens->Fail(token.at, ms.status());
    return static_cast<double>(*ms) / 1000;
  }
  const std::optional<double> value = ParseLiteral(token.text);
  if (!value) return tokens->Fail(token.at, "\"" + token.text + "\" is no number");
  return *value;
}

Status RefuseExperimental(const TokenStream& tokens, size_t at, std::string_view what) {
  return tokens.Fail(at, std::string(what) + " is experimental in Prometheus and not supported");
}

Result<Selector> TakeSelector(TokenStream* tokens) {
  Selector selector;
  const size_t at = tokens->Peek().at;
  const bool named = tokens->Peek().kind == TokenKind::kIdentifier;
  selector.named = named;
  if (named) {
    selector.matchers.push_back(
        {std::string(kNameLabel), MatchKind::kEqual, tokens->Next().text, nullptr});
  }
  if (tokens->Take("{")) {
    RETURN_IF_ERROR(TakeMatchers(tokens, &selector.matchers));
  } else if (!named) {
    return tokens->Unexpected("", "a selector");
  }
  if (named) RETURN_IF_ERROR(RefuseSecondName(*tokens, at, selector.matchers));
  if (!SaysSomething(selector.matchers))
    return tokens->Fail(at, "a selector needs a matcher that does not admit the empty text");
  return selector;
}

Result<LabelList> TakeLabelList(TokenStream* tokens) {
  RETURN_IF_ERROR(tokens->Expect("(", "in grouping"));
  LabelList labels;
  while (!tokens->Take(")")) {
    const size_t before = tokens->place();
    const Token& name = tokens->Peek();
    const bool word =
        name.kind == TokenKind::kIdentifier && name.text.find(':') == std::string::npos;
    if (!word && (name.kind != TokenKind::kString || name.text.empty()))
      return tokens->Unexpected("in grouping", "the name of a label");
    labels.written.push_back(tokens->Next().text);
    if (!tokens->Take(",") && !tokens->Peek().Is(")"))
      return tokens->Unexpected("in grouping", "\",\" or \")\"");
    INVARIANT(tokens->place() > before);
  }
  labels.sorted = labels.written;
  std::sort(labels.sorted.begin(), labels.sorted.end());
  labels.sorted.erase(std::unique(labels.sorted.begin(), labels.sorted.end()), labels.sorted.end());
  return labels;
}

Status TakeSuffixes(TokenStream* tokens, ExprPtr* operand) {
  for (;;) {
    const size_t at = tokens->Peek().at, before = tokens->place();
    if (tokens->Take("[")) {
      RETURN_IF_ERROR(TakeBrackets(tokens, at, operand));
    } else if (tokens->TakeWord("offset")) {
      RETURN_IF_ERROR(TakeOffset(tokens, at, operand->get()));
    } else if (tokens->Take("@")) {
      RETURN_IF_ERROR(TakeAt(tokens, at, operand->get()));
    } else if (tokens->Peek().IsWord("anchored") || tokens->Peek().IsWord("smoothed")) {
      return RefuseExperimental(*tokens, at, "the modifier " + tokens->Peek().text);
    } else {
      return {};
    }
    INVARIANT(tokens->place() > before);
  }
}

}  // namespace hg::query::promql
