#pragma once
// Evaluates a checked tree at the steps of a query, as Prometheus 2.42 does.

#include "query/promql/sample_reader.h"
#include "query/promql/steps.h"
#include "query/promql/syntax.h"
#include "query/promql/value.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"

namespace hg::query::promql {

/// Steps that a subquery may have.
inline constexpr size_t kSubqueryStepsMax = size_t{1} << 24;

/// Borrows; one query, one thread.
class Evaluator {
 public:
  /// `watch` hears of all work and memory; nullptr: nobody does. Both outlive the evaluator, which
  /// outlives its results.
  Evaluator(SampleReader& reader, WorkWatch* watch, const QueryTimes& times)
      : reader_(reader), watch_(watch), memory_(watch), times_(times) {}

  /// Each selector reads once, for all steps. A matrix (a range vector alone) is that of the first
  /// step. InvalidArgument: what the expression does not fit with the data, such as two series that
  /// match one. Others from the reader and the watch.
  Result<Value> Evaluate(const Expr& expr, const Steps& steps);

  /// The windows of a range vector: all samples of them, and where they end.
  struct Ranges {
    Value matrix;
    Steps ends;
    int64_t range_ms = 0;
  };
  Result<Ranges> EvaluateRanges(const Expr& expr, const Steps& steps);

  [[nodiscard]] WorkWatch* watch() const { return watch_; }
  [[nodiscard]] MemoryTally& memory() { return memory_; }
  [[nodiscard]] const QueryTimes& times() const { return times_; }
  [[nodiscard]] SampleReader& reader() { return reader_; }

 private:
  Result<Value> EvaluateSelector(const Selector& selector, const Steps& steps);
  Result<Value> EvaluateNegation(const Negation& negation, const Steps& steps);

  SampleReader& reader_;
  WorkWatch* const watch_;
  MemoryTally memory_;
  const QueryTimes times_;
};

// The kinds of nodes, a file each.
Result<Value> EvaluateCall(const Call& call, const Steps& steps, Evaluator* evaluator);
Result<Value> EvaluateAggregation(const Aggregation& aggregation, const Steps& steps,
                                  Evaluator* evaluator);
Result<Value> EvaluateBinary(const Binary& binary, const Steps& steps, Evaluator* evaluator);

}  // namespace hg::query::promql
