#include "query/promql/parser.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/promql/function_table.h"
#include "query/promql/number_text.h"
#include "query/promql/selector_parser.h"
#include "query/promql/token_stream.h"
#include "query/promql/type_check.h"

namespace hg::query::promql {
namespace {

struct OperatorWord {
  std::string_view text;
  BinaryOperator op;
  int precedence;
};
constexpr int kPowerPrecedence = 6;  // the only one that groups from the right
constexpr OperatorWord kOperators[] = {
    {"or", BinaryOperator::kOr, 1},
    {"and", BinaryOperator::kAnd, 2},
    {"unless", BinaryOperator::kUnless, 2},
    {"==", BinaryOperator::kEqual, 3},
    {"!=", BinaryOperator::kNotEqual, 3},
    {"<", BinaryOperator::kLess, 3},
    {"<=", BinaryOperator::kLessOrEqual, 3},
    {">", BinaryOperator::kGreater, 3},
    {">=", BinaryOperator::kGreaterOrEqual, 3},
    {"+", BinaryOperator::kAdd, 4},
    {"-", BinaryOperator::kSubtract, 4},
    {"*", BinaryOperator::kMultiply, 5},
    {"/", BinaryOperator::kDivide, 5},
    {"%", BinaryOperator::kModulo, 5},
    {"atan2", BinaryOperator::kAtan2, 5},
    {"^", BinaryOperator::kPower, kPowerPrecedence},
};

struct AggregatorWord {
  std::string_view text;
  Aggregator aggregator;
  bool parameter = false;
};
constexpr AggregatorWord kAggregators[] = {
    {"sum", Aggregator::kSum},
    {"avg", Aggregator::kAvg},
    {"count", Aggregator::kCount},
    {"min", Aggregator::kMin},
    {"max", Aggregator::kMax},
    {"group", Aggregator::kGroup},
    {"stddev", Aggregator::kStddev},
    {"stdvar", Aggregator::kStdvar},
    {"topk", Aggregator::kTopk, true},
    {"bottomk", Aggregator::kBottomk, true},
    {"quantile", Aggregator::kQuantile, true},
    {"count_values", Aggregator::kCountValues, true},
};

template <typename Node>
ExprPtr MakeExpr(size_t at, Node node) {
  auto expr = std::make_unique<Expr>();
  expr->at = at;
  expr->node = std::move(node);
  return expr;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens) : tokens_(text, std::move(tokens)) {}

  Result<ExprPtr> Run() {
    if (tokens_.Peek().kind == TokenKind::kEnd)
      return tokens_.Fail(tokens_.Peek().at, "no expression found in input");
    ASSIGN_OR_RETURN(ExprPtr expr, TakeOperation(0));
    RETURN_IF_ERROR(ExpectEnd());
    return expr;
  }

  Result<Matchers> RunSelector() {
    ASSIGN_OR_RETURN(Selector selector, TakeSelector(&tokens_));
    RETURN_IF_ERROR(ExpectEnd());
    return std::move(selector.matchers);
  }

 private:
  Status ExpectEnd() {
    return tokens_.Peek().kind == TokenKind::kEnd ? Status() : tokens_.Unexpected("");
  }

  const OperatorWord* PeekOperator() const {
    for (const OperatorWord& word : kOperators) {
      if (tokens_.Peek().Is(word.text) || tokens_.Peek().IsWord(word.text)) return &word;
    }
    return nullptr;
  }

  /// Operators of at least that precedence.
  Result<ExprPtr> TakeOperation(int precedence) {
    if (++depth_ > kNestingMax) {
      return tokens_.Fail(tokens_.Peek().at, "more than " + std::to_string(kNestingMax) +
                                                 " levels of parentheses, signs and calls");
    }
    ASSIGN_OR_RETURN(ExprPtr left, TakeOperand());
    for (const OperatorWord* word = PeekOperator();
         word != nullptr && word->precedence >= precedence; word = PeekOperator()) {
      if (++operators_ > kOperatorsMax) {
        return tokens_.Fail(tokens_.Peek().at,
                            "more than " + std::to_string(kOperatorsMax) + " operators");
      }
      Binary binary;
      binary.op = word->op;
      const size_t at = left->at;
      tokens_.Next();
      RETURN_IF_ERROR(TakeMatching(&binary));
      const bool from_right = word->precedence == kPowerPrecedence;
      ASSIGN_OR_RETURN(binary.right, TakeOperation(word->precedence + (from_right ? 0 : 1)));
      binary.left = std::move(left);
      left = MakeExpr(at, std::move(binary));
    }
    --depth_;
    return left;
  }

  Status TakeMatching(Binary* binary) {
    binary->returns_bool = tokens_.TakeWord("bool");
    Matching& matching = binary->matching;
    matching.on = tokens_.TakeWord("on");
    matching.given = matching.on || tokens_.TakeWord("ignoring");
    if (!matching.given) return {};
    ASSIGN_OR_RETURN(matching.labels, TakeLabelList(&tokens_));
    if (tokens_.TakeWord("group_left")) {
      matching.many = Matching::Side::kLeft;
    } else if (tokens_.TakeWord("group_right")) {
      matching.many = Matching::Side::kRight;
    } else {
      return {};
    }
    if (!tokens_.Peek().Is("(")) return {};
    ASSIGN_OR_RETURN(matching.included, TakeLabelList(&tokens_));
    return {};
  }

  /// One operand with its signs and suffixes.
  Result<ExprPtr> TakeOperand() {
    const size_t at = tokens_.Peek().at;
    if (tokens_.Peek().Is("-") || tokens_.Peek().Is("+")) {
      Negation negation;
      negation.plus = tokens_.Next().text == "+";
      ASSIGN_OR_RETURN(negation.inner, TakeOperation(kPowerPrecedence));
      if (auto* number = std::get_if<NumberLiteral>(&negation.inner->node)) {
        if (!negation.plus) number->value = -number->value;
        return std::move(negation.inner);
      }
      return MakeExpr(at, std::move(negation));
    }
    ASSIGN_OR_RETURN(ExprPtr operand, TakeAtom());
    RETURN_IF_ERROR(TakeSuffixes(&tokens_, &operand));
    return operand;
  }

  Result<ExprPtr> TakeAtom() {
    const Token token = tokens_.Peek();
    if (token.kind == TokenKind::kNumber || token.IsWord("inf") || token.IsWord("nan")) {
      tokens_.Next();
      const std::optional<double> value = ParseLiteral(token.text);
      if (!value) return tokens_.Fail(token.at, "\"" + token.text + "\" is no number");
      return MakeExpr(token.at, NumberLiteral{*value});
    }
    if (token.kind == TokenKind::kDuration)
      return tokens_.Fail(token.at, "bad number or duration syntax: \"" + token.text + "\"");
    if (token.kind == TokenKind::kString) {
      tokens_.Next();
      return MakeExpr(token.at, StringLiteral{token.text});
    }
    if (tokens_.Take("(")) {
      ASSIGN_OR_RETURN(ExprPtr inner, TakeOperation(0));
      RETURN_IF_ERROR(tokens_.Expect(")", "behind an expression"));
      inner->in_parentheses = true;
      return inner;
    }
    if (token.kind == TokenKind::kIdentifier) {
      const Token& next = tokens_.Peek(1);
      const bool called = next.Is("(");
      if (called || next.IsWord("by") || next.IsWord("without")) {
        for (const AggregatorWord& word : kAggregators) {
          if (token.IsWord(word.text)) return TakeAggregation(word);
        }
      }
      if (IsReserved(token)) return tokens_.Unexpected("");
      if (called) return TakeCall();
    } else if (!token.Is("{")) {
      return tokens_.Unexpected("");
    }
    ASSIGN_OR_RETURN(Selector selector, TakeSelector(&tokens_));
    return MakeExpr(token.at, std::move(selector));
  }

  Result<std::vector<ExprPtr>> TakeArguments() {
    std::vector<ExprPtr> arguments;
    RETURN_IF_ERROR(tokens_.Expect("(", ""));
    if (tokens_.Take(")")) return arguments;
    do {
      ASSIGN_OR_RETURN(ExprPtr argument, TakeOperation(0));
      arguments.push_back(std::move(argument));
    } while (tokens_.Take(","));
    RETURN_IF_ERROR(tokens_.Expect(")", "behind arguments"));
    return arguments;
  }

  Result<ExprPtr> TakeCall() {
    const Token name = tokens_.Next();
    Call call;
    call.function = FindFunction(name.text);
    if (call.function == nullptr)
      return tokens_.Fail(name.at, "there is no function \"" + name.text + "\"");
    ASSIGN_OR_RETURN(call.arguments, TakeArguments());
    return MakeExpr(name.at, std::move(call));
  }

  /// by (…) or without (…), if it comes.
  Result<bool> TakeGrouping(Grouping* grouping) {
    grouping->without = tokens_.TakeWord("without");
    if (!grouping->without && !tokens_.TakeWord("by")) return false;
    ASSIGN_OR_RETURN(grouping->labels, TakeLabelList(&tokens_));
    return true;
  }

  Result<ExprPtr> TakeAggregation(const AggregatorWord& word) {
    const size_t at = tokens_.Next().at;
    Aggregation aggregation;
    aggregation.aggregator = word.aggregator;
    ASSIGN_OR_RETURN(const bool in_front, TakeGrouping(&aggregation.grouping));
    ASSIGN_OR_RETURN(std::vector<ExprPtr> arguments, TakeArguments());
    if (!in_front) {
      ASSIGN_OR_RETURN([[maybe_unused]] const bool behind, TakeGrouping(&aggregation.grouping));
    }
    const size_t wanted = word.parameter ? 2 : 1;
    if (arguments.size() != wanted) {
      return tokens_.Fail(at, std::string(word.text) + " takes " + std::to_string(wanted) +
                                  " arguments, not " + std::to_string(arguments.size()));
    }
    if (word.parameter) aggregation.parameter = std::move(arguments.front());
    aggregation.inner = std::move(arguments.back());
    return MakeExpr(at, std::move(aggregation));
  }

  TokenStream tokens_;
  int depth_ = 0;
  int operators_ = 0;
};

Result<std::vector<Token>> TokensOf(std::string_view text) {
  if (text.size() > kExpressionBytesMax) {
    return Status::InvalidArgument("the expression is longer than " +
                                   std::to_string(kExpressionBytesMax) + " bytes");
  }
  return Tokenize(text);
}

}  // namespace

Result<ExprPtr> ParseExpression(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, TokensOf(text));
  ASSIGN_OR_RETURN(ExprPtr expr, Parser(text, std::move(tokens)).Run());
  RETURN_IF_ERROR(CheckTypes(text, *expr));
  return expr;
}

Result<Matchers> ParseSelector(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, TokensOf(text));
  return Parser(text, std::move(tokens)).RunSelector();
}

}  // namespace hg::query::promql
