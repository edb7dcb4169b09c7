#include "query/expression/exp_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "query/buckets/column_values.h"
#include "query/expression/limits.h"
#include "storage/model/java_hash.h"

namespace hg::query {
namespace {

constexpr int64_t kBytesPerCharge = 64 << 10;
constexpr uint64_t kVariableSteps = 64;  // cost of looking up and ordering a variable
// Approximate bytes that the response has for a value, and for a series without its names.
constexpr size_t kShownValueBytes = 16, kShownSeriesBytes = 64;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::vector<size_t> MapOrder(const std::vector<std::string>& keys,
                             const std::vector<size_t>& inserted, size_t capacity) {
  std::vector<uint32_t> hashes;
  for (size_t i : inserted) hashes.push_back(JavaHashUtf8(keys[i]));
  std::vector<size_t> out;
  for (size_t position : JavaMapOrder(hashes, capacity)) out.push_back(inserted[position]);
  return out;
}

// Reproduces OpenTSDB's order of variables, because the first variable gives a joined series its
// tags. OpenTSDB stores the variables in a hash set. Then it adds the metrics, in the order of
// their sub-queries, and then the expressions to a hash map. The capacity of this map is the number
// of variables. `places` has the index of the sub-query for a metric, and kNoPlace for an
// expression.
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

/// The result of a sub-query. Metrics with equal sub-queries share one object.
struct Found {
  std::vector<const Group*> groups;
  SharedVector<SeriesIdentity> series;
  std::vector<Bytes> filter_keys;
  Status failure;  // evaluation error; only expressions that need the result fail
  bool has_empty_group = false;
};

/// A metric of the request.
struct MetricSeries {
  double fill = 0;
  size_t place = 0;  // index of its sub-query, not counting repeated ones
  const Found* found = nullptr;
  std::shared_ptr<const ExpTable> shown;  // set when the metric is first shown
};

/// A variable of an expression: a metric or another expression.
struct Variable {
  bool is_metric = true;
  size_t index = 0;
};

/// An expression with its joined series. Its rows are filled by Compute.
struct JoinedExpression {
  std::vector<Variable> sides;     // in OpenTSDB's map order
  std::vector<size_t> slots;       // for each side: its slot in the program's variables
  std::vector<JoinedSeries> rows;  // for each joined series: its members
  std::shared_ptr<ExpTable> table;
};

/// Walks the groups of a metric instant by instant.
class MetricCursor {
 public:
  MetricCursor(const Found& found, double fill)
      : groups_(found.groups),
        fill_(fill),
        next_(found.groups.size(), 0),
        taken_(found.groups.size(), true),
        values_(found.groups.size(), 0) {}
  /// Returns the memory of a cursor over `groups` groups.
  static int64_t BytesOf(size_t groups) {
    return static_cast<int64_t>(groups * (sizeof(size_t) + sizeof(double) + 1));
  }

  /// Skips series that are in no joined series.
  void TakeOnly(const std::vector<JoinedSeries>& joined, size_t side) {
    std::fill(taken_.begin(), taken_.end(), false);
    for (const JoinedSeries& members : joined) taken_[members[side]] = true;
  }

  [[nodiscard]] int64_t NextTime() const {
    int64_t next = kNever;
    for (size_t s = 0; s < next_.size(); ++s) {
      const PointColumns& points = groups_[s]->points;
      if (taken_[s] && next_[s] < points.size()) next = std::min(next, points.time_ms[next_[s]]);
    }
    return next;
  }

  /// Returns the values at `t`. A series without a point at `t`, or with NaN, has the fill value.
  const double* Advance(int64_t t) {
    for (size_t s = 0; s < next_.size(); ++s) {
      const PointColumns& points = groups_[s]->points;
      values_[s] = fill_;
      if (!taken_[s] || next_[s] == points.size() || points.time_ms[next_[s]] != t) continue;
      double value = DoubleAt(points, next_[s]++);
      if (!std::isnan(value)) values_[s] = value;
    }
    return values_.data();
  }

 private:
  const std::vector<const Group*>& groups_;
  double fill_;
  std::vector<size_t> next_;
  std::vector<bool> taken_;
  std::vector<double> values_;
};

/// Walks the rows of a nested expression. Each instant of the result uses the next row, even if the
/// row has another time, as in OpenTSDB.
class TableCursor {
 public:
  /// Reads only the series of `table` that `joined` names at index `side`. If several series of the
  /// table have equal keys, `joined` names one of them.
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
          "No more data: a nested expression has fewer points than the expression that uses it");
    }
    const double* values = table_.values.data() + row_++ * table_.series.size();
    // The fill policy of a nested expression has no effect (quirk Q18).
    if (std::any_of(taken_.begin(), taken_.end(),
                    [values](size_t series) { return std::isnan(values[series]); })) {
      return Status::InvalidArgument(
          "A nested expression has the value NaN, for which there is no fill policy");
    }
    return values;
  }

 private:
  const ExpTable& table_;
  std::vector<size_t> taken_;
  size_t row_ = 0;
};

class ExpRunner {
 public:
  ExpRunner(const ExpPlan& plan, const ValidQuery& query, const Answer& answer,
            const KeyLayout& layout, RequestContext* watch)
      : plan_(plan),
        query_(query),
        watch_(watch),
        memory_(watch),
        found_(answer.queries.size()),
        joined_(plan.expressions.size()),
        answer_(answer),
        layout_(layout) {}

  Result<std::vector<ExpResult>> Run() {
    RETURN_IF_ERROR(TakeFound());
    for (size_t i = 0; i < plan_.metrics.size(); ++i) {
      variables_[plan_.metrics[i].id] = {true, i};
      const size_t place = query_.places[i];
      metrics_.push_back({plan_.metrics[i].fill, place, &found_[place], nullptr});
    }
    for (size_t i = 0; i < plan_.expressions.size(); ++i)
      variables_[plan_.expressions[i].id] = {false, i};
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
  // Returns which expressions must be computed: those that are shown, and those that these use. In
  // `order`, an expression comes after those that it uses.
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

  // Returns the error of a metric that the expression uses directly.
  [[nodiscard]] Status FailureOf(size_t e) const {
    for (const std::string& name : plan_.expressions[e].program.variables) {
      Variable v = variables_.at(name);
      if (v.is_metric) RETURN_IF_ERROR(metrics_[v.index].found->failure);
    }
    return {};
  }

  // Creates the identity of each series only once, even if several metrics of the request use the
  // series.
  Status TakeFound() {
    Identifier identifier(layout_, watch_);
    std::vector<std::vector<SeriesIdentity>> series(found_.size());
    for (const Group& group : answer_.groups) {
      Found& found = found_[group.query_index];
      RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(2 * sizeof(&group))));
      found.groups.push_back(&group);
      ASSIGN_OR_RETURN(SeriesIdentity identity, identifier.Identify(group));
      series[group.query_index].push_back(std::move(identity));
      found.has_empty_group = found.has_empty_group || group.points.size() == 0;
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      found_[i].series = std::move(series[i]);
      found_[i].filter_keys = answer_.queries[i].filter_keys;
      found_[i].failure = answer_.queries[i].failure;
    }
    return {};
  }

  // Refuses names of variables with upper-case letters. OpenTSDB does not find them, because it
  // stores results under lower-case names, but looks them up under the names as written.
  Status CheckVariables() {
    for (const PlannedExpression& expression : plan_.expressions) {
      // Each variable is looked up several times.
      RETURN_IF_ERROR(memory_.Step(expression.program.variables.size() * kVariableSteps));
      for (const std::string& name : expression.program.variables) {
        if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
          return Status::InvalidArgument("Missing results for variable " + name +
                                         ": ids must be in lower case to be used in expressions");
        }
      }
    }
    return {};
  }

  // Returns an order in which each expression comes after those that it uses.
  Result<std::vector<size_t>> DependencyOrder() const {
    std::vector<size_t> order;
    const size_t count = plan_.expressions.size();
    std::vector<size_t> lacking(count, 0);  // number of used expressions that are not placed yet
    // For each expression: the expressions that use it.
    std::vector<std::vector<size_t>> users(count);
    for (size_t e = 0; e < count; ++e) {
      for (const std::string& name : plan_.expressions[e].program.variables) {
        const Variable v = variables_.at(name);
        if (v.is_metric) continue;
        ++lacking[e];
        users[v.index].push_back(e);
      }
    }
    std::vector<bool> placed(count, false);
    while (order.size() < count) {
      const size_t before = order.size();
      for (size_t e = 0; e < count; ++e) {
        if (placed[e] || lacking[e] > 0) continue;
        placed[e] = true;
        order.push_back(e);
        for (const size_t user : users[e]) --lacking[user];
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
    JoinedExpression& joined = joined_[e];
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
      if (v.is_metric && metrics_[v.index].found->has_empty_group) {
        return Status::InvalidArgument("A series of '" + plan_.metrics[v.index].id +
                                       "' has no points left after downsampling or rate");
      }
      const std::vector<SeriesIdentity>& series =
          v.is_metric ? metrics_[v.index].found->series : joined_[v.index].table->series;
      RETURN_IF_ERROR(memory_.Step(series.size()));
      RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(series.size() * sizeof(&series[0]))));
      side.series.reserve(series.size());
      for (const SeriesIdentity& s : series) side.series.push_back(&s);
      // Only metrics have query tags. A nested expression has none, even if its metrics have some
      // (recorded).
      if (v.is_metric) side.filter_keys = metrics_[v.index].found->filter_keys;
      sides.push_back(std::move(side));
    }
    Result<std::vector<JoinedSeries>> rows = Join(expression.join, sides, &memory_);
    if (!rows.ok()) return Prepend(rows.status(), "expression '" + expression.id + "'");
    joined.rows = std::move(*rows);
    joined.table = std::make_shared<ExpTable>();
    std::vector<const SeriesIdentity*> parts(sides.size());
    std::vector<SeriesIdentity> united;
    united.reserve(joined.rows.size());
    Uniter uniter(watch_);
    for (const JoinedSeries& members : joined.rows) {
      for (size_t k = 0; k < sides.size(); ++k) {
        parts[k] = members[k] == kLacking ? nullptr : sides[k].series[members[k]];
      }
      ASSIGN_OR_RETURN(SeriesIdentity series, uniter.Unite(parts));
      united.push_back(std::move(series));
    }
    joined.table->series = std::move(united);
    return {};
  }

  Status CountValues(size_t values) {
    value_count_ += values;
    if (value_count_ <= kResultValuesMax) return {};
    return Status::LimitExceeded("The expressions have more than " +
                                 std::to_string(kResultValuesMax) + " values");
  }

  // Counts a row of a result. The vectors of times and values grow by doubling.
  Status CountRow(size_t series) {
    RETURN_IF_ERROR(CountValues(series));
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
    JoinedExpression& joined = joined_[e];
    ExpTable& table = *joined.table;
    std::vector<MetricCursor> metrics;
    std::vector<TableCursor> tables;
    MemoryTally cursors_memory(watch_);
    size_t cursor_steps = 0;  // cost of a row, in steps
    for (size_t k = 0; k < joined.sides.size(); ++k) {
      Variable v = joined.sides[k];
      const size_t width = v.is_metric ? metrics_[v.index].found->groups.size()
                                       : joined_[v.index].table->series.size();
      cursor_steps += 2 * width;
      RETURN_IF_ERROR(cursors_memory.Add(MetricCursor::BytesOf(width)));
      if (!v.is_metric) {
        tables.emplace_back(*joined_[v.index].table, joined.rows, k);
        continue;
      }
      metrics.emplace_back(*metrics_[v.index].found, metrics_[v.index].fill);
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
      RETURN_IF_ERROR(memory_.Step(cursor_steps));
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
          // A missing member counts as zero, whatever the fill policy is (quirk Q16).
          inputs[joined.slots[k]] = members[k] == kLacking ? 0.0 : now[k][members[k]];
        }
        double value = 0;
        if (Status status = evaluator.Run(inputs, &value); !status.ok()) {
          return Prepend(status, "expression '" + expression.id + "'");
        }
        RETURN_IF_ERROR(CountSteps(evaluator.steps()));
        table.values.push_back(value);
      }
    }
  }

  // Returns the values of a metric as a table. It is neither trimmed to the time range nor filled
  // (quirk Q19). Several outputs of the same metric share the table.
  Result<std::shared_ptr<const ExpTable>> MetricTable(MetricSeries& metric) {
    if (metric.shown != nullptr) return metric.shown;
    const Found& found = *metric.found;
    RETURN_IF_ERROR(found.failure);
    auto table = std::make_shared<ExpTable>();
    table->series = found.series;
    MemoryTally cursor_memory(watch_);
    RETURN_IF_ERROR(cursor_memory.Add(MetricCursor::BytesOf(found.groups.size())));
    MetricCursor cursor(found, 0.0);
    if (cursor.NextTime() != kNever && found.has_empty_group) {
      return Status::InvalidArgument(
          "A series of a metric has no points left after downsampling or rate");
    }
    for (const SeriesIdentity& s : found.series) {
      if (s.metrics.empty())
        return Status::InvalidArgument(
            "A metric has a result without series, so it has no metric name");
    }
    for (int64_t t = cursor.NextTime(); t != kNever; t = cursor.NextTime()) {
      RETURN_IF_ERROR(memory_.Step(2 * found.groups.size()));
      RETURN_IF_ERROR(CountRow(found.groups.size()));
      const double* values = cursor.Advance(t);
      table->times_ms.push_back(t);
      table->values.insert(table->values.end(), values, values + found.groups.size());
    }
    metric.shown = std::move(table);
    return metric.shown;
  }

  // Counts the descriptions of series that the response repeats. They take no further memory, so
  // only this count limits the length of the response.
  Status CountRepeated(const std::vector<SeriesIdentity>& series) {
    if (series.empty()) return {};
    RETURN_IF_ERROR(memory_.Step(series.size()));
    // The response shows the metrics of the first series for every series.
    size_t bytes_of_each = kShownSeriesBytes, bytes = 0;
    for (const SeriesIdentity::Name& metric : series[0].metrics) {
      bytes_of_each += metric.name.size();
    }
    RETURN_IF_ERROR(CountValues(series.size() * bytes_of_each / kShownValueBytes));
    for (const SeriesIdentity& s : series) {
      for (const SeriesIdentity::Tag& tag : s.tags) {
        bytes += tag.key.name.size() + tag.value.name.size();
      }
      for (const SeriesIdentity::Name& key : s.aggregated) bytes += key.name.size();
    }
    return CountValues(bytes / kShownValueBytes);
  }

  Result<std::vector<ExpResult>> Outputs() {
    std::vector<ExpResult> out;
    std::set<std::string> shown;
    std::set<const void*> listed;  // the lists of series of the previous outputs
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
        // In OpenTSDB the first output consumes the expression, so repeated outputs are empty.
        result.row_end = again ? result.row_begin : static_cast<size_t>(end - times.begin());
      }
      const SharedVector<SeriesIdentity>& series = result.table->series;
      if (again) {
        RETURN_IF_ERROR(CountValues((result.row_end - result.row_begin) * series.size()));
      }
      if (!listed.insert(series.identity()).second) RETURN_IF_ERROR(CountRepeated(series));
      out.push_back(std::move(result));
    }
    return out;
  }

  const ExpPlan& plan_;
  const ValidQuery& query_;
  RequestContext* const watch_;
  MemoryTally memory_;        // memory that is freed at the end of the run
  std::vector<Found> found_;  // by sub-query
  std::map<std::string, Variable> variables_;
  std::vector<MetricSeries> metrics_;
  std::vector<JoinedExpression> joined_;
  const Answer& answer_;
  const KeyLayout& layout_;
  size_t value_count_ = 0;
  size_t step_count_ = 0;
  uint64_t unwatched_steps_ = 0;
  int64_t uncharged_bytes_ = 0;
};

}  // namespace

Result<std::vector<ExpResult>> RunExpressions(const ExpPlan& plan, const ValidQuery& query,
                                              const Answer& answer, const KeyLayout& layout,
                                              RequestContext* watch) {
  return ExpRunner(plan, query, answer, layout, watch).Run();
}

}  // namespace hg::query
