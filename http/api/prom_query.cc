#include "http/api/prom_query.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/api/prom_request.h"
#include "http/wire/prom_value.h"
#include "query/engine.h"
#include "query/promql/evaluator.h"
#include "query/promql/parser.h"
#include "query/promql/stored_series.h"
#include "storage/base/no_wait.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

namespace promql = query::promql;

/// Steps of one range query, as Prometheus limits them.
constexpr int64_t kStepsMax = 11000;
/// What printing a sample costs, in steps of a watch.
constexpr uint64_t kStepsPerSample = 4;

bool HasFormType(const Request& request) {
  const std::string* const type = request.Header("content-type");
  return type != nullptr && LowerCase(*type).starts_with("application/x-www-form-urlencoded");
}

/// What was asked; none: an error was sent.
struct Asked {
  Parameters parameters;
  std::string text;
  promql::ExprPtr expr;
  int64_t lookback_ms = 0;
};

std::optional<Asked> ReadQuery(const Request& request, Services& services, ResponseWriter& out) {
  std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return {};
  Asked asked;
  asked.parameters = std::move(*parameters);
  if (const std::string* text = asked.parameters.Find("query")) asked.text = *text;
  const std::optional<int64_t> lookback_ms =
      PromDuration(asked.parameters, "lookback_delta", promql::QueryTimes().lookback_ms, out);
  // How long it may take is a matter of the settings.
  if (!lookback_ms || !PromDuration(asked.parameters, "timeout", 0, out)) return {};
  asked.lookback_ms = *lookback_ms;
  Result<promql::ExprPtr> expr = promql::ParseExpression(asked.text);
  // A pattern takes its time.
  if (const NoWait* no_wait = NoWait::Current(); no_wait != nullptr && no_wait->refused())
    return {};
  if (!expr.ok()) {
    services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
    SendPromError(out, PromError::kBadData,
                  "invalid parameter \"query\": " + std::string(expr.status().message()));
    return {};
  }
  asked.expr = std::move(*expr);
  return asked;
}

/// An evaluation with its result, which is charged as long as it is there.
struct Work {
  Work(Services& services, const promql::QueryTimes& times, query::RunningQuery& running)
      : series(services.queries.points(), services.names, services.queries.options(), running,
               {services.queries.threads(), services.queries.side_by_side()},
               LabelNamingOf(services.options), &services.queries.cells()),
        evaluator(series, &running, times) {}

  Status Evaluate(const promql::Expr& expr, const promql::Steps& steps) {
    do {
      value = {};
      ASSIGN_OR_RETURN(value, evaluator.Evaluate(expr, steps));
    } while (series.KeptMeanwhile());
    return {};
  }

  promql::StoredSeries series;
  promql::Evaluator evaluator;
  promql::Value value;
};

/// Samples that an answer prints: absent ones it does not.
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

using Print = void (*)(const promql::Value&, const promql::Steps&, JsonWriter*);

void Answer(const Request& request, Services& services, const Asked& asked,
            const promql::Steps& steps, Print print, ResponseWriter& out) {
  const promql::QueryTimes times{steps.start_ms, steps.end_ms(), asked.lookback_ms};
  const auto find = [&](query::RunningQuery& running) -> Result<PromPrint> {
    RETURN_IF_ERROR(running.Look());
    const auto work = std::make_shared<Work>(services, times, running);
    RETURN_IF_ERROR(work->Evaluate(*asked.expr, steps));
    // A loop would print what it has found itself.
    if (NoWait::Current() != nullptr)
      RETURN_IF_ERROR(running.Step(kStepsPerSample * SamplesOf(work->value)));
    return PromPrint([work, print, steps](JsonWriter* json) { print(work->value, steps, json); });
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
  // A document of OpenTSDB's is often sent as a form, too: by curl, which was told nothing else.
  return request.method == Method::kPost && HasFormType(request) &&
         (request.body.starts_with("query=") ||
          (!request.body.starts_with('{') && !request.body.starts_with('[') &&
           request.body.find("&query=") != std::string_view::npos));
}

void HandlePromQuery(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Asked> asked = ReadQuery(request, services, out);
  if (!asked) return;
  const std::optional<int64_t> time_ms =
      PromTime(asked->parameters, "time", services.clock.NowMs(), out);
  if (!time_ms) return;
  Answer(request, services, *asked, {*time_ms, 0, 1}, PrintInstant, out);
}

void HandlePromQueryRange(const Request& request, Services& services, ResponseWriter& out) {
  if (!services.points.HeedsNoWait() && NoWait::Refuse()) return;
  const std::optional<Asked> asked = ReadQuery(request, services, out);
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
  Answer(request, services, *asked, {*start_ms, *step_ms, static_cast<size_t>(more_steps) + 1},
         WriteRange, out);
}

}  // namespace hg::http
