#include "http/wire/prom_expression.h"

#include <string>
#include <string_view>
#include <vector>

#include "query/promql/format.h"
#include "query/promql/function_table.h"
#include "query/promql/number_text.h"

namespace hg::http {
namespace {

namespace promql = query::promql;
using promql::ValueType;

/// Returns the name of a type in the description of a function.
std::string_view TypeWord(ValueType type) {
  switch (type) {
    case ValueType::kScalar:
      return "scalar";
    case ValueType::kString:
      return "string";
    case ValueType::kVector:
      return "vector";
    case ValueType::kMatrix:
      return "matrix";
  }
  return "none";
}

void WriteTexts(const std::vector<std::string>& texts, JsonWriter* json) {
  json->BeginArray();
  for (const std::string& text : texts) json->String(text);
  json->EndArray();
}

void WriteChild(std::string_view key, const promql::Expr* expr, JsonWriter* json) {
  json->Key(key);
  if (expr == nullptr) return json->Null();
  WriteExpression(*expr, json);
}

/// Writes the expression of a duration, or null if the duration is a plain number.
void WriteDuration(std::string_view key, const promql::DurationExpr* expr, JsonWriter* json) {
  json->Key(key);
  if (expr == nullptr) return json->Null();
  json->BeginObject();
  if (expr->kind == promql::DurationExpr::Kind::kNumber) {
    json->Member("type", "numberLiteral");
    json->Member("val", promql::FixedText(expr->seconds));
    json->Member("duration", expr->duration);
  } else {
    json->Member("type", "durationExpr");
    json->Member("op", promql::DurationKindText(expr->kind));
    WriteDuration("lhs", expr->left.get(), json);
    WriteDuration("rhs", expr->right.get(), json);
    json->Member("wrapped", expr->parentheses);
  }
  json->EndObject();
}

void WriteShift(const promql::TimeShift& shift, JsonWriter* json) {
  json->Member("offset", shift.offset_ms.value_or(0));
  WriteDuration("offsetExpr", shift.offset_expr.get(), json);
  json->Key("timestamp");
  if (shift.at == promql::TimeShift::At::kTime) {
    json->Int(shift.at_ms);
  } else {
    json->Null();
  }
  json->Key("startOrEnd");
  if (shift.at == promql::TimeShift::At::kStart || shift.at == promql::TimeShift::At::kEnd) {
    json->String(shift.at == promql::TimeShift::At::kStart ? "start" : "end");
  } else {
    json->Null();
  }
}

void WriteMatcher(const promql::Matcher& matcher, JsonWriter* json) {
  json->BeginObject();
  json->Member("name", matcher.label);
  json->Member("value", matcher.value);
  json->Member("type", promql::MatchKindText(matcher.kind));
  json->EndObject();
}

void WriteSelector(const promql::Selector& selector, JsonWriter* json) {
  const bool range = selector.range_ms > 0;
  json->Member("type", range ? "matrixSelector" : "vectorSelector");
  json->Member("name", selector.named ? std::string_view(selector.matchers[0].value) : "");
  if (range) {
    json->Member("range", selector.range_expr == nullptr ? selector.range_ms : 0);
    WriteDuration("rangeExpr", selector.range_expr.get(), json);
  }
  json->Key("matchers");
  json->BeginArray();
  const size_t first = selector.named ? 1 : 0;
  for (size_t i = first; i < selector.matchers.size(); ++i)
    WriteMatcher(selector.matchers[i], json);
  // Prometheus lists a metric name that is written before the braces as the last matcher.
  if (selector.named) WriteMatcher(selector.matchers[0], json);
  json->EndArray();
  WriteShift(selector.shift, json);
  json->Member("anchored", false);
  json->Member("smoothed", false);
}

void WriteSubquery(const promql::Subquery& subquery, JsonWriter* json) {
  json->Member("type", "subquery");
  WriteChild("expr", subquery.inner.get(), json);
  json->Member("range", subquery.range_expr == nullptr ? subquery.range_ms : 0);
  WriteDuration("rangeExpr", subquery.range_expr.get(), json);
  json->Member("step", subquery.step_expr == nullptr ? subquery.step_ms : 0);
  WriteDuration("stepExpr", subquery.step_expr.get(), json);
  WriteShift(subquery.shift, json);
}

void WriteCall(const promql::Call& call, JsonWriter* json) {
  const promql::FunctionSpec& function = *call.function;
  json->Member("type", "call");
  json->Key("func");
  json->BeginObject();
  json->Member("name", function.name);
  json->Key("argTypes");
  json->BeginArray();
  for (const ValueType type : function.arguments) json->String(TypeWord(type));
  json->EndArray();
  json->Member("variadic", function.most == promql::FunctionSpec::kUnlimited
                               ? int64_t{-1}
                               : static_cast<int64_t>(function.most - function.least));
  json->Member("returnType", TypeWord(function.returns));
  json->EndObject();
  json->Key("args");
  json->BeginArray();
  for (const promql::ExprPtr& argument : call.arguments) WriteExpression(*argument, json);
  json->EndArray();
}

void WriteAggregation(const promql::Aggregation& aggregation, JsonWriter* json) {
  json->Member("type", "aggregation");
  json->Member("op", promql::AggregatorText(aggregation.aggregator));
  WriteChild("expr", aggregation.inner.get(), json);
  WriteChild("param", aggregation.parameter.get(), json);
  json->Key("grouping");
  WriteTexts(aggregation.grouping.written_labels, json);
  json->Member("without", aggregation.grouping.without);
}

std::string_view CardinalityText(const promql::Binary& binary) {
  if (promql::IsSetOperator(binary.op)) return "many-to-many";
  switch (binary.matching.many) {
    case promql::Matching::Side::kLeft:
      return "many-to-one";
    case promql::Matching::Side::kRight:
      return "one-to-many";
    case promql::Matching::Side::kNone:
      break;
  }
  return "one-to-one";
}

void WriteMatching(const promql::Binary& binary, JsonWriter* json) {
  json->Key("matching");
  if (promql::TypeOf(*binary.left) != ValueType::kVector ||
      promql::TypeOf(*binary.right) != ValueType::kVector) {
    return json->Null();
  }
  const promql::Matching& matching = binary.matching;
  json->BeginObject();
  json->Member("card", CardinalityText(binary));
  json->Key("labels");
  WriteTexts(matching.written_labels, json);
  json->Member("on", matching.on);
  json->Key("include");
  WriteTexts(matching.written_included, json);
  json->Key("fillValues");
  json->Raw(R"({"lhs":null,"rhs":null})");
  json->EndObject();
}

void WriteBinary(const promql::Binary& binary, JsonWriter* json) {
  json->Member("type", "binaryExpr");
  json->Member("op", promql::OperatorText(binary.op));
  WriteChild("lhs", binary.left.get(), json);
  WriteChild("rhs", binary.right.get(), json);
  WriteMatching(binary, json);
  json->Member("bool", binary.returns_bool);
}

}  // namespace

void WriteExpression(const promql::Expr& expr, JsonWriter* json) {
  if (!json->alive()) return;
  for (size_t i = 0; i < expr.parentheses; ++i) {
    json->BeginObject();
    json->Member("type", "parenExpr");
    json->Key("expr");
  }
  json->BeginObject();
  if (const auto* number = expr.As<promql::NumberLiteral>()) {
    json->Member("type", "numberLiteral");
    json->Member("val", promql::FixedText(number->value));
  } else if (const auto* text = expr.As<promql::StringLiteral>()) {
    json->Member("type", "stringLiteral");
    json->Member("val", text->value);
  } else if (const auto* selector = expr.As<promql::Selector>()) {
    WriteSelector(*selector, json);
  } else if (const auto* subquery = expr.As<promql::Subquery>()) {
    WriteSubquery(*subquery, json);
  } else if (const auto* call = expr.As<promql::Call>()) {
    WriteCall(*call, json);
  } else if (const auto* aggregation = expr.As<promql::Aggregation>()) {
    WriteAggregation(*aggregation, json);
  } else if (const auto* binary = expr.As<promql::Binary>()) {
    WriteBinary(*binary, json);
  } else if (const auto* negation = expr.As<promql::Negation>()) {
    json->Member("type", "unaryExpr");
    json->Member("op", negation->plus ? "+" : "-");
    WriteChild("expr", negation->inner.get(), json);
  }
  json->EndObject();
  for (size_t i = 0; i < expr.parentheses; ++i) json->EndObject();
}

}  // namespace hg::http
