#include <string>
#include <utility>

#include "http/api/arguments.h"
#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/api/query.h"
#include "http/request/errors.h"
#include "http/wire/query_dump.h"
#include "http/wire/query_json.h"
#include "http/wire/query_uri.h"
#include "query/engine.h"
#include "query/expression/gexp_run.h"
#include "query/plan/validate.h"

namespace hg::http {
namespace {

// Refuses POST as OpenTSDB does. The body is first read as for /api/query, so its errors are
// reported first. A valid body is refused because it contains no expressions.
void RefusePost(const Request& request, Services& services, ResponseWriter& out) {
  services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
  constexpr std::string_view kMessage = "Expressions are read from the query string: use GET";
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return;
  query::FilterSet filters(*request.running);
  Result<query::Request> parsed = ReadQuery(*body, &filters);
  bool usable = parsed.ok() ? !parsed->queries.empty()
                            : parsed.status().code() == StatusCode::kInvalidArgument;
  SendError(out, request, usable ? 400 : 500, kMessage);
}

Result<query::Answer> Evaluate(const query::ValidQuery& query,
                               const std::vector<query::GexpCall>& calls, Services& services,
                               query::RunningRequest& running) {
  const auto run_calls = [&](query::Answer* answer) -> Status {
    query::Answer results;
    results.queries = answer->queries;
    results.global_annotations = std::move(answer->global_annotations);
    ASSIGN_OR_RETURN(results.groups, query::RunGexps(calls, query, std::move(*answer),
                                                     services.queries.layout(), &running));
    *answer = std::move(results);
    return {};
  };
  return services.queries.Run(query, {.trim = false,
                                      .on_failure = query::OnFailure::kLeaveNothing,
                                      .request = &running,
                                      .transform = run_calls});
}

}  // namespace

void HandleQueryGexp(const Request& request, Services& services, bool delete_rows,
                     ResponseWriter& out) {
  if (request.method == Method::kPost) return RefusePost(request, services, out);
  if (!NonEmptyParameter(request, "start")) return SendMissingParameter(out, request, "start");
  query::FilterSet filters(*request.running);
  Result<query::Request> asked = ReadQuery(request.parameters, &filters);
  if (!asked.ok()) return SendQueryFailure(request, services, asked.status(), out);
  Result<std::vector<query::GexpCall>> calls = ReadExpressions(request.parameters);
  if (!calls.ok()) return SendQueryFailure(request, services, calls.status(), out);
  asked->delete_rows = delete_rows;
  query::ValidationTrace trace;
  Result<query::ValidQuery> query =
      services.queries.Validate(*asked, &trace, *request.running, &filters);
  if (!query.ok()) {
    if (query.status().code() != StatusCode::kInvalidArgument) {
      return SendQueryFailure(request, services, query.status(), out);
    }
    services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
    return SendError(out, request, 400, query.status().message(), QueryDump(*asked, trace));
  }
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, query->request); !begun.ok())
    return SendQueryFailure(request, services, begun, out);
  Result<query::Answer> answer = Evaluate(*query, *calls, services, running);
  if (!answer.ok()) return FailQuery(request, services, answer.status(), running, out);
  SendGroups(request, services, *query, *answer, running, out);
}

}  // namespace hg::http
