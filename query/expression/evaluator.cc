#include <cmath>

#include "query/expression/program.h"

namespace hg::query {
namespace {

size_t TextBytes(const Value& value) {
  const std::string* text = TextOf(value);
  return text != nullptr ? text->size() : 0;
}

Status NumberOf(const Value& result, double* out) {
  if (const auto* d = std::get_if<double>(&result)) {
    *out = *d;
  } else if (const auto* b = std::get_if<bool>(&result)) {
    *out = *b ? 1.0 : 0.0;
  } else {
    return Status::InvalidArgument("The expression gives " + std::string(TypeName(result)) +
                                   ", not a double or a boolean");
  }
  return {};
}

}  // namespace

Status Evaluator::Run(const std::vector<double>& variables, double* out) {
  variables_.assign(variables.begin(), variables.end());
  locals_.assign(program_.local_count, Value());
  text_bytes_ = 0;
  Status status = Execute();
  if (status.ok()) status = NumberOf(stack_.back(), out);
  // The caller may wait between two evaluations. The texts are not charged to the request, so a
  // waiting request must not keep them.
  variables_.clear();
  locals_.clear();
  stack_.clear();
  return status;
}

Status Evaluator::Execute() {
  const std::vector<Instruction>& code = program_.code;
  for (size_t at = 0; at < code.size(); ++at) {
    const uint32_t operand = code[at].operand;
    if (!stack_.empty()) text_bytes_ += TextBytes(stack_.back());
    switch (code[at].step) {
      case Step::kConstant:
        stack_.push_back(program_.constants[operand]);
        break;
      case Step::kVariable:
        stack_.push_back(variables_[operand]);
        break;
      case Step::kLocal:
        stack_.push_back(locals_[operand]);
        break;
      case Step::kSetVariable:
        variables_[operand] = stack_.back();
        break;
      case Step::kSetLocal:
        locals_[operand] = stack_.back();
        break;
      case Step::kBinary: {
        const auto op = static_cast<BinaryOperator>(operand);
        const Value right = std::move(stack_.back());
        stack_.pop_back();
        Value& left = stack_.back();
        const auto* l = std::get_if<double>(&left);
        const auto* r = std::get_if<double>(&right);
        if (l != nullptr && r != nullptr && IsArithmetic(op)) {
          left = ApplyArithmetic(op, *l, *r);
        } else if (l != nullptr && r != nullptr && IsComparison(op)) {
          left = ApplyComparison(op, *l, *r);
        } else {
          Value result;
          text_bytes_ += TextBytes(left);
          RETURN_IF_ERROR(Apply(op, left, right, &texts_, &result));
          left = std::move(result);
        }
        break;
      }
      case Step::kNegate: {
        Value result;
        RETURN_IF_ERROR(Negate(stack_.back(), &result));
        stack_.back() = std::move(result);
        break;
      }
      case Step::kNot:
        stack_.back() = !IsTrue(stack_.back());
        break;
      case Step::kComplement: {
        Value result;
        RETURN_IF_ERROR(Complement(stack_.back(), &result));
        stack_.back() = std::move(result);
        break;
      }
      case Step::kIsEmpty: {
        const std::string* text = TextOf(stack_.back());
        stack_.back() =
            text != nullptr ? text->empty() : std::holds_alternative<std::monostate>(stack_.back());
        break;
      }
      case Step::kSizeOf: {
        const std::string* text = TextOf(stack_.back());
        if (text == nullptr) {
          return Status::InvalidArgument("'size' cannot be applied to " +
                                         std::string(TypeName(stack_.back())));
        }
        stack_.back() = Integer{static_cast<__int128>(text->size()), Integer::Width::kInt};
        break;
      }
      case Step::kToBoolean:
        stack_.back() = IsTrue(stack_.back());
        break;
      case Step::kPop:
        stack_.pop_back();
        break;
      case Step::kJump:
        at = operand - 1;
        break;
      case Step::kJumpIfFalse: {
        bool holds = IsTrue(stack_.back());
        stack_.pop_back();
        if (!holds) at = operand - 1;
        break;
      }
      case Step::kAnd:
      case Step::kOr: {
        bool decided = IsTrue(stack_.back()) == (code[at].step == Step::kOr);
        if (decided) {
          stack_.back() = code[at].step == Step::kOr;
          at = operand - 1;
        } else {
          stack_.pop_back();
        }
        break;
      }
      case Step::kElvis: {
        if (IsTrue(stack_.back())) {
          at = operand - 1;
        } else {
          stack_.pop_back();
        }
        break;
      }
      case Step::kFail:
        return Status::InvalidArgument(program_.failures[operand]);
    }
  }
  return {};
}

}  // namespace hg::query
