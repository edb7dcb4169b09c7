#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/api/handlers.h"
#include "http/api/prom_request.h"
#include "http/wire/prom_value.h"
#include "query/engine.h"
#include "query/promql/evaluator.h"
#include "query/promql/stored_series.h"
#include "storage/base/checked_sort.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

namespace promql = query::promql;

/// Maximum steps of a range query, as in Prometheus.
constexpr int64_t kStepsMax = 11000;
/// Cost of printing a sample, in steps of a RequestContext.
constexpr uint64_t kStepsPerSample = 4;

bool HasFormType(const Request& request) {
  const std::string* const type = request.Header("content-type");
  return type != nullptr && LowerCase(*type).starts_with("application/x-www-form-urlencoded");
}

/// A parsed request.
struct AskedQuery {
  Parameters parameters;
  std::string text;
  promql::ExprPtr expr;
  int64_t lookback_ms = 0;
  size_t limit = SIZE_MAX;  // maximum number of series in the result
};

std::optional<AskedQuery> ReadQuery(const Request& request, Services& services,
                                    ResponseWriter& out) {
  std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return {};
  AskedQuery asked;
  asked.parameters = std::move(*parameters);
  if (const std::string* text = asked.parameters.Find("query")) asked.text = *text;
  const std::optional<int64_t> lookback_ms =
      PromDuration(asked.parameters, "lookback_delta", promql::QueryTimes().lookback_ms, out);
  // The parameter `timeout` is validated but has no effect, because the settings limit the time.
  if (!lookback_ms || !PromDuration(asked.parameters, "timeout", 0, out)) return {};
  asked.lookback_ms = *lookback_ms > 0 ? *lookback_ms : promql::QueryTimes().lookback_ms;
  const std::optional<size_t> limit = PromLimit(asked.parameters, out);
  if (!limit) return {};
  asked.limit = *limit;
  asked.expr = PromExpression(request, asked.parameters, services, out);
  if (asked.expr == nullptr) return {};
  return asked;
}

/// Computes the durations of the expression. Returns false if an error was sent.
bool Resolve(const promql::DurationTimes& times, AskedQuery* asked, Services& services,
             ResponseWriter& out) {
  const Status resolved = promql::ResolveDurations(asked->text, times, asked->expr.get());
  if (resolved.ok()) return true;
  services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
  SendPromError(out, PromError::kBadData,
                "invalid parameter \"query\": " + std::string(resolved.message()));
  return false;
}

/// Returns the number of samples in the response, without absent samples.
uint64_t SamplesOf(const promql::Value& value) {
  uint64_t samples = value.scalar.size();
  for (const promql::VectorSeries& series : value.vector) {
    samples += series.values.size();
    samples -= static_cast<uint64_t>(
        std::count_if(series.values.begin(), series.values.end(), promql::IsAbsent));
  }
  for (const promql::RangeSeries& series : value.matrix) samples += series.values.size();
  return samples;
}

/// An evaluation and its result. The memory of the result stays charged during the lifetime of this
/// object.
struct Work {
  Work(Services& services, const promql::QueryTimes& times, query::RunningRequest& running)
      : series(services.queries.points(), services.names, services.queries.options(), running,
               {services.queries.threads(), services.queries.side_by_side()},
               LabelNamingOf(services.options), &services.queries.cells(),
               services.queries.rolled()),
        evaluator(series, &running, times) {}

  Status Evaluate(const promql::Expr& expr, const promql::Steps& steps) {
    for (bool again = true; again;) {
      value = {};
      ASSIGN_OR_RETURN(value, evaluator.Evaluate(expr, steps));
      ASSIGN_OR_RETURN(again, series.KeptMeanwhile());
    }
    // Stored series may have equal labels (docs/promql.md), but a result may not.
    return promql::RefuseEqualSeries(value, &evaluator.memory());
  }

  /// Sorts the series of a matrix by their labels. A range query returns a vector as a matrix.
  Status Sort(bool range) {
    const auto by_labels = [](const auto& a, const auto& b) { return a.labels < b.labels; };
    MemoryTally& memory = evaluator.memory();
    if (range) RETURN_IF_ERROR(CheckedSort(&value.vector, by_labels, &memory));
    return CheckedSort(&value.matrix, by_labels, &memory);
  }

  /// Removes the series beyond the limit. Returns whether any series was removed.
  Result<bool> Truncate(size_t limit) {
    RETURN_IF_ERROR(evaluator.memory().Step(SamplesOf(value)));
    std::erase_if(value.vector, [](const promql::VectorSeries& one) {
      return std::all_of(one.values.begin(), one.values.end(), promql::IsAbsent);
    });
    const auto cut = [limit](auto* all) {
      if (all->size() <= limit) return false;
      all->resize(limit);
      return true;
    };
    const bool vector = cut(&value.vector);
    return cut(&value.matrix) || vector;
  }

  promql::StoredSeries series;
  promql::Evaluator evaluator;
  promql::Value value;
};

using Print = void (*)(const promql::Value&, const promql::Steps&, JsonWriter*);

void Answer(const Request& request, Services& services, const AskedQuery& asked,
            const promql::Steps& steps, int64_t end_ms, Print print, ResponseWriter& out) {
  const promql::QueryTimes times{steps.start_ms, end_ms, asked.lookback_ms};
  const auto find = [&](query::RunningRequest& running) -> Result<PromFound> {
    RETURN_IF_ERROR(running.Check());
    const auto work = std::make_shared<Work>(services, times, running);
    RETURN_IF_ERROR(work->Evaluate(*asked.expr, steps));
    RETURN_IF_ERROR(work->Sort(print == WriteRange));
    PromFound found;
    if (asked.limit != SIZE_MAX) {
      ASSIGN_OR_RETURN(const bool more, work->Truncate(asked.limit));
      if (more) found.warnings.emplace_back(kTruncated);
    }
    // On an event loop, other clients also wait while the result is printed, so printing counts as
    // work.
    if (running.on_loop()) RETURN_IF_ERROR(running.Step(kStepsPerSample * SamplesOf(work->value)));
    promql::Annotations& remarks = work->evaluator.annotations();
    for (std::string& text : remarks.Texts(promql::Remark::kWarning, asked.text))
      found.warnings.push_back(std::move(text));
    found.infos = remarks.Texts(promql::Remark::kInfo, asked.text);
    found.print = [work, print, steps](JsonWriter* json) { print(work->value, steps, json); };
    return found;
  };
  AnswerProm(request, services, {asked.text, times.start_ms, times.end_ms}, find, out);
}

void PrintInstant(const promql::Value& value, const promql::Steps& steps, JsonWriter* json) {
  WriteInstant(value, steps.start_ms, json);
}

}  // namespace

bool AsksPromql(const Request& request) {
  if (!request.Segment(1).empty()) return false;
  if (request.method != Method::kGet && request.method != Method::kPost) return false;
  if (request.parameters.Has("query")) return true;
  // OpenTSDB's JSON documents are often sent with the content type of a form, which is curl's
  // default.
  return request.method == Method::kPost && HasFormType(request) &&
         (request.body.starts_with("query=") ||
          (!request.body.starts_with('{') && !request.body.starts_with('[') &&
           request.body.find("&query=") != std::string_view::npos));
}

void HandlePromQuery(const Request& request, Services& services, ResponseWriter& out) {
  std::optional<AskedQuery> asked = ReadQuery(request, services, out);
  if (!asked) return;
  const std::optional<int64_t> time_ms =
      PromTime(asked->parameters, "time", services.clock.NowMs(), out);
  if (!time_ms || !Resolve({}, &*asked, services, out)) return;
  Answer(request, services, *asked, {*time_ms, 0, 1}, *time_ms, PrintInstant, out);
}

void HandlePromQueryRange(const Request& request, Services& services, ResponseWriter& out) {
  if (!services.points.ReadsAskToWait() && !request.running->MayWait().ok()) return;
  std::optional<AskedQuery> asked = ReadQuery(request, services, out);
  if (!asked) return;
  const auto refuse = [&](const std::string& why) { SendPromError(out, PromError::kBadData, why); };
  const std::optional<int64_t> start_ms = PromTime(asked->parameters, "start", {}, out);
  if (!start_ms) return;
  const std::optional<int64_t> end_ms = PromTime(asked->parameters, "end", {}, out);
  if (!end_ms) return;
  if (*end_ms < *start_ms)
    return refuse("invalid parameter \"end\": end timestamp must not be before start time");
  const std::optional<int64_t> step_ms = PromDuration(asked->parameters, "step", {}, out);
  if (!step_ms) return;
  if (*step_ms <= 0) {
    return refuse("invalid parameter \"step\": the step must be at least a millisecond, not \"" +
                  *asked->parameters.Find("step") + "\"");
  }
  const int64_t more_steps = (*end_ms - *start_ms) / *step_ms;
  if (more_steps > kStepsMax) {
    return refuse(
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing "
        "the query resolution (?step=XX)");
  }
  const promql::ValueType type = TypeOf(*asked->expr);
  if (type != promql::ValueType::kScalar && type != promql::ValueType::kVector) {
    return refuse("invalid parameter \"query\": invalid expression type \"" +
                  std::string(ValueTypeName(type)) +
                  "\" for range query, must be Scalar or instant Vector");
  }
  if (!Resolve({*step_ms, *end_ms - *start_ms}, &*asked, services, out)) return;
  Answer(request, services, *asked, {*start_ms, *step_ms, static_cast<size_t>(more_steps) + 1},
         *end_ms, WriteRange, out);
}

}  // namespace hg::http
