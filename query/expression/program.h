#pragma once
// A compiled expression: instructions for a stack machine (opentsdb-queries.md §11.3). The
// instructions are a flat list, so the evaluator needs no recursion, even if the expression is
// deeply nested.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/expression/value.h"
#include "storage/base/status.h"

namespace hg::query {

enum class Step : uint8_t {
  kConstant,     // push constants[operand] on the stack
  kVariable,     // push the value of variables[operand] on the stack
  kLocal,        // push local variable `operand` on the stack
  kSetVariable,  // assign the top of the stack to variable `operand`; the top stays
  kSetLocal,     // assign the top of the stack to local variable `operand`; the top stays
  kBinary,       // pop two values; push the result of BinaryOperator(operand)
  kNegate,       // replace the top of the stack by its negative
  kNot,          // replace the top of the stack by its logical negation
  kComplement,   // replace the top of the stack by its bitwise complement
  kIsEmpty,      // replace the top of the stack by true if it is empty, otherwise by false
  kSizeOf,       // replace the top of the stack by its size
  kToBoolean,    // replace the top of the stack by its boolean value
  kPop,
  kJump,         // jump to instruction `operand`
  kJumpIfFalse,  // pop a value; if it is false, jump to instruction `operand`
  kAnd,          // if the top is false, replace it by false and jump to `operand`; otherwise pop it
  kOr,           // if the top is true, replace it by true and jump to `operand`; otherwise pop it
  kElvis,        // if the top is true, jump to `operand`; otherwise pop it
  kFail,         // fail with the message failures[operand]
};

struct Instruction {
  Step step;
  uint32_t operand = 0;
};

/// A compiled expression. A program is immutable after compilation.
struct Program {
  std::vector<Instruction> code;
  std::vector<Value> constants;
  std::vector<std::string> variables;  // names of variables in order of first use, without repeats
  /// The messages of kFail instructions, for parts of the expression that can be parsed but not
  /// computed.
  std::vector<std::string> failures;
  uint32_t local_count = 0;
};

/// Compiles an expression. The message of InvalidArgument describes the error and its place:
/// invalid syntax, a text longer than kExpressionBytesMax, nesting deeper than
/// kExpressionNestingMax, a loop, or an expression that uses no variable.
Result<Program> CompileExpression(std::string_view text);

/// Runs one program any number of times. An evaluator is not thread-safe.
class Evaluator {
 public:
  /// `program` must outlive the evaluator.
  explicit Evaluator(const Program& program) : program_(program) {}

  /// Runs the program. `variables` has the values of the variables in the order of
  /// Program::variables. Sets `*out` to the result as a double; a boolean result becomes 1 or 0.
  /// InvalidArgument: the result has another type, an operand has a wrong type, or the texts exceed
  /// a limit.
  Status Run(const std::vector<double>& variables, double* out);
  /// Returns an upper bound for the cost of the last Run: the number of instructions plus the cost
  /// of creating and reading texts.
  [[nodiscard]] uint64_t steps() const { return program_.code.size() + text_bytes_ / 8; }
  /// Returns the number of bytes of the created texts that the evaluator keeps. After Run, it is 0.
  [[nodiscard]] size_t kept_text_bytes() const { return texts_.bytes(); }

 private:
  Status Execute();

  const Program& program_;
  TextMemory texts_;  // outlives the values below
  std::vector<Value> variables_;
  std::vector<Value> locals_;
  std::vector<Value> stack_;
  uint64_t text_bytes_ = 0;  // total length of the text operands in the last Run, in bytes
};

}  // namespace hg::query
