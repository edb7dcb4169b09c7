#include "query/promql/format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/promql/duration_text.h"
#include "query/promql/function_table.h"
#include "query/promql/labels.h"
#include "query/promql/number_text.h"

namespace hg::query::promql {
namespace {

constexpr size_t kLineBytesMax = 100;

/// Returns whether the name needs no quotes as the name of a label.
bool IsPlainLabel(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), plain);
}

std::string LabelText(const std::string& name) { return IsPlainLabel(name) ? name : Quoted(name); }

/// Returns " (a, b)".
std::string LabelListText(const std::vector<std::string>& labels) {
  std::string text = " (";
  for (const std::string& label : labels)
    text.append(text.size() > 2 ? ", " : "").append(LabelText(label));
  return text + ")";
}

std::string NumberText(const NumberLiteral& number) {
  if (!number.duration) return FixedText(number.value);
  return (number.value < 0 ? "-" : "") + DurationText(std::llround(std::abs(number.value) * 1000));
}

/// Returns the seconds of an @ modifier with three decimals.
std::string AtText(int64_t ms) {
  // Above this time a double cannot represent every millisecond, and the parser reads a double. So
  // it would return another time for the exact digits. The code prints one of the nearest doubles,
  // for which the parser returns the right time.
  constexpr int64_t kExactMax = int64_t{1} << 50;
  if (std::abs(ms) > kExactMax) {
    constexpr int kNeighbours = 4;
    double seconds = static_cast<double>(ms) / 1000;
    for (int i = 0; i < kNeighbours; ++i) seconds = std::nextafter(seconds, -INFINITY);
    for (int i = 0; i < 2 * kNeighbours && std::round(seconds * 1000) < static_cast<double>(ms);
         ++i)
      seconds = std::nextafter(seconds, INFINITY);
    return FixedText(seconds);
  }
  std::string fraction = std::to_string(std::abs(ms) % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return (ms < 0 ? "-" : "") + std::to_string(std::abs(ms) / 1000) + "." + fraction;
}

/// Returns the text of an offset that is an expression. Adds parentheses if the parser would
/// otherwise read only the first operand as the offset.
std::string OffsetExprText(const DurationExpr& expr) {
  using Kind = DurationExpr::Kind;
  const auto whole = [](const DurationExpr& part) {
    return part.parentheses || part.right == nullptr || part.kind == Kind::kMinOf ||
           part.kind == Kind::kMaxOf;
  };
  const std::string text = DurationExprText(expr);
  const bool sign = expr.left == nullptr && expr.right != nullptr && whole(*expr.right);
  if (whole(expr) || sign || text.starts_with("(") || text.starts_with("--")) return text;
  return "(" + text + ")";
}

std::string ShiftText(const TimeShift& shift) {
  std::string text;
  if (shift.at == TimeShift::At::kTime) text += " @ " + AtText(shift.at_ms);
  if (shift.at == TimeShift::At::kStart) text += " @ start()";
  if (shift.at == TimeShift::At::kEnd) text += " @ end()";
  if (shift.offset_expr != nullptr) return text + " offset " + OffsetExprText(*shift.offset_expr);
  const int64_t offset_ms = shift.offset_ms.value_or(0);
  if (offset_ms != 0)
    text += (offset_ms < 0 ? " offset -" : " offset ") + DurationText(std::abs(offset_ms));
  return text;
}

/// Returns the text of a duration in brackets: its expression if it has one.
std::string LengthText(int64_t ms, const DurationExprPtr& expr) {
  return expr != nullptr ? DurationExprText(*expr) : DurationText(ms);
}

std::string SelectorText(const Selector& selector) {
  std::vector<std::string> matchers;
  for (size_t i = selector.named ? 1 : 0; i < selector.matchers.size(); ++i) {
    const Matcher& matcher = selector.matchers[i];
    matchers.push_back(LabelText(matcher.label) + std::string(MatchKindText(matcher.kind)) +
                       Quoted(matcher.value));
  }
  std::sort(matchers.begin(), matchers.end());
  std::string text = selector.named ? selector.matchers[0].value : "";
  for (size_t i = 0; i < matchers.size(); ++i) text.append(i == 0 ? "{" : ",").append(matchers[i]);
  if (!matchers.empty()) text += "}";
  if (selector.range_ms > 0) text += "[" + LengthText(selector.range_ms, selector.range_expr) + "]";
  return text + ShiftText(selector.shift);
}

std::string SubquerySuffix(const Subquery& subquery) {
  const std::string step =
      subquery.step_ms > 0 ? LengthText(subquery.step_ms, subquery.step_expr) : "";
  return "[" + LengthText(subquery.range_ms, subquery.range_expr) + ":" + step + "]" +
         ShiftText(subquery.shift);
}

/// Returns the text of an aggregation before its arguments.
std::string AggregationHead(const Aggregation& aggregation) {
  const Grouping& grouping = aggregation.grouping;
  std::string text(AggregatorText(aggregation.aggregator));
  if (!grouping.without && grouping.labels.empty()) return text;
  return text + (grouping.without ? " without" : " by") + LabelListText(grouping.written_labels) +
         " ";
}

/// Returns the operator with its modifiers.
std::string OperationText(const Binary& binary) {
  const Matching& matching = binary.matching;
  std::string text(OperatorText(binary.op));
  if (binary.returns_bool) text += " bool";
  const bool many = matching.many != Matching::Side::kNone;
  if (matching.on || !matching.labels.empty() || many)
    text += (matching.on ? " on" : " ignoring") + LabelListText(matching.written_labels);
  if (many) {
    text += matching.many == Matching::Side::kLeft ? " group_left" : " group_right";
    text += LabelListText(matching.written_included);
  }
  return text;
}

/// First prints the whole expression in one line. Then divides this text into lines, so that each
/// part is printed only once, and not again for each level.
class Formatter {
 public:
  explicit Formatter(RequestContext& context) : context_(context) {}

  Result<std::string> Run(const Expr& expr) {
    Flat(expr);
    Lines(expr, expr.parentheses, 0);
    RETURN_IF_ERROR(status_);
    return std::move(lines_);
  }

 private:
  static constexpr uint64_t kStepsPerNode = 64;

  /// Reports the work of a node, and charges the growth of the texts. Returns false if the request
  /// was cancelled.
  bool Goes() {
    constexpr int64_t kBytesAtOnce = 64 << 10, kBytesPerPiece = 64;
    const auto held = static_cast<int64_t>(flat_.capacity() + lines_.capacity() +
                                           pieces_.size() * kBytesPerPiece);
    if (status_.ok()) status_ = context_.Step(kStepsPerNode);
    if (status_.ok() && held > charged_) {
      // The memory of the string is charged in advance, because it doubles its capacity when it
      // grows.
      const int64_t more = held + kBytesAtOnce;
      status_ = context_.Charge(more);
      if (status_.ok()) charged_ += more;
    }
    return status_.ok();
  }

  void Flat(const Expr& expr) {
    if (!Goes()) return;
    flat_.append(expr.parentheses, '(');
    const size_t begin = flat_.size();
    FlatNode(expr);
    pieces_[&expr] = {begin, flat_.size() - begin};
    flat_.append(expr.parentheses, ')');
  }

  void FlatNode(const Expr& expr) {
    if (const auto* number = expr.As<NumberLiteral>()) {
      flat_ += NumberText(*number);
    } else if (const auto* text = expr.As<StringLiteral>()) {
      flat_ += Quoted(text->value);
    } else if (const auto* selector = expr.As<Selector>()) {
      flat_ += SelectorText(*selector);
    } else if (const auto* subquery = expr.As<Subquery>()) {
      Flat(*subquery->inner);
      flat_ += SubquerySuffix(*subquery);
    } else if (const auto* call = expr.As<Call>()) {
      flat_.append(call->function->name).append("(");
      for (const ExprPtr& argument : call->arguments) {
        if (argument != call->arguments.front()) flat_ += ", ";
        Flat(*argument);
      }
      flat_ += ")";
    } else if (const auto* aggregation = expr.As<Aggregation>()) {
      flat_ += AggregationHead(*aggregation) + "(";
      if (aggregation->parameter != nullptr) {
        Flat(*aggregation->parameter);
        flat_ += ", ";
      }
      Flat(*aggregation->inner);
      flat_ += ")";
    } else if (const auto* binary = expr.As<Binary>()) {
      FlatLeft(*binary);
      flat_ += " " + OperationText(*binary) + " ";
      Flat(*binary->right);
    } else if (const auto* negation = expr.As<Negation>()) {
      flat_ += negation->plus ? "+" : "-";
      Flat(*negation->inner);
    }
  }

  void FlatLeft(const Binary& binary) {
    const size_t begin = flat_.size();
    Flat(*binary.left);
    // The parser would read "+Inf ^ 2" as +(Inf ^ 2), so the plus is removed.
    if (binary.op != BinaryOperator::kPower || flat_.size() == begin || flat_[begin] != '+') return;
    flat_.erase(begin, 1);
    --pieces_[binary.left.get()].second;
  }

  void Indent(size_t level) {
    if (!std::exchange(behind_sign_, false)) lines_.append(2 * level, ' ');
  }
  void Newline() { lines_ += "\n"; }

  /// Prints an expression with `parentheses` pairs of parentheses around it. The first line is
  /// indented.
  void Lines(const Expr& expr, size_t parentheses, size_t level) {
    if (!Goes()) return;
    const auto [begin, size] = pieces_[&expr];
    const bool is_long = size + 2 * parentheses > kLineBytesMax;
    if (is_long && parentheses > 0) {
      Indent(level);
      lines_ += "(\n";
      Lines(expr, parentheses - 1, level + 1);
      Newline();
      Indent(level);
      lines_ += ")";
      return;
    }
    if (is_long && LongNode(expr, level)) return;
    // As in Prometheus, a short subquery is not indented.
    const bool indented = parentheses > 0 || expr.As<Subquery>() == nullptr;
    if (indented) Indent(level);
    behind_sign_ = false;
    lines_.append(parentheses, '(').append(flat_, begin, size).append(parentheses, ')');
  }

  /// Divides a node into lines. Returns false if the node cannot be divided, such as a literal.
  bool LongNode(const Expr& expr, size_t level) {
    const auto inner = [this](const Expr& part, size_t at) { Lines(part, part.parentheses, at); };
    if (const auto* subquery = expr.As<Subquery>()) {
      inner(*subquery->inner, level);
      lines_ += SubquerySuffix(*subquery);
    } else if (const auto* call = expr.As<Call>()) {
      Indent(level);
      lines_.append(call->function->name).append("(");
      for (const ExprPtr& argument : call->arguments) {
        lines_ += argument == call->arguments.front() ? "\n" : ",\n";
        inner(*argument, level + 1);
      }
      Newline();
      Indent(level);
      lines_ += ")";
    } else if (const auto* aggregation = expr.As<Aggregation>()) {
      Indent(level);
      lines_ += AggregationHead(*aggregation) + "(\n";
      if (aggregation->parameter != nullptr) {
        inner(*aggregation->parameter, level + 1);
        lines_ += ",\n";
      }
      inner(*aggregation->inner, level + 1);
      Newline();
      Indent(level);
      lines_ += ")";
    } else if (const auto* binary = expr.As<Binary>()) {
      inner(*binary->left, level + 1);
      Newline();
      Indent(level);
      lines_ += OperationText(*binary);
      Newline();
      inner(*binary->right, level + 1);
    } else if (const auto* negation = expr.As<Negation>()) {
      Indent(level);
      lines_ += negation->plus ? "+" : "-";
      behind_sign_ = true;
      inner(*negation->inner, level);
    } else {
      return false;
    }
    return true;
  }

  RequestContext& context_;
  Status status_;
  int64_t charged_ = 0;
  std::string flat_, lines_;
  bool behind_sign_ = false;  // the next text follows a sign, so it is not indented
  /// Begin and size of each expression in flat_, without its parentheses.
  std::unordered_map<const Expr*, std::pair<size_t, size_t>> pieces_;
};

}  // namespace

Result<std::string> FormatExpression(const Expr& expr, RequestContext& context) {
  return Formatter(context).Run(expr);
}

std::string_view MatchKindText(MatchKind kind) {
  switch (kind) {
    case MatchKind::kEqual:
      return "=";
    case MatchKind::kNotEqual:
      return "!=";
    case MatchKind::kMatches:
      return "=~";
    case MatchKind::kMatchesNot:
      return "!~";
  }
  return "";
}

}  // namespace hg::query::promql
