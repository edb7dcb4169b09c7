#pragma once
// A compiled expression: instructions for a stack machine (opentsdb-queries.md §11.3). The code is
// flat, so running it needs no recursion, however deeply the text is nested.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/expression/value.h"
#include "storage/base/status.h"

namespace hg::query {

enum class Step : uint8_t {
  kConstant,     // push constants[operand]
  kVariable,     // push the value of variables[operand]
  kLocal,        // push local variable `operand`
  kSetVariable,  // assign the top to variable `operand`; the top stays
  kSetLocal,     // assign the top to local variable `operand`; the top stays
  kBinary,       // pop two values, push the result of BinaryOperator(operand)
  kNegate,       // replace the top by its negative
  kNot,          // replace the top by its logical negation
  kComplement,   // replace the top by its bitwise complement
  kIsEmpty,      // replace the top by true if it is empty, otherwise by false
  kSizeOf,       // replace the top by its size
  kToBoolean,    // replace the top by its boolean value
  kPop,
  kJump,         // go to instruction `operand`
  kJumpIfFalse,  // pop; go to instruction `operand` if the value was false
  kAnd,          // if the top is false, replace it by false and go to `operand`; else pop
  kOr,           // if the top is true, replace it by true and go to `operand`; else pop
  kElvis,        // if the top is true, go to `operand`; else pop
  kFail,         // fail with failures[operand]
};

struct Instruction {
  Step step;
  uint32_t operand = 0;
};

/// Immutable after compilation.
struct Program {
  std::vector<Instruction> code;
  std::vector<Value> constants;
  std::vector<std::string> variables;  // in order of first use, without repeats
  std::vector<std::string> failures;   // messages for code that parses but cannot be computed
  uint32_t local_count = 0;
};

/// Compiles an expression. The message of InvalidArgument describes the error and its place:
/// invalid syntax, a text longer than kExpressionBytesMax, nesting deeper than
/// kExpressionNestingMax, a loop, or an expression without a variable.
Result<Program> CompileExpression(std::string_view text);

/// Runs one program repeatedly. Not thread-safe.
class Evaluator {
 public:
  /// The program must outlive the evaluator.
  explicit Evaluator(const Program& program) : program_(program) {}

  /// Runs the program with the values of its variables, in the order of Program::variables. The
  /// result is a double; a boolean becomes 1 or 0. InvalidArgument: the result has another type, or
  /// operands have the wrong types.
  Status Run(const std::vector<double>& variables, double* out);
  /// Returns an upper bound for the cost of the last Run: the number of instructions, plus the cost
  /// of copying and reading texts.
  [[nodiscard]] uint64_t steps() const { return program_.code.size() + text_bytes_ / 8; }

 private:
  Status Execute();

  const Program& program_;
  std::vector<Value> variables_;
  std::vector<Value> locals_;
  std::vector<Value> stack_;
  uint64_t text_bytes_ = 0;  // total bytes of text operands in the last Run
};

}  // namespace hg::query
