#include <optional>
#include <string>
#include <utility>

#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/api/parsed_body.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/exp_json.h"
#include "http/wire/exp_result.h"
#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "query/engine.h"
#include "query/expression/exp_run.h"
#include "query/plan/validate.h"

namespace hg::http {
namespace {

struct ExpQuery {
  query::ExpRequest request;
  query::ExpPlan plan;
  query::ValidQuery query;
};

Result<ExpQuery> ReadAndCheck(const JsonValue& body, Services& services, RequestContext& context) {
  ExpQuery out;
  ASSIGN_OR_RETURN(out.request, ReadExpRequest(body));
  query::FilterSet filters(context);
  ASSIGN_OR_RETURN(out.plan, query::PlanExpressions(out.request, context, &filters));
  ASSIGN_OR_RETURN(out.query, services.queries.Validate(out.plan.request, context, &filters));
  return out;
}

Result<std::vector<query::ExpResult>> Evaluate(const ExpQuery& asked, Services& services,
                                               query::RunningRequest& running) {
  ASSIGN_OR_RETURN(query::Answer answer,
                   services.queries.Run(asked.query, {.trim = false,
                                                      .on_failure = query::OnFailure::kLeaveNothing,
                                                      .request = &running}));
  RecordScans(services, answer);
  return query::RunExpressions(asked.plan, asked.query, answer, services.queries.layout(),
                               &running);
}

// Reads the request. If it is invalid, sends an error and returns nullopt.
std::optional<ExpQuery> Read(const Request& request, Services& services, ResponseWriter& out) {
  if (request.body.empty()) {
    SendError(out, request, 500, "Incoming data was null or empty");
    return {};
  }
  const std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  Result<ExpQuery> asked = ReadAndCheck(*body, services, *request.running);
  if (asked.ok()) return std::move(*asked);
  const int status = QueryFailureStatus(asked.status());
  // OpenTSDB answers client errors with 500. Refusals by the server keep their own status.
  SendError(out, request, status == 400 ? 500 : status, asked.status().message());
  return {};
}

}  // namespace

void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<ExpQuery> asked = Read(request, services, out);
  if (!asked) {
    services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, asked->query.request); !begun.ok())
    return SendQueryFailure(request, services, begun, out);
  Result<std::vector<query::ExpResult>> results = Evaluate(*asked, services, running);
  if (!results.ok()) return FailQuery(request, services, results.status(), running, out);
  SendAnswer(request, services, running, out, [&](ResponseWriter& watched) {
    watched.SetContentType(JsonContentType(request));
    JsonWriter json(&watched);
    WriteExpResults(asked->request, *results, &json);
    json.Finish();
  });
}

}  // namespace hg::http
