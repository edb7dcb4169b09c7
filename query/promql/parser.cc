#include "query/promql/parser.h"

#include <string>
#include <utility>
#include <vector>

#include "query/promql/function_table.h"
#include "query/promql/selector_parser.h"
#include "query/promql/token_stream.h"
#include "query/promql/type_check.h"
#include "storage/base/invariant.h"

namespace hg::query::promql {
namespace {

struct OperatorWord {
  std::string_view text;
  BinaryOperator op;
  int precedence;
};
constexpr int kPowerPrecedence = 6;  // the only right-associative operator
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
  Aggregator aggregator;
  bool parameter = false;
};
constexpr AggregatorWord kAggregators[] = {
    {Aggregator::kSum},
    {Aggregator::kAvg},
    {Aggregator::kCount},
    {Aggregator::kMin},
    {Aggregator::kMax},
    {Aggregator::kGroup},
    {Aggregator::kStddev},
    {Aggregator::kStdvar},
    {Aggregator::kTopk, true},
    {Aggregator::kBottomk, true},
    {Aggregator::kQuantile, true},
    {Aggregator::kCountValues, true},
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
  Parser(std::string_view text, std::vector<Token> tokens, RequestContext& context)
      : tokens_(text, std::move(tokens), context) {}

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

  /// Parses operands and the operators between them that have at least this precedence.
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
      const size_t before = tokens_.place();
      tokens_.Next();
      if ((word->text == "<" || word->text == ">") && tokens_.Peek().Is("/"))
        return tokens_.Fail(tokens_.Peek().at,
                            "the operator is for native histograms, which are not supported");
      RETURN_IF_ERROR(TakeMatching(&binary));
      const bool from_right = word->precedence == kPowerPrecedence;
      ASSIGN_OR_RETURN(binary.right, TakeOperation(word->precedence + (from_right ? 0 : 1)));
      binary.left = std::move(left);
      left = MakeExpr(at, std::move(binary));
      INVARIANT(tokens_.place() > before);
    }
    --depth_;
    return left;
  }

  Status TakeMatching(Binary* binary) {
    RETURN_IF_ERROR(TakeModifiers(binary));
    const Token& word = tokens_.Peek();
    const bool fills = word.IsWord("fill") || word.IsWord("fill_left") || word.IsWord("fill_right");
    if (fills && tokens_.Peek(1).Is("("))
      return RefuseExperimental(tokens_, word.at, "the modifier " + word.text);
    return {};
  }

  Status TakeModifiers(Binary* binary) {
    binary->returns_bool = tokens_.TakeWord("bool");
    Matching& matching = binary->matching;
    matching.on = tokens_.TakeWord("on");
    matching.given = matching.on || tokens_.TakeWord("ignoring");
    if (!matching.given) return {};
    ASSIGN_OR_RETURN(LabelList labels, TakeLabelList(&tokens_));
    matching.labels = std::move(labels.sorted);
    matching.written_labels = std::move(labels.written);
    if (tokens_.TakeWord("group_left")) {
      matching.many = Matching::Side::kLeft;
    } else if (tokens_.TakeWord("group_right")) {
      matching.many = Matching::Side::kRight;
    } else {
      return {};
    }
    if (!tokens_.Peek().Is("(")) return {};
    ASSIGN_OR_RETURN(LabelList included, TakeLabelList(&tokens_));
    matching.included = std::move(included.sorted);
    matching.written_included = std::move(included.written);
    return {};
  }

  /// Parses one operand with its signs and suffixes.
  Result<ExprPtr> TakeOperand() {
    const size_t at = tokens_.Peek().at;
    if (tokens_.Peek().Is("-") || tokens_.Peek().Is("+")) {
      Negation negation;
      negation.plus = tokens_.Next().text == "+";
      ASSIGN_OR_RETURN(negation.inner, TakeOperation(kPowerPrecedence));
      auto* const number = std::get_if<NumberLiteral>(&negation.inner->node);
      if (number != nullptr && negation.inner->parentheses == 0) {
        if (!negation.plus) number->value = -number->value;
        negation.inner->at = at;
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
    if (IsNumber(token)) {
      ASSIGN_OR_RETURN(const double value, TakeNumber(&tokens_));
      return MakeExpr(token.at, NumberLiteral{value, token.kind == TokenKind::kDuration});
    }
    if (token.kind == TokenKind::kString) {
      tokens_.Next();
      return MakeExpr(token.at, StringLiteral{token.text});
    }
    if (tokens_.Take("(")) {
      ASSIGN_OR_RETURN(ExprPtr inner, TakeOperation(0));
      RETURN_IF_ERROR(tokens_.Expect(")", "behind an expression"));
      ++inner->parentheses;
      return inner;
    }
    if (token.kind == TokenKind::kIdentifier) {
      const Token& next = tokens_.Peek(1);
      const bool called = next.Is("(");
      if (called || next.IsWord("by") || next.IsWord("without")) {
        for (const AggregatorWord& word : kAggregators) {
          if (token.IsWord(AggregatorText(word.aggregator))) return TakeAggregation(word);
        }
      }
      if (IsReserved(token)) return tokens_.Unexpected("");
      const bool grouped = next.IsWord("by") || next.IsWord("without");
      if ((called || grouped) && IsExperimental(token.text))
        return RefuseExperimental(tokens_, token.at, "the function " + token.text);
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
      const size_t before = tokens_.place();
      ASSIGN_OR_RETURN(ExprPtr argument, TakeOperation(0));
      arguments.push_back(std::move(argument));
      INVARIANT(tokens_.place() > before);
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

  /// Parses by (…) or without (…). Returns false if neither follows.
  Result<bool> TakeGrouping(Grouping* grouping) {
    grouping->without = tokens_.TakeWord("without");
    if (!grouping->without && !tokens_.TakeWord("by")) return false;
    ASSIGN_OR_RETURN(LabelList labels, TakeLabelList(&tokens_));
    grouping->labels = std::move(labels.sorted);
    grouping->written_labels = std::move(labels.written);
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
      return tokens_.Fail(at, std::string(AggregatorText(word.aggregator)) + " takes " +
                                  std::to_string(wanted) + " arguments, not " +
                                  std::to_string(arguments.size()));
    }
    if (word.parameter) aggregation.parameter = std::move(arguments.front());
    aggregation.inner = std::move(arguments.back());
    return MakeExpr(at, std::move(aggregation));
  }

  TokenStream tokens_;
  int depth_ = 0;
  int operators_ = 0;
};

Result<std::vector<Token>> TokensOf(std::string_view text, RequestContext& context) {
  if (text.size() > kExpressionBytesMax) {
    return Status::InvalidArgument("the expression is longer than " +
                                   std::to_string(kExpressionBytesMax) + " bytes");
  }
  return Tokenize(text, context);
}

}  // namespace

Result<ExprPtr> ParseExpression(std::string_view text, RequestContext& context) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, TokensOf(text, context));
  ASSIGN_OR_RETURN(ExprPtr expr, Parser(text, std::move(tokens), context).Run());
  RETURN_IF_ERROR(CheckTypes(text, *expr));
  return expr;
}

Result<Matchers> ParseSelector(std::string_view text, RequestContext& context) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, TokensOf(text, context));
  return Parser(text, std::move(tokens), context).RunSelector();
}

}  // namespace hg::query::promql
