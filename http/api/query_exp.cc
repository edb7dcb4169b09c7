#include "http/api/query_exp.h"

#include <optional>
#include <string>
#include <utility>

#include "http/api/asked_query.h"
#include "http/api/parsed_body.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/wire/exp_json.h"
#include "http/wire/exp_result.h"
#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "query/engine.h"
#include "query/expression/exp_run.h"
#include "query/validate.h"

namespace hg::http {
namespace {

struct Asked {
  query::ExpRequest request;
  query::ExpPlan plan;
  query::ValidQuery query;
};

Result<Asked> ReadAndCheck(const JsonValue& body, Services& services) {
  Asked out;
  ASSIGN_OR_RETURN(out.request, ReadExpRequest(body));
  ASSIGN_OR_RETURN(out.plan, query::PlanExpressions(out.request));
  ASSIGN_OR_RETURN(out.query, services.queries.Validate(out.plan.request));
  return out;
}

Result<std::vector<query::ExpResult>> Evaluate(const Asked& asked, Services& services,
                                               query::RunningQuery& running) {
  ASSIGN_OR_RETURN(query::Answer answer,
                   services.queries.Run(asked.query, {.trim = false,
                                                      .on_failure = query::OnFailure::kLeaveNothing,
                                                      .query = &running}));
  RecordScans(services, answer);
  return query::RunExpressions(asked.plan, asked.query, answer, services.queries.layout(),
                               &running);
}

// None: the error was sent.
std::optional<Asked> Read(const Request& request, Services& services, ResponseWriter& out) {
  if (request.body.empty()) {
    SendError(out, request, 500, "Incoming data was null or empty");
    return {};
  }
  const std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  Result<Asked> asked = ReadAndCheck(*body, services);
  if (asked.ok()) return std::move(*asked);
  SendError(out, request, 500, asked.status().message());
  return {};
}

}  // namespace

void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Asked> asked = Read(request, services, out);
  if (!asked) {
    services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  auto running = services.queries.running().Begin(asked->query.request, ClientOf(request, out));
  if (!running.ok()) return SendQueryFailure(request, services, running.status(), out);
  Result<std::vector<query::ExpResult>> results = Evaluate(*asked, services, **running);
  if (!results.ok()) return FailQuery(request, services, results.status(), **running, out);
  SendAnswer(request, services, **running, out, [&](ResponseWriter& watched) {
    watched.SetContentType(JsonContentType(request));
    JsonWriter json(&watched);
    WriteExpResults(asked->request, *results, &json);
    json.Finish();
  });
}

}  // namespace hg::http
