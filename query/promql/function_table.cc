#include "query/promql/function_table.h"

#include <unordered_map>

namespace hg::query::promql {
namespace {

constexpr ValueType kS = ValueType::kScalar, kT = ValueType::kString, kV = ValueType::kVector,
                    kM = ValueType::kMatrix;

std::unordered_map<std::string_view, FunctionSpec> MakeTable() {
  std::unordered_map<std::string_view, FunctionSpec> table;
  const auto add = [&](FunctionSpec spec) { table.emplace(spec.name, std::move(spec)); };
  const auto exact = [&](std::string_view name, std::vector<ValueType> arguments,
                         ValueType returns = kV) {
    const size_t count = arguments.size();
    add({name, std::move(arguments), count, count, returns});
  };
  for (const std::string_view name :
       {"abs", "absent", "acos", "acosh", "asin",  "asinh", "atan",      "atanh",     "ceil",
        "cos", "cosh",   "deg",  "exp",   "floor", "ln",    "log10",     "log2",      "rad",
        "sgn", "sin",    "sinh", "sort",  "sqrt",  "tan",   "sort_desc", "timestamp", "tanh"}) {
    exact(name, {kV});
  }
  for (const std::string_view name :
       {"absent_over_time", "avg_over_time", "changes", "count_over_time", "delta", "deriv",
        "first_over_time", "idelta", "increase", "irate", "last_over_time", "max_over_time",
        "min_over_time", "rate", "present_over_time", "resets", "stddev_over_time",
        "stdvar_over_time", "sum_over_time"}) {
    exact(name, {kM});
  }
  // If called without an argument, the following functions use the time of the evaluation.
  for (const std::string_view name : {"day_of_month", "day_of_week", "day_of_year", "days_in_month",
                                      "hour", "minute", "month", "year"}) {
    add({name, {kV}, 0, 1, kV});
  }
  exact("clamp", {kV, kS, kS});
  exact("clamp_max", {kV, kS});
  exact("clamp_min", {kV, kS});
  for (const std::string_view name : {"histogram_avg", "histogram_count", "histogram_stddev",
                                      "histogram_stdvar", "histogram_sum"}) {
    exact(name, {kV});
  }
  exact("histogram_fraction", {kS, kS, kV});
  exact("histogram_quantile", {kS, kV});
  exact("double_exponential_smoothing", {kM, kS, kS});
  exact("holt_winters", {kM, kS, kS});  // its name in Prometheus 2
  add({"label_join", {kV, kT, kT, kT}, 3, FunctionSpec::kUnlimited, kV});
  exact("label_replace", {kV, kT, kT, kT, kT});
  exact("pi", {}, kS);
  exact("predict_linear", {kM, kS});
  exact("quantile_over_time", {kS, kM});
  add({"round", {kV, kS}, 1, 2, kV});
  exact("scalar", {kV}, kS);
  exact("time", {}, kS);
  exact("vector", {kS});
  return table;
}

}  // namespace

const FunctionSpec* FindFunction(std::string_view name) {
  static const std::unordered_map<std::string_view, FunctionSpec> table = MakeTable();
  const auto found = table.find(name);
  return found != table.end() ? &found->second : nullptr;
}

bool IsExperimental(std::string_view name) {
  for (const std::string_view known :
       {"end", "histogram_quantiles", "info", "integral", "limit_ratio", "limitk", "mad_over_time",
        "max_of", "min_of", "range", "sort_by_label", "sort_by_label_desc", "start",
        "start_timestamp", "step", "ts_of_first_over_time", "ts_of_last_over_time",
        "ts_of_max_over_time", "ts_of_min_over_time"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace hg::query::promql
