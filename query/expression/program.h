#pragma once
// An expression made ready to run: instructions for a machine with a stack (spec query.md §11.3).
// Flat, so that running it needs no recursion however the text was nested.

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
  kLocal,        // push a local variable
  kSetVariable,  // store the top, which stays
  kSetLocal,     //
  kBinary,       // BinaryOperator(operand) of the two topmost
  kNegate,       // replace the top
  kNot,          //
  kComplement,   //
  kIsEmpty,      //
  kSizeOf,       //
  kToBoolean,    //
  kPop,
  kJump,         // to instruction operand
  kJumpIfFalse,  // pops
  kAnd,          // a false top becomes false and is the result at operand; else it is popped
  kOr,           // a true top likewise
  kElvis,        // a top that is true is the result at operand; else it is popped
  kFail,         // failures[operand] is why
};

struct Instruction {
  Step step;
  uint32_t operand = 0;
};

/// Immutable once compiled.
struct Program {
  std::vector<Instruction> code;
  std::vector<Value> constants;
  std::vector<std::string> variables;  // as they appear, each once
  std::vector<std::string> failures;   // what parses but cannot be computed
  uint32_t local_count = 0;
};

/// InvalidArgument says what is wrong and where: syntax, a text longer than kExpressionBytesMax,
/// deeper than kExpressionNestingMax, loops, no variable at all.
Result<Program> CompileExpression(std::string_view text);

/// Runs one program again and again. One thread at a time.
class Evaluator {
 public:
  /// The program outlives the evaluator.
  explicit Evaluator(const Program& program) : program_(program) {}

  /// `variables` in the order of Program::variables. The result is a double, a boolean counting as
  /// 1 or 0. InvalidArgument: another type, or operands that do not fit.
  Status Run(const std::vector<double>& variables, double* out);

 private:
  Status Execute();

  const Program& program_;
  std::vector<Value> variables_;
  std::vector<Value> locals_;
  std::vector<Value> stack_;
};

}  // namespace hg::query
