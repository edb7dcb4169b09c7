#pragma once
// Prints the syntax tree of a PromQL expression as text in prefix notation.

#include <string>

#include "query/promql/function_table.h"
#include "query/promql/labels.h"
#include "query/promql/number_text.h"
#include "query/promql/syntax.h"

namespace hg::query::promql {

inline std::string TreeText(const Expr& expr);

inline std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return "(" + out + ")";
}

inline std::string ShiftText(const TimeShift& shift) {
  std::string out;
  if (shift.offset_ms) out += " offset " + std::to_string(*shift.offset_ms);
  if (shift.at == TimeShift::At::kTime) out += " @ " + std::to_string(shift.at_ms);
  if (shift.at == TimeShift::At::kStart) out += " @ start";
  if (shift.at == TimeShift::At::kEnd) out += " @ end";
  return out;
}

inline std::string SelectorText(const Selector& selector) {
  constexpr const char* kKinds[] = {"=", "!=", "=~", "!~"};
  std::string out = "{";
  for (const Matcher& matcher : selector.matchers) {
    if (out.size() > 1) out += ",";
    const bool name = matcher.label == kNameLabel && matcher.kind == MatchKind::kEqual;
    if (!name) out += matcher.label + kKinds[static_cast<int>(matcher.kind)];
    out += matcher.value;
  }
  out += "}";
  if (selector.range_ms > 0) out += "[" + std::to_string(selector.range_ms) + "]";
  return out + ShiftText(selector.shift);
}

inline std::string AggregationText(const Aggregation& aggregation) {
  constexpr const char* kNames[] = {"sum",  "avg",     "count",    "min",
                                    "max",  "group",   "stddev",   "stdvar",
                                    "topk", "bottomk", "quantile", "count_values"};
  const Grouping& grouping = aggregation.grouping;
  std::string out = "(" + std::string(kNames[static_cast<int>(aggregation.aggregator)]);
  if (grouping.without) out += " without" + Joined(grouping.labels);
  if (!grouping.without && !grouping.labels.empty()) out += " by" + Joined(grouping.labels);
  if (aggregation.parameter != nullptr) out += " " + TreeText(*aggregation.parameter);
  return out + " " + TreeText(*aggregation.inner) + ")";
}

inline std::string BinaryText(const Binary& binary) {
  const Matching& matching = binary.matching;
  std::string out = "(" + std::string(OperatorText(binary.op));
  if (binary.returns_bool) out += "bool";
  if (matching.given) out += (matching.on ? " on" : " ignoring") + Joined(matching.labels);
  if (matching.many == Matching::Side::kLeft) out += " left" + Joined(matching.included);
  if (matching.many == Matching::Side::kRight) out += " right" + Joined(matching.included);
  return out + " " + TreeText(*binary.left) + " " + TreeText(*binary.right) + ")";
}

inline std::string TreeText(const Expr& expr) {
  if (const auto* number = expr.As<NumberLiteral>()) return FixedText(number->value);
  if (const auto* text = expr.As<StringLiteral>()) return Quoted(text->value);
  if (const auto* selector = expr.As<Selector>()) return SelectorText(*selector);
  if (const auto* subquery = expr.As<Subquery>()) {
    return TreeText(*subquery->inner) + "[" + std::to_string(subquery->range_ms) + ":" +
           std::to_string(subquery->step_ms) + "]" + ShiftText(subquery->shift);
  }
  if (const auto* aggregation = expr.As<Aggregation>()) return AggregationText(*aggregation);
  if (const auto* binary = expr.As<Binary>()) return BinaryText(*binary);
  if (const auto* negation = expr.As<Negation>())
    return (negation->plus ? "(plus " : "(neg ") + TreeText(*negation->inner) + ")";
  const auto* call = expr.As<Call>();
  std::string out = "(" + std::string(call->function->name);
  for (const ExprPtr& argument : call->arguments) out += " " + TreeText(*argument);
  return out + ")";
}

}  // namespace hg::query::promql
