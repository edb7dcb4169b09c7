#include "query/promql/duration_expr.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "query/promql/annotations.h"
#include "query/promql/duration_text.h"
#include "query/promql/number_text.h"
#include "query/promql/parser.h"
#include "query/promql/selector_parser.h"
#include "query/promql/syntax.h"

namespace hg::query::promql {
namespace {

using Kind = DurationExpr::Kind;

// Prometheus stores a duration as a 64-bit number of nanoseconds. This is the largest one.
constexpr double kSecondsMax = 9223372036.854775807;

bool IsOutOfRange(double seconds) { return !(std::abs(seconds) <= kSecondsMax); }

struct DurationWord {
  std::string_view text;
  Kind kind;
};
constexpr DurationWord kDurationFunctions[] = {{"step", Kind::kStep},
                                               {"range", Kind::kRange},
                                               {"min_of", Kind::kMinOf},
                                               {"max_of", Kind::kMaxOf}};
constexpr DurationWord kSums[] = {{"+", Kind::kAdd}, {"-", Kind::kSubtract}};
constexpr DurationWord kProducts[] = {
    {"*", Kind::kMultiply}, {"/", Kind::kDivide}, {"%", Kind::kModulo}};

/// Parses one computed duration by recursive descent. Each function parses the operators of one
/// precedence.
class DurationParser {
 public:
  explicit DurationParser(TokenStream* tokens) : tokens_(*tokens) {}

  Result<DurationExprPtr> Sum() { return Chain(kSums, &DurationParser::Product); }

  /// Parses a number, a call, or an expression in parentheses.
  Result<DurationExprPtr> Operand() {
    const Token token = tokens_.Peek();
    if (token.kind == TokenKind::kNumber || token.kind == TokenKind::kDuration) {
      DurationExpr number{.at = token.at};
      ASSIGN_OR_RETURN(number.seconds, TakeNumber(&tokens_));
      number.duration = token.kind == TokenKind::kDuration;
      if (IsOutOfRange(number.seconds))
        return tokens_.Fail(token.at, "the duration \"" + token.text + "\" is out of range");
      return Made(std::move(number));
    }
    for (const DurationWord& function : kDurationFunctions) {
      if (!token.IsWord(function.text)) continue;
      tokens_.Next();
      return Arguments(function.kind, token.at);
    }
    if (!tokens_.Take("(")) return tokens_.Unexpected("", "a number or a duration");
    RETURN_IF_ERROR(Deeper(token.at));
    ASSIGN_OR_RETURN(const DurationExprPtr inner, Sum());
    RETURN_IF_ERROR(tokens_.Expect(")", "in a duration"));
    --depth_;
    return InParentheses(inner, token.at);
  }

  /// Applies a sign. A number remains a number.
  static Result<DurationExprPtr> Signed(bool minus, const DurationExprPtr& operand, size_t at) {
    if (!minus) return operand;
    if (operand->kind == Kind::kNumber) {
      DurationExpr number = *operand;
      number.seconds = -number.seconds;
      number.at = at;
      return Made(std::move(number));
    }
    return Made({.kind = Kind::kSubtract, .at = at, .right = operand});
  }

 private:
  static DurationExprPtr Made(DurationExpr node) {
    return std::make_shared<const DurationExpr>(std::move(node));
  }

  /// Prometheus parses a number in parentheses as a unary plus with the number as operand. It does
  /// not print the plus.
  static DurationExprPtr InParentheses(const DurationExprPtr& inner, size_t at) {
    if (inner->kind == Kind::kNumber)
      return Made({.kind = Kind::kAdd, .parentheses = true, .at = at, .right = inner});
    DurationExpr copy = *inner;
    copy.parentheses = true;
    return Made(std::move(copy));
  }

  Status Deeper(size_t at) {
    if (++depth_ <= kNestingMax) return {};
    return tokens_.Fail(at, "a duration has more than " + std::to_string(kNestingMax) + " levels");
  }

  Status CountOperator(size_t at) {
    if (++operators_ <= kOperatorsMax) return {};
    return tokens_.Fail(at,
                        "a duration has more than " + std::to_string(kOperatorsMax) + " operators");
  }

  template <size_t kCount>
  Result<DurationExprPtr> Chain(const DurationWord (&operators)[kCount],
                                Result<DurationExprPtr> (DurationParser::*next)()) {
    ASSIGN_OR_RETURN(DurationExprPtr left, (this->*next)());
    for (;;) {
      const Token token = tokens_.Peek();
      const auto* const found =
          std::find_if(std::begin(operators), std::end(operators),
                       [&](const DurationWord& named) { return token.Is(named.text); });
      if (found == std::end(operators)) return left;
      tokens_.Next();
      RETURN_IF_ERROR(CountOperator(token.at));
      ASSIGN_OR_RETURN(const DurationExprPtr right, (this->*next)());
      const bool divides = found->kind == Kind::kDivide || found->kind == Kind::kModulo;
      if (divides && right->kind == Kind::kNumber && right->seconds == 0)
        return tokens_.Fail(token.at, "a duration is divided by zero");
      left = Made({.kind = found->kind, .at = left->at, .left = left, .right = right});
    }
  }

  Result<DurationExprPtr> Product() { return Chain(kProducts, &DurationParser::Sign); }

  /// A sign has lower precedence than a power: "-2 ^ 2" is -4.
  Result<DurationExprPtr> Sign() {
    const Token token = tokens_.Peek();
    const bool minus = token.Is("-");
    if (!minus && !token.Is("+")) return Power();
    tokens_.Next();
    RETURN_IF_ERROR(Deeper(token.at));
    ASSIGN_OR_RETURN(const DurationExprPtr operand, Sign());
    --depth_;
    return Signed(minus, operand, token.at);
  }

  Result<DurationExprPtr> Power() {
    ASSIGN_OR_RETURN(const DurationExprPtr base, Operand());
    const size_t at = tokens_.Peek().at;
    if (!tokens_.Take("^")) return base;
    RETURN_IF_ERROR(Deeper(at));
    ASSIGN_OR_RETURN(const DurationExprPtr exponent, Sign());
    --depth_;
    return Made({.kind = Kind::kPower, .at = base->at, .left = base, .right = exponent});
  }

  Result<DurationExprPtr> Arguments(Kind kind, size_t at) {
    DurationExpr call{.kind = kind, .at = at};
    RETURN_IF_ERROR(tokens_.Expect("(", "in a duration"));
    if (kind == Kind::kMinOf || kind == Kind::kMaxOf) {
      RETURN_IF_ERROR(Deeper(at));
      ASSIGN_OR_RETURN(call.left, Sum());
      RETURN_IF_ERROR(tokens_.Expect(",", "in a duration"));
      ASSIGN_OR_RETURN(call.right, Sum());
      --depth_;
    }
    RETURN_IF_ERROR(tokens_.Expect(")", "in a duration"));
    return Made(std::move(call));
  }

  TokenStream& tokens_;
  int depth_ = 0, operators_ = 0;
};

/// Computes the durations of an expression.
class Resolver {
 public:
  Resolver(std::string_view text, const DurationTimes& times) : text_(text), times_(times) {}

  Status Resolve(Expr* expr) {
    if (auto* selector = std::get_if<Selector>(&expr->node)) {
      RETURN_IF_ERROR(Set(selector->range_expr, false, &selector->range_ms));
      return SetOffset(&selector->shift);
    }
    if (auto* subquery = std::get_if<Subquery>(&expr->node)) {
      RETURN_IF_ERROR(Set(subquery->range_expr, false, &subquery->range_ms));
      RETURN_IF_ERROR(Set(subquery->step_expr, false, &subquery->step_ms));
      RETURN_IF_ERROR(SetOffset(&subquery->shift));
      return Resolve(subquery->inner.get());
    }
    if (auto* call = std::get_if<Call>(&expr->node)) {
      for (const ExprPtr& argument : call->arguments) RETURN_IF_ERROR(Resolve(argument.get()));
    } else if (auto* aggregation = std::get_if<Aggregation>(&expr->node)) {
      if (aggregation->parameter != nullptr) RETURN_IF_ERROR(Resolve(aggregation->parameter.get()));
      return Resolve(aggregation->inner.get());
    } else if (auto* binary = std::get_if<Binary>(&expr->node)) {
      RETURN_IF_ERROR(Resolve(binary->left.get()));
      return Resolve(binary->right.get());
    } else if (auto* negation = std::get_if<Negation>(&expr->node)) {
      return Resolve(negation->inner.get());
    }
    return {};
  }

 private:
  Status SetOffset(TimeShift* shift) const {
    if (shift->offset_expr == nullptr) return {};
    int64_t ms = 0;
    RETURN_IF_ERROR(Set(shift->offset_expr, true, &ms));
    shift->offset_ms = ms;
    return {};
  }

  Status Set(const DurationExprPtr& expr, bool may_be_negative, int64_t* ms) const {
    if (expr == nullptr) return {};
    ASSIGN_OR_RETURN(const double seconds, Compute(*expr));
    if (IsOutOfRange(seconds)) return Fail(*expr, "a duration is out of range or not a number");
    if (seconds <= 0 && !may_be_negative) return Fail(*expr, "a duration must be greater than 0");
    *ms = static_cast<int64_t>(seconds * 1000);
    // A range of 0 would mean an instant vector, so the minimum is 1 ms.
    if (!may_be_negative) *ms = std::max<int64_t>(*ms, 1);
    return {};
  }

  [[nodiscard]] Status Fail(const DurationExpr& expr, const std::string& why) const {
    return Status::InvalidArgument(PlaceText(text_, expr.at) + ": " + why);
  }

  [[nodiscard]] Result<double> Compute(const DurationExpr& expr) const {
    double left = 0, right = 0;
    if (expr.left != nullptr) {
      ASSIGN_OR_RETURN(left, Compute(*expr.left));
    }
    if (expr.right != nullptr) {
      ASSIGN_OR_RETURN(right, Compute(*expr.right));
    }
    switch (expr.kind) {
      case Kind::kNumber:
        return expr.seconds;
      case Kind::kStep:
        return static_cast<double>(times_.step_ms) / 1000;
      case Kind::kRange:
        return static_cast<double>(times_.range_ms) / 1000;
      case Kind::kMinOf:
        return std::min(left, right);
      case Kind::kMaxOf:
        return std::max(left, right);
      case Kind::kAdd:
        return left + right;
      case Kind::kSubtract:
        return left - right;
      case Kind::kMultiply:
        return left * right;
      case Kind::kPower:
        return std::pow(left, right);
      case Kind::kDivide:
      case Kind::kModulo:
        break;
    }
    if (right == 0) return Fail(expr, "a duration is divided by zero");
    return expr.kind == Kind::kDivide ? left / right : std::fmod(left, right);
  }

  const std::string_view text_;
  const DurationTimes times_;
};

void AppendText(const DurationExpr& expr, std::string* out) {
  if (expr.parentheses) *out += "(";
  const std::string_view word = DurationKindText(expr.kind);
  if (expr.kind == Kind::kNumber) {
    if (expr.duration) {
      if (expr.seconds < 0) *out += "-";
      *out += DurationText(std::llround(std::abs(expr.seconds) * 1000));
    } else {
      *out += FixedText(expr.seconds);
    }
  } else if (expr.kind == Kind::kStep || expr.kind == Kind::kRange) {
    out->append(word).append("()");
  } else if (expr.kind == Kind::kMinOf || expr.kind == Kind::kMaxOf) {
    out->append(word).append("(");
    AppendText(*expr.left, out);
    *out += ", ";
    AppendText(*expr.right, out);
    *out += ")";
  } else if (expr.left == nullptr) {
    if (expr.kind == Kind::kSubtract) *out += "-";
    AppendText(*expr.right, out);
  } else {
    AppendText(*expr.left, out);
    out->append(" ").append(word).append(" ");
    AppendText(*expr.right, out);
  }
  if (expr.parentheses) *out += ")";
}

}  // namespace

Result<DurationExprPtr> TakeDurationExpr(TokenStream* tokens) {
  return DurationParser(tokens).Sum();
}

Result<DurationExprPtr> TakeOffsetExpr(TokenStream* tokens) {
  const Token token = tokens->Peek();
  const bool minus = token.Is("-");
  const bool sign = minus || token.Is("+");
  const Token& second = tokens->Peek(1);
  // If an offset begins with a parenthesis or with two signs, Prometheus parses all following
  // operators as part of the offset.
  if (token.Is("(") || (sign && (second.Is("-") || second.Is("+"))))
    return DurationParser(tokens).Sum();
  if (sign) tokens->Next();
  ASSIGN_OR_RETURN(const DurationExprPtr operand, DurationParser(tokens).Operand());
  return DurationParser::Signed(minus, operand, token.at);
}

int64_t LiteralMs(const DurationExpr& number) {
  constexpr double kNanoseconds = 1e9;
  constexpr int64_t kNanosecondsOfMs = 1'000'000;
  const double nanoseconds = std::round(number.seconds * kNanoseconds);
  constexpr double kInt64Beyond = 9223372036854775808.0;
  if (std::abs(nanoseconds) >= kInt64Beyond) return static_cast<int64_t>(number.seconds * 1000);
  return static_cast<int64_t>(nanoseconds) / kNanosecondsOfMs;
}

std::string DurationExprText(const DurationExpr& expr) {
  std::string text;
  AppendText(expr, &text);
  return text;
}

std::string_view DurationKindText(DurationExpr::Kind kind) {
  constexpr std::string_view kTexts[] = {"",  "step", "range", "min_of", "max_of", "+",
                                         "-", "*",    "/",     "%",      "^"};
  return kTexts[static_cast<size_t>(kind)];
}

Status ResolveDurations(std::string_view text, const DurationTimes& times, Expr* expr) {
  return Resolver(text, times).Resolve(expr);
}

}  // namespace hg::query::promql
