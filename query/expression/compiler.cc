#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "query/expression/lexer.h"
#include "query/expression/limits.h"
#include "query/expression/program.h"
#include "storage/model/number_text.h"

namespace hg::query {
namespace {

struct OperatorRule {
  std::string_view symbol;
  int precedence;
  BinaryOperator op;
  bool chains;  // if false, a == b == c is refused
};

constexpr int kLowestPrecedence = 3;  // other functions parse "||" and "&&"
constexpr OperatorRule kOperators[] = {
    {"|", 3, BinaryOperator::kBitOr, true},
    {"^", 4, BinaryOperator::kBitXor, true},
    {"&", 5, BinaryOperator::kBitAnd, true},
    {"==", 6, BinaryOperator::kEqual, false},
    {"!=", 6, BinaryOperator::kNotEqual, false},
    {"<", 7, BinaryOperator::kLess, false},
    {"<=", 7, BinaryOperator::kLessOrEqual, false},
    {">", 7, BinaryOperator::kGreater, false},
    {">=", 7, BinaryOperator::kGreaterOrEqual, false},
    {"+", 8, BinaryOperator::kAdd, true},
    {"-", 8, BinaryOperator::kSubtract, true},
    {"*", 9, BinaryOperator::kMultiply, true},
    {"/", 9, BinaryOperator::kDivide, true},
    {"%", 9, BinaryOperator::kModulo, true},
};

const OperatorRule* FindOperator(const Token& token) {
  for (const OperatorRule& rule : kOperators) {
    if (token.Is(rule.symbol)) return &rule;
  }
  return nullptr;
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out.push_back(text[i]);
  }
  return out;
}

// Parses decimal, octal or hexadecimal digits with a suffix. Returns nullopt if the number exceeds
// 128 bits or the width of its suffix.
std::optional<Integer> ReadInteger(std::string_view text) {
  using Width = Integer::Width;
  Width width = Width::kInt;
  char last = text.back();
  if (last == 'l' || last == 'L') width = Width::kLong;
  if (last == 'h' || last == 'H') width = Width::kBig;
  if (width != Width::kInt) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = text[1] == 'x' || text[1] == 'X' ? 16 : 8;
    text.remove_prefix(base == 16 ? 2 : 1);
  }
  __int128 n = 0;
  for (char c : text) {
    int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (__builtin_mul_overflow(n, static_cast<__int128>(base), &n) ||
        __builtin_add_overflow(n, static_cast<__int128>(digit), &n)) {
      return std::nullopt;
    }
  }
  bool is_long = n <= INT64_MAX;
  if (width == Width::kLong && !is_long) return std::nullopt;
  if (width == Width::kInt && n > INT32_MAX) width = is_long ? Width::kLong : Width::kBig;
  return Integer{n, width};
}

/// Compiles tokens to instructions in one pass. Every path through the code leaves one value on the
/// stack.
class Compiler {
 public:
  Compiler(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<Program> Run() {
    RETURN_IF_ERROR(Statements());
    if (Now().kind != TokenKind::kEnd) return Unexpected();
    for (size_t i : returns_) out_.code[i].operand = Here();
    if (out_.variables.empty()) {
      return Status::InvalidArgument("The expression has no variables: '" + std::string(text_) +
                                     "'");
    }
    return std::move(out_);
  }

 private:
  /// Counts one level of nesting as long as the object lives.
  class Level {
   public:
    explicit Level(int* depth) : depth_(*depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    [[nodiscard]] bool TooDeep() const { return depth_ > kExpressionNestingMax; }

   private:
    int& depth_;
  };

  [[nodiscard]] const Token& Now() const { return tokens_[at_]; }
  [[nodiscard]] const Token& After() const {
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)];
  }
  [[nodiscard]] bool Take(std::string_view symbol) {
    if (!Now().Is(symbol)) return false;
    ++at_;
    return true;
  }
  Status Expect(std::string_view symbol) {
    if (Take(symbol)) return {};
    return Status::InvalidArgument("Expected '" + std::string(symbol) + "' " +
                                   Place(text_, Now().at));
  }
  [[nodiscard]] Status Unexpected() const {
    if (Now().kind == TokenKind::kEnd) {
      return Status::InvalidArgument("The expression ends too early: '" + std::string(text_) + "'");
    }
    return Status::InvalidArgument("Unexpected '" + std::string(Now().text) + "' " +
                                   Place(text_, Now().at));
  }
  [[nodiscard]] Status Deep() const {
    return Status::InvalidArgument("More than " + std::to_string(kExpressionNestingMax) +
                                   " levels of nesting " + Place(text_, Now().at));
  }

  size_t Emit(Step step, size_t operand = 0) {
    out_.code.push_back({step, static_cast<uint32_t>(operand)});
    return out_.code.size() - 1;
  }
  [[nodiscard]] uint32_t Here() const { return static_cast<uint32_t>(out_.code.size()); }
  void Land(size_t jump) { out_.code[jump].operand = Here(); }
  void Push(Value constant) {
    out_.constants.push_back(std::move(constant));
    Emit(Step::kConstant, out_.constants.size() - 1);
  }
  void Fail(std::string why) {
    out_.failures.push_back(std::move(why));
    Emit(Step::kFail, out_.failures.size() - 1);
  }

  // The names are views into the text, which lives longer than the compiler.
  size_t VariableSlot(std::string_view name) {
    const auto [slot, added] = variables_.try_emplace(name, out_.variables.size());
    if (added) out_.variables.emplace_back(name);
    return slot->second;
  }
  [[nodiscard]] std::optional<size_t> LocalSlot(std::string_view name) const {
    const auto slot = locals_.find(name);
    return slot != locals_.end() ? std::optional(slot->second) : std::nullopt;
  }

  // Parses statements up to the end or a closing brace. Their value is the value of the last
  // statement.
  Status Statements() {
    bool any = false;
    while (Now().kind != TokenKind::kEnd && !Now().Is("}")) {
      if (Take(";")) continue;
      if (any) Emit(Step::kPop);
      RETURN_IF_ERROR(Statement());
      any = true;
    }
    if (!any) Push({});
    return {};
  }

  Status Statement() {
    Level level(&depth_);
    if (level.TooDeep()) return Deep();
    if (Take(";")) {
      Push({});
      return {};
    }
    if (Take("{")) {
      RETURN_IF_ERROR(Statements());
      return Expect("}");
    }
    if (Take("if")) return If();
    for (std::string_view loop : {"for", "foreach", "while"}) {
      if (Now().Is(loop)) {
        return Status::InvalidArgument("Loops are not supported: '" + std::string(loop) + "' " +
                                       Place(text_, Now().at));
      }
    }
    if (Take("var")) {
      RETURN_IF_ERROR(Declaration());
    } else if (Take("return")) {
      RETURN_IF_ERROR(Expression());
      returns_.push_back(Emit(Step::kJump));
    } else {
      RETURN_IF_ERROR(Expression());
    }
    if (Take(";") || Now().kind == TokenKind::kEnd || Now().Is("}") || Now().Is("else")) return {};
    return Unexpected();
  }

  Status If() {
    RETURN_IF_ERROR(Expect("("));
    RETURN_IF_ERROR(Expression());
    RETURN_IF_ERROR(Expect(")"));
    size_t otherwise = Emit(Step::kJumpIfFalse);
    RETURN_IF_ERROR(Statement());
    size_t end = Emit(Step::kJump);
    Land(otherwise);
    if (Take("else")) {
      RETURN_IF_ERROR(Statement());
    } else {
      Push({});
    }
    Land(end);
    return {};
  }

  Status Declaration() {
    if (Now().kind != TokenKind::kName) return Unexpected();
    std::string_view name = Now().text;
    ++at_;
    if (Take("=")) {
      RETURN_IF_ERROR(Expression());
    } else {
      Push({});
    }
    std::optional<size_t> slot = LocalSlot(name);
    if (!slot) {
      slot = locals_.size();
      locals_.emplace(name, *slot);
      out_.local_count = static_cast<uint32_t>(locals_.size());
    }
    Emit(Step::kSetLocal, *slot);
    return {};
  }

  Status Expression() {
    Level level(&depth_);
    if (level.TooDeep()) return Deep();
    if (Now().kind == TokenKind::kName && After().Is("=")) {
      std::string_view name = Now().text;
      at_ += 2;
      std::optional<size_t> local = LocalSlot(name);
      size_t slot = local ? *local : VariableSlot(name);
      RETURN_IF_ERROR(Expression());
      Emit(local ? Step::kSetLocal : Step::kSetVariable, slot);
      return {};
    }
    RETURN_IF_ERROR(Or());
    if (Take("?:")) {
      size_t end = Emit(Step::kElvis);
      RETURN_IF_ERROR(Expression());
      Land(end);
    } else if (Take("?")) {
      size_t otherwise = Emit(Step::kJumpIfFalse);
      RETURN_IF_ERROR(Expression());
      RETURN_IF_ERROR(Expect(":"));
      size_t end = Emit(Step::kJump);
      Land(otherwise);
      RETURN_IF_ERROR(Expression());
      Land(end);
    }
    return {};
  }

  Status Or() {
    RETURN_IF_ERROR(And());
    while (Take("||")) {
      size_t end = Emit(Step::kOr);
      RETURN_IF_ERROR(And());
      Emit(Step::kToBoolean);
      Land(end);
    }
    return {};
  }

  Status And() {
    RETURN_IF_ERROR(Binary(kLowestPrecedence));
    while (Take("&&")) {
      size_t end = Emit(Step::kAnd);
      RETURN_IF_ERROR(Binary(kLowestPrecedence));
      Emit(Step::kToBoolean);
      Land(end);
    }
    return {};
  }

  Status Binary(int least) {
    RETURN_IF_ERROR(Unary());
    const OperatorRule* last = nullptr;
    for (;;) {
      const OperatorRule* rule = FindOperator(Now());
      if (rule == nullptr || rule->precedence < least) return {};
      if (last != nullptr && !last->chains && last->precedence <= rule->precedence) {
        return Unexpected();
      }
      ++at_;
      RETURN_IF_ERROR(Binary(rule->precedence + 1));
      Emit(Step::kBinary, static_cast<size_t>(rule->op));
      last = rule;
    }
  }

  Status Unary() {
    Step step;
    if (Now().Is("-")) {
      step = Step::kNegate;
    } else if (Now().Is("!")) {
      step = Step::kNot;
    } else if (Now().Is("~")) {
      step = Step::kComplement;
    } else {
      return Primary();
    }
    Level level(&depth_);
    if (level.TooDeep()) return Deep();
    ++at_;
    RETURN_IF_ERROR(Unary());
    Emit(step);
    return {};
  }

  Status Primary() {
    const Token token = Now();
    switch (token.kind) {
      case TokenKind::kInteger: {
        std::optional<Integer> n = ReadInteger(token.text);
        if (!n) {
          return Status::InvalidArgument("The integer " + std::string(token.text) +
                                         " is out of range " + Place(text_, token.at));
        }
        ++at_;
        Push(*n);
        return {};
      }
      case TokenKind::kDecimal:
        ++at_;
        return Decimal(token);
      case TokenKind::kText:
        ++at_;
        Push(std::make_shared<const std::string>(Unescape(token.text)));
        return {};
      case TokenKind::kName:
        ++at_;
        return Reference(token.text);
      default:
        break;
    }
    if (Take("(")) {
      RETURN_IF_ERROR(Expression());
      RETURN_IF_ERROR(Expect(")"));
      return Accesses();
    }
    if (Now().Is("true") || Now().Is("false")) {
      Push(Now().Is("true"));
      ++at_;
      return {};
    }
    if (Take("null")) {
      Push({});
      return {};
    }
    if (Now().Is("empty") || Now().Is("size")) return Measure();
    if (Now().Is("[")) {
      RETURN_IF_ERROR(Arguments("[", "]"));
      Fail("Arrays cannot be used in expressions");
      return {};
    }
    if (Take("new")) {
      RETURN_IF_ERROR(Arguments("(", ")"));
      Fail("'new' cannot be used in expressions");
      return {};
    }
    return Unexpected();
  }

  Status Decimal(const Token& token) {
    std::string_view digits = token.text;
    char suffix = digits.back();
    if (suffix == 'b' || suffix == 'B') {
      return Status::InvalidArgument("Numbers of arbitrary precision are not supported " +
                                     Place(text_, token.at));
    }
    bool wide = suffix == 'd' || suffix == 'D';
    if (wide || suffix == 'f' || suffix == 'F') digits.remove_suffix(1);
    double d = 0;
    float f = 0;
    if (!(wide ? ParseJavaDouble(digits, &d) : ParseJavaFloat(digits, &f))) return Unexpected();
    if (wide) {
      Push(d);
    } else {
      Push(Single(f));
    }
    return {};
  }

  // Parses empty(x), empty x, size(x) and size x.
  Status Measure() {
    Step step = Now().Is("empty") ? Step::kIsEmpty : Step::kSizeOf;
    ++at_;
    if (Now().kind == TokenKind::kName) {
      std::string_view name = Now().text;
      ++at_;
      RETURN_IF_ERROR(Reference(name));
    } else {
      RETURN_IF_ERROR(Expect("("));
      RETURN_IF_ERROR(Expression());
      RETURN_IF_ERROR(Expect(")"));
    }
    Emit(step);
    return {};
  }

  Status Reference(std::string_view name) {
    if (Now().Is("(")) {
      RETURN_IF_ERROR(Arguments("(", ")"));
      Fail("There is no function '" + std::string(name) + "'");
      return {};
    }
    if (std::optional<size_t> local = LocalSlot(name)) {
      Emit(Step::kLocal, *local);
    } else {
      Emit(Step::kVariable, VariableSlot(name));
    }
    return Accesses();
  }

  // Parses element and member accesses. Numbers have no elements and members, so the evaluation of
  // an access fails. As in OpenTSDB's class Expression, names of members count as variables.
  Status Accesses() {
    for (;;) {
      if (Take("[")) {
        RETURN_IF_ERROR(Expression());
        RETURN_IF_ERROR(Expect("]"));
        Emit(Step::kPop);
        Fail("A number has no elements");
      } else if (Take(".")) {
        if (Now().kind != TokenKind::kName) return Unexpected();
        std::string_view name = Now().text;
        ++at_;
        if (Now().Is("(")) {
          RETURN_IF_ERROR(Arguments("(", ")"));
          Fail("There is no function '" + std::string(name) + "'");
        } else {
          VariableSlot(name);
          Fail("There is no member '" + std::string(name) + "'");
        }
      } else {
        return {};
      }
    }
  }

  // Parses arguments of an unknown function. Their values are not used, but their variables and
  // errors count.
  Status Arguments(std::string_view open, std::string_view close) {
    RETURN_IF_ERROR(Expect(open));
    if (Take(close)) return {};
    do {
      RETURN_IF_ERROR(Expression());
      Emit(Step::kPop);
    } while (Take(","));
    return Expect(close);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  std::map<std::string_view, size_t> variables_, locals_;  // name → slot
  std::vector<size_t> returns_;
  Program out_;
};

}  // namespace

Result<Program> CompileExpression(std::string_view text) {
  if (text.size() > kExpressionBytesMax) {
    return Status::InvalidArgument("The expression is longer than " +
                                   std::to_string(kExpressionBytesMax) + " bytes");
  }
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return Compiler(text, std::move(tokens)).Run();
}

}  // namespace hg::query
