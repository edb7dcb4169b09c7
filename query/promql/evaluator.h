#pragma once
// Evaluates an expression tree at the steps of a query. The types in the tree must have been
// checked (type_check.h). The results are those of Prometheus 3.

#include "query/promql/annotations.h"
#include "query/promql/sample_reader.h"
#include "query/promql/steps.h"
#include "query/promql/syntax.h"
#include "query/promql/value.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// The maximum number of steps that a subquery may have.
inline constexpr size_t kSubqueryStepsMax = size_t{1} << 24;

/// Evaluates the expressions of one query. Only one thread may use the evaluator.
class Evaluator {
 public:
  /// `reader` and `watch` must outlive the evaluator, and the evaluator must outlive its results.
  /// All work and memory is charged to `watch`, which may be nullptr.
  Evaluator(SampleReader& reader, RequestContext* watch, const QueryTimes& times)
      : reader_(reader), watch_(watch), memory_(watch), times_(times) {}

  /// Evaluates an expression at all steps. Each selector reads its samples only once for all steps.
  /// A range vector that is not the argument of a call is evaluated only at the first step.
  /// InvalidArgument: the data do not allow the computation, for example because two series match
  /// one series. Also returns the errors of the reader and of `watch`.
  Result<Value> Evaluate(const Expr& expr, const Steps& steps);

  /// A range vector: the samples of all windows, the times at which the windows end, and the length
  /// of a window.
  struct Ranges {
    Value matrix;
    Steps ends;
    int64_t range_ms = 0;
  };
  Result<Ranges> EvaluateRanges(const Expr& expr, const Steps& steps);

  [[nodiscard]] RequestContext* watch() const { return watch_; }
  [[nodiscard]] MemoryTally& memory() { return memory_; }
  [[nodiscard]] const QueryTimes& times() const { return times_; }
  [[nodiscard]] SampleReader& reader() { return reader_; }
  /// Returns the remarks that all calls of Evaluate have added so far.
  [[nodiscard]] Annotations& annotations() { return annotations_; }

 private:
  Result<Value> EvaluateSelector(const Selector& selector, const Steps& steps);
  Result<Value> EvaluateNegation(const Negation& negation, const Steps& steps);

  SampleReader& reader_;
  RequestContext* const watch_;
  MemoryTally memory_;
  const QueryTimes times_;
  Annotations annotations_;
};

// The following functions evaluate the larger kinds of nodes. Each function is defined in a file of
// its own. `at` is the byte offset of the node in the expression.
Result<Value> EvaluateCall(const Call& call, size_t at, const Steps& steps, Evaluator* evaluator);
Result<Value> EvaluateAggregation(const Aggregation& aggregation, const Steps& steps,
                                  Evaluator* evaluator);
Result<Value> EvaluateBinary(const Binary& binary, const Steps& steps, Evaluator* evaluator);

}  // namespace hg::query::promql
