#include "http/api/query.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/api/arguments.h"
#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/routes/router.h"
#include "http/wire/json_writer.h"
#include "http/wire/query_dump.h"
#include "http/wire/query_json.h"
#include "http/wire/query_result.h"
#include "http/wire/query_uri.h"
#include "query/engine.h"
#include "query/plan/validate.h"

namespace hg::http {
namespace {

/// Maximum length of a query whose parsed form is kept while the query waits for the pool. The
/// parsed form takes about fifty times the memory of the text, and it is not charged meanwhile. The
/// pool parses and validates a longer query again.
constexpr size_t kKeptBytesMax = 4096;
/// Bytes of a query that can be printed in the time of one step.
constexpr size_t kShownBytesPerStep = 16;

size_t BytesOf(const codec::Annotation& note) {
  size_t bytes = note.tsuid.size() + note.description.size() + note.notes.size();
  if (!note.custom) return bytes;
  for (const auto& [key, value] : *note.custom) bytes += key.size() + value.size();
  return bytes;
}

// Reads the body. If it is invalid, sends an error and returns nullopt.
std::optional<query::Request> FromBody(const Request& request, Services& services,
                                       query::FilterSet* filters, ResponseWriter& out) {
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) {
    services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  Result<query::Request> parsed = ReadQuery(*body, filters);
  if (request.running->refused()) return {};
  if (parsed.ok() && parsed->delete_rows && RefuseAccess(request, Role::kAdmin, services, out))
    return {};
  if (parsed.ok()) return std::move(*parsed);
  services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
  if (parsed.status().code() == StatusCode::kInvalidArgument) {
    SendBadJson(out, request, parsed.status().message());
  } else if (parsed.status().code() == StatusCode::kUnsupported) {
    SendError(out, request, 500, parsed.status().message());
  } else if (parsed.status().code() == StatusCode::kLimitExceeded) {
    SendStatus(out, request, parsed.status());
  } else {
    SendQueryFailure(request, services, parsed.status(), out);
  }
  return {};
}

std::optional<query::Request> FromParameters(const Request& request, Services& services,
                                             bool delete_rows, query::FilterSet* filters,
                                             ResponseWriter& out) {
  if (!NonEmptyParameter(request, "start")) {
    SendMissingParameter(out, request, "start");
    return {};
  }
  Result<query::Request> parsed = ReadQuery(request.parameters, filters);
  if (request.running->refused()) return {};
  if (!parsed.ok()) {
    SendQueryFailure(request, services, parsed.status(), out);
    return {};
  }
  parsed->delete_rows = delete_rows;
  return std::move(*parsed);
}

/// A query that the first call of the handler, on the event loop, has parsed and validated,
/// including its times.
struct CheckedQuery : KeptWork {
  explicit CheckedQuery(query::ValidQuery checked) : query(std::move(checked)) {}
  query::ValidQuery query;
};

// nullopt: an error was sent, or the request would have to wait on an event loop.
std::optional<query::ValidQuery> Check(const query::Request& asked, const Request& request,
                                       Services& services, query::FilterSet* filters,
                                       ResponseWriter& out) {
  query::ValidationTrace trace;
  Result<query::ValidQuery> query =
      services.queries.Validate(asked, &trace, *request.running, filters);
  if (request.running->refused()) return {};
  if (query.ok()) return std::move(*query);
  if (query.status().code() != StatusCode::kInvalidArgument) {
    SendQueryFailure(request, services, query.status(), out);
    return {};
  }
  services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
  SendError(out, request, 400, query.status().message(), QueryDump(asked, trace));
  return {};
}

void Answer(query::ValidQuery query, const Request& request, Services& services,
            ResponseWriter& out) {
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, query.request, true); !begun.ok())
    return SendQueryFailure(request, services, begun, out);
  Result<query::Answer> answer = services.queries.Run(query, {.trim = true, .request = &running});
  if (answer.ok()) {
    // The response repeats the query and the global annotations in each result. Printing these
    // texts counts as work, too.
    size_t repeated = query.request.show_query ? request.target.size() + request.body.size() : 0;
    for (const codec::Annotation& note : answer->global_annotations) repeated += BytesOf(note);
    const Status shown = running.Step(answer->groups.size() * repeated / kShownBytesPerStep);
    if (!shown.ok()) answer = shown;
  }
  if (running.refused()) {
    if (request.target.size() + request.body.size() <= kKeptBytesMax)
      request.kept_work = std::make_unique<CheckedQuery>(std::move(query));
    return;
  }
  if (!answer.ok()) return FailQuery(request, services, answer.status(), running, out);
  SendGroups(request, services, query, *answer, running, out);
}

}  // namespace

void SendGroups(const Request& request, Services& services, const query::ValidQuery& query,
                const query::Answer& answer, query::RunningRequest& running, ResponseWriter& out) {
  query::QueryStats stats;
  for (const query::SubQueryInfo& info : answer.queries) stats.queries.push_back(info.stats);
  RecordScans(services, answer);
  stats.before_print_ns = running.elapsed_ns();
  SendJsonAnswer(request, services, running, out, [&](JsonWriter* json) {
    WriteAnswer(query, answer,
                {.arrays = request.parameters.Has("arrays"), .omit_nan = services.options.omit_nan},
                services.clock, &stats, PrintersOf(services), json);
  });
  running.SetStats(std::move(stats));
}

void HandleQuery(const Request& request, Services& services, ResponseWriter& out) {
  if (const std::unique_ptr<KeptWork> kept = std::move(request.kept_work)) {
    return Answer(std::move(static_cast<CheckedQuery&>(*kept).query), request, services, out);
  }
  bool delete_allowed = services.queries.options().delete_allowed;
  if (request.method == Method::kDelete && !delete_allowed) {
    return SendError(out, request, 400, "Bad request",
                     "Deleting data is not enabled (tsd.http.query.allow_delete=false)");
  }
  std::string kind = request.Segment(1);
  // An event loop runs only queries that it can abandon without effects.
  const bool plain = kind.empty() && request.method != Method::kDelete &&
                     !request.parameters.Has("method_override") && services.points.ReadsAskToWait();
  const bool promql = AsksPromql(request);
  if (!plain && !request.running->MayWait().ok()) return;
  if (promql) return HandlePromQuery(request, services, out);
  if (kind == "last") return HandleQueryLast(request, services, out);
  if (kind == "exp") return HandleQueryExp(request, services, out);
  std::optional<query::Request> asked;
  std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  bool delete_rows = *method == Method::kDelete && delete_allowed;
  if (kind == "gexp") return HandleQueryGexp(request, services, delete_rows, out);
  query::FilterSet filters(*request.running);
  if (request.method == Method::kPost) {
    asked = FromBody(request, services, &filters, out);
  } else {
    asked = FromParameters(request, services, delete_rows, &filters, out);
  }
  if (!asked) return;
  std::optional<query::ValidQuery> query = Check(*asked, request, services, &filters, out);
  if (query) Answer(std::move(*query), request, services, out);
}

}  // namespace hg::http
