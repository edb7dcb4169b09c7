#include "query/expression/exp_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "query/column_values.h"
#include "query/expression/limits.h"
#include "storage/model/java_hash.h"

namespace hg::query {
namespace {

constexpr int64_t kBytesPerCharge = 64 << 10;
constexpr size_t kJoinedSeriesBytes = 512;  // its members and its tags, roughly
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::vector<size_t> MapOrder(const std::vector<std::string>& keys,
                             const std::vector<size_t>& inserted, size_t capacity) {
  std::vector<uint32_t> hashes;
  for (size_t i : inserted) hashes.push_back(JavaHashUtf8(keys[i]));
  std::vector<size_t> out;
  for (size_t position : JavaMapOrder(hashes, capacity)) out.push_back(inserted[position]);
  return out;
}

// OpenTSDB keeps variables in a set, and puts first the metrics among them, in order of their
// sub-queries, and then the expressions into a map made for their number: the first of its order
// gives a joined series its tags. `places`: of a metric's sub-query, kNoPlace of an expression.
constexpr size_t kNoPlace = std::numeric_limits<size_t>::max();
std::vector<size_t> VariableOrder(const std::vector<std::string>& names,
                                  const std::vector<size_t>& places) {
  std::vector<size_t> order(names.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  order = MapOrder(names, order, Hash16Capacity(names.size()));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return places[a] < places[b]; });
  return MapOrder(names, order, HashNCapacity(names.size()));
}

/// The groups of one metric of the request.
struct MetricSeries {
  double fill = 0;
  size_t place = 0;  // of its sub-query: of those of the request without what is asked twice
  std::vector<const Group*> groups;
  std::vector<SeriesIdentity> series;
  std::vector<Bytes> filter_keys;
  Status failure;  // of its evaluation: only who needs it fails

  [[nodiscard]] bool HasEmptyGroup() const {
    return std::any_of(groups.begin(), groups.end(),
                       [](const Group* g) { return g->points.size() == 0; });
  }
};

/// A variable of an expression: a metric or another expression.
struct Variable {
  bool is_metric = true;
  size_t index = 0;
};

/// An expression whose series are known; its rows once it was computed.
struct Joined {
  std::vector<Variable> sides;     // in map order
  std::vector<size_t> slots;       // of each side, among the program's variables
  std::vector<JoinedSeries> rows;  // per series its members
  std::shared_ptr<ExpTable> table;
};

/// Walks the groups of a metric in step.
class MetricCursor {
 public:
  MetricCursor(const MetricSeries& metric, double fill)
      : metric_(metric),
        fill_(fill),
        next_(metric.groups.size(), 0),
        taken_(metric.groups.size(), true),
        values_(metric.groups.size(), 0) {}

  /// Series that no joined series has are passed over.
  void TakeOnly(const std::vector<JoinedSeries>& joined, size_t side) {
    std::fill(taken_.begin(), taken_.end(), false);
    for (const JoinedSeries& members : joined) taken_[members[side]] = true;
  }

  [[nodiscard]] int64_t NextTime() const {
    int64_t next = kNever;
    for (size_t s = 0; s < next_.size(); ++s) {
      const PointColumns& points = metric_.groups[s]->points;
      if (taken_[s] && next_[s] < points.size()) next = std::min(next, points.time_ms[next_[s]]);
    }
    return next;
  }

  /// The values at `t`: a series without a point there, or with NaN, has the fill value.
  const double* Advance(int64_t t) {
    for (size_t s = 0; s < next_.size(); ++s) {
      const PointColumns& points = metric_.groups[s]->points;
      values_[s] = fill_;
      if (!taken_[s] || next_[s] == points.size() || points.time_ms[next_[s]] != t) continue;
      double value = DoubleAt(points, next_[s]++);
      if (!std::isnan(value)) values_[s] = value;
    }
    return values_.data();
  }

 private:
  const MetricSeries& metric_;
  double fill_;
  std::vector<size_t> next_;
  std::vector<bool> taken_;
  std::vector<double> values_;
};

/// Walks the rows of an expression, one per step whatever their times (OpenTSDB's nesting).
class TableCursor {
 public:
  /// For the series that `joined` takes from that side: of equal keys only one is.
  TableCursor(const ExpTable& table, const std::vector<JoinedSeries>& joined, size_t side)
      : table_(table) {
    for (const JoinedSeries& members : joined)
      if (members[side] != kLacking) taken_.push_back(members[side]);
  }

  [[nodiscard]] int64_t NextTime() const {
    return row_ < table_.times_ms.size() ? table_.times_ms[row_] : kNever;
  }

  Result<const double*> Advance() {
    if (row_ == table_.times_ms.size()) {
      return Status::InvalidArgument(
          "No more data: an expression that another one uses has fewer points");
    }
    const double* values = table_.values.data() + row_++ * table_.series.size();
    // A nested expression has lost its fill policy (quirk Q18).
    if (std::any_of(taken_.begin(), taken_.end(),
                    [values](size_t series) { return std::isnan(values[series]); })) {
      return Status::InvalidArgument(
          "An expression that another one uses has the value NaN, for which there is no fill "
          "policy");
    }
    return values;
  }

 private:
  const ExpTable& table_;
  std::vector<size_t> taken_;
  size_t row_ = 0;
};

class Runner {
 public:
  Runner(const ExpPlan& plan, const ValidQuery& query, const Answer& answer,
         const KeyLayout& layout, WorkWatch* watch)
      : plan_(plan), query_(query), watch_(watch), joined_(plan.expressions.size()) {
    for (size_t i = 0; i < plan.metrics.size(); ++i) {
      variables_[plan.metrics[i].id] = {true, i};
      AddMetric(plan.request.queries[i], plan.metrics[i].fill, answer, layout);
    }
    for (size_t i = 0; i < plan.expressions.size(); ++i) {
      variables_[plan.expressions[i].id] = {false, i};
    }
  }

  Result<std::vector<ExpResult>> Run() {
    RETURN_IF_ERROR(CheckVariables());
    ASSIGN_OR_RETURN(std::vector<size_t> order, DependencyOrder());
    const std::vector<bool> needed = Needed(order);
    for (size_t e : order) {
      const Status failure = FailureOf(e);
      if (!failure.ok() && needed[e]) return failure;
      if (failure.ok()) {
        RETURN_IF_ERROR(JoinSeries(e));
      } else {
        joined_[e].table = std::make_shared<ExpTable>();
      }
    }
    for (size_t e : order) {
      if (needed[e]) RETURN_IF_ERROR(Compute(e));
    }
    return Outputs();
  }

 private:
  // The expressions that are shown, and those which they use. `order`: used ones first.
  [[nodiscard]] std::vector<bool> Needed(const std::vector<size_t>& order) const {
    std::vector<bool> needed(joined_.size(), false);
    for (const PlannedOutput& output : plan_.outputs) {
      Variable v = variables_.at(output.id);
      if (!v.is_metric) needed[v.index] = true;
    }
    for (auto e = order.rbegin(); e != order.rend(); ++e) {
      if (!needed[*e]) continue;
      for (const std::string& name : plan_.expressions[*e].program.variables) {
        Variable v = variables_.at(name);
        if (!v.is_metric) needed[v.index] = true;
      }
    }
    return needed;
  }

  // That of a metric which the expression uses itself.
  [[nodiscard]] Status FailureOf(size_t e) const {
    for (const std::string& name : plan_.expressions[e].program.variables) {
      Variable v = variables_.at(name);
      if (v.is_metric) RETURN_IF_ERROR(metrics_[v.index].failure);
    }
    return {};
  }

  void AddMetric(const SubQuery& wanted, double fill, const Answer& answer,
                 const KeyLayout& layout) {
    MetricSeries metric;
    metric.fill = fill;
    const std::vector<SubQuery>& queries = query_.request.queries;
    // Metrics that ask for the same are one sub-query.
    auto same = [&wanted](const SubQuery& q) { return SameQuestion(q, wanted); };
    auto index =
        static_cast<size_t>(std::find_if(queries.begin(), queries.end(), same) - queries.begin());
    for (const Group& group : answer.groups) {
      if (group.query_index != index) continue;
      metric.groups.push_back(&group);
      metric.series.push_back(Identify(layout, group));
    }
    metric.place = index;
    metric.filter_keys = answer.queries[index].filter_keys;
    metric.failure = answer.queries[index].failure;
    metrics_.push_back(std::move(metric));
  }

  // OpenTSDB stores results under lower-case names and looks for them under the written ones.
  Status CheckVariables() const {
    for (const PlannedExpression& expression : plan_.expressions) {
      for (const std::string& name : expression.program.variables) {
        if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
          return Status::InvalidArgument("Missing results for variable " + name +
                                         ": ids must be in lower case to be used in expressions");
        }
      }
    }
    return {};
  }

  // Every expression after those it uses.
  Result<std::vector<size_t>> DependencyOrder() const {
    std::vector<size_t> order;
    std::vector<bool> placed(plan_.expressions.size(), false);
    auto ready = [&](size_t e) {
      for (const std::string& name : plan_.expressions[e].program.variables) {
        Variable v = variables_.at(name);
        if (!v.is_metric && !placed[v.index]) return false;
      }
      return true;
    };
    while (order.size() < placed.size()) {
      size_t before = order.size();
      for (size_t e = 0; e < placed.size(); ++e) {
        if (placed[e] || !ready(e)) continue;
        placed[e] = true;
        order.push_back(e);
      }
      if (order.size() != before) continue;
      auto e = std::find(placed.begin(), placed.end(), false) - placed.begin();
      return Status::InvalidArgument("The expression '" +
                                     plan_.expressions[static_cast<size_t>(e)].id +
                                     "' uses itself, or one that uses it");
    }
    return order;
  }

  Status JoinSeries(size_t e) {
    const PlannedExpression& expression = plan_.expressions[e];
    Joined& joined = joined_[e];
    std::vector<JoinSide> sides;
    std::vector<size_t> places;
    for (const std::string& name : expression.program.variables) {
      Variable v = variables_.at(name);
      places.push_back(v.is_metric ? metrics_[v.index].place : kNoPlace);
    }
    for (size_t slot : VariableOrder(expression.program.variables, places)) {
      Variable v = variables_.at(expression.program.variables[slot]);
      joined.slots.push_back(slot);
      joined.sides.push_back(v);
      JoinSide side;
      if (v.is_metric && metrics_[v.index].HasEmptyGroup()) {
        return Status::InvalidArgument("A series of '" + plan_.metrics[v.index].id +
                                       "' has no points left after downsampling or rate");
      }
      const std::vector<SeriesIdentity>& series =
          v.is_metric ? metrics_[v.index].series : joined_[v.index].table->series;
      for (const SeriesIdentity& s : series) side.series.push_back(&s);
      // An expression has no query tags, whatever its metrics have (recorded).
      if (v.is_metric) side.filter_keys = metrics_[v.index].filter_keys;
      sides.push_back(std::move(side));
    }
    Result<std::vector<JoinedSeries>> rows = Join(expression.join, sides);
    if (!rows.ok()) return Prepend(rows.status(), "expression '" + expression.id + "'");
    joined.rows = std::move(*rows);
    if (watch_ != nullptr) {
      RETURN_IF_ERROR(watch_->Charge(
          static_cast<int64_t>(joined.rows.size() * (kJoinedSeriesBytes + 8 * sides.size()))));
    }
    joined.table = std::make_shared<ExpTable>();
    std::vector<const SeriesIdentity*> parts(sides.size());
    for (const JoinedSeries& members : joined.rows) {
      for (size_t k = 0; k < sides.size(); ++k) {
        parts[k] = members[k] == kLacking ? nullptr : sides[k].series[members[k]];
      }
      joined.table->series.push_back(Unite(parts));
    }
    return {};
  }

  // Vectors of times and values grow by doubling.
  Status CountRow(size_t series) {
    value_count_ += series;
    if (value_count_ > kResultValuesMax) {
      return Status::LimitExceeded("The expressions have more than " +
                                   std::to_string(kResultValuesMax) + " values");
    }
    uncharged_bytes_ += static_cast<int64_t>(2 * (sizeof(int64_t) + series * sizeof(double)));
    if (uncharged_bytes_ < kBytesPerCharge || watch_ == nullptr) return {};
    return watch_->Charge(std::exchange(uncharged_bytes_, 0));
  }

  Status CountSteps(size_t steps) {
    step_count_ += steps;
    if (step_count_ > kEvaluationStepsMax) {
      return Status::LimitExceeded("The expressions take too many steps: the most is " +
                                   std::to_string(kEvaluationStepsMax));
    }
    unwatched_steps_ += steps;
    if (unwatched_steps_ < kStepsPerPoll || watch_ == nullptr) return {};
    return watch_->Step(std::exchange(unwatched_steps_, 0));
  }

  Status Compute(size_t e) {
    const PlannedExpression& expression = plan_.expressions[e];
    Joined& joined = joined_[e];
    ExpTable& table = *joined.table;
    std::vector<MetricCursor> metrics;
    std::vector<TableCursor> tables;
    for (size_t k = 0; k < joined.sides.size(); ++k) {
      Variable v = joined.sides[k];
      if (!v.is_metric) {
        tables.emplace_back(*joined_[v.index].table, joined.rows, k);
        continue;
      }
      metrics.emplace_back(metrics_[v.index], metrics_[v.index].fill);
      if (expression.join.intersection) metrics.back().TakeOnly(joined.rows, k);
    }
    Evaluator evaluator(expression.program);
    std::vector<const double*> now(joined.sides.size());
    std::vector<double> inputs(expression.program.variables.size());
    for (;;) {
      int64_t t = kNever;
      for (const MetricCursor& m : metrics) t = std::min(t, m.NextTime());
      for (const TableCursor& inner : tables) t = std::min(t, inner.NextTime());
      if (t == kNever) return {};
      RETURN_IF_ERROR(CountRow(joined.rows.size()));
      size_t metric = 0, inner = 0;
      for (size_t k = 0; k < now.size(); ++k) {
        if (joined.sides[k].is_metric) {
          now[k] = metrics[metric++].Advance(t);
        } else {
          ASSIGN_OR_RETURN(now[k], tables[inner++].Advance());
        }
      }
      table.times_ms.push_back(t);
      for (const JoinedSeries& members : joined.rows) {
        for (size_t k = 0; k < now.size(); ++k) {
          // Zero whatever the fill policy (quirk Q16).
          inputs[joined.slots[k]] = members[k] == kLacking ? 0.0 : now[k][members[k]];
        }
        RETURN_IF_ERROR(CountSteps(expression.program.code.size()));
        double value = 0;
        if (Status status = evaluator.Run(inputs, &value); !status.ok()) {
          return Prepend(status, "expression '" + expression.id + "'");
        }
        table.values.push_back(value);
      }
    }
  }

  // Neither trimmed nor filled by the policy (quirk Q19).
  Result<std::shared_ptr<const ExpTable>> MetricTable(const MetricSeries& metric) {
    RETURN_IF_ERROR(metric.failure);
    auto table = std::make_shared<ExpTable>();
    table->series = metric.series;
    MetricCursor cursor(metric, 0.0);
    if (cursor.NextTime() != kNever && metric.HasEmptyGroup()) {
      return Status::InvalidArgument(
          "A series of a metric has no points left after downsampling or rate");
    }
    for (const SeriesIdentity& s : metric.series) {
      if (s.metrics.empty())
        return Status::InvalidArgument("A group of a metric has no series, and with that no name");
    }
    for (int64_t t = cursor.NextTime(); t != kNever; t = cursor.NextTime()) {
      RETURN_IF_ERROR(CountRow(metric.groups.size()));
      const double* values = cursor.Advance(t);
      table->times_ms.push_back(t);
      table->values.insert(table->values.end(), values, values + metric.groups.size());
    }
    return std::shared_ptr<const ExpTable>(std::move(table));
  }

  Result<std::vector<ExpResult>> Outputs() {
    std::vector<ExpResult> out;
    std::set<std::string> shown;
    for (const PlannedOutput& output : plan_.outputs) {
      Variable v = variables_.at(output.id);
      ExpResult result;
      result.id = output.id;
      result.alias = output.alias;
      result.is_metric = v.is_metric;
      bool again = !shown.insert(output.id).second;
      if (v.is_metric) {
        ASSIGN_OR_RETURN(result.table, MetricTable(metrics_[v.index]));
        result.row_end = result.table->times_ms.size();
      } else {
        result.table = joined_[v.index].table;
        const std::vector<int64_t>& times = result.table->times_ms;
        auto begin = std::lower_bound(times.begin(), times.end(), query_.start_ms);
        auto end = std::upper_bound(begin, times.end(), query_.end_ms);
        result.row_begin = static_cast<size_t>(begin - times.begin());
        // The first output has used the expression up.
        result.row_end = again ? result.row_begin : static_cast<size_t>(end - times.begin());
      }
      out.push_back(std::move(result));
    }
    return out;
  }

  const ExpPlan& plan_;
  const ValidQuery& query_;
  WorkWatch* const watch_;
  std::map<std::string, Variable> variables_;
  std::vector<MetricSeries> metrics_;
  std::vector<Joined> joined_;
  size_t value_count_ = 0;
  size_t step_count_ = 0;
  uint64_t unwatched_steps_ = 0;
  int64_t uncharged_bytes_ = 0;
};

}  // namespace

Result<std::vector<ExpResult>> RunExpressions(const ExpPlan& plan, const ValidQuery& query,
                                              const Answer& answer, const KeyLayout& layout,
                                              WorkWatch* watch) {
  return Runner(plan, query, answer, layout, watch).Run();
}

}  // namespace hg::query
