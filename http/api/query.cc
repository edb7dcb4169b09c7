#include "http/api/query.h"

#include <optional>
#include <string>

#include "http/api/arguments.h"
#include "http/api/query_exp.h"
#include "http/api/query_gexp.h"
#include "http/api/query_last.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/wire/json_writer.h"
#include "http/wire/query_dump.h"
#include "http/wire/query_json.h"
#include "http/wire/query_result.h"
#include "http/wire/query_uri.h"
#include "query/engine.h"
#include "query/validate.h"

namespace hg::http {
namespace {

// None: an error was sent.
std::optional<query::Request> FromBody(const Request& request, Services& services,
                                       ResponseWriter& out) {
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  Result<query::Request> parsed = ReadQuery(*body);
  if (parsed.ok()) return std::move(*parsed);
  services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
  if (parsed.status().code() == StatusCode::kInvalidArgument) {
    SendBadJson(out, request, parsed.status().message());
  } else {
    SendError(out, request, 500, parsed.status().message());
  }
  return {};
}

std::optional<query::Request> FromParameters(const Request& request, Services& services,
                                             bool delete_rows, ResponseWriter& out) {
  if (!NonEmptyParameter(request, "start")) {
    SendMissingParameter(out, request, "start");
    return {};
  }
  Result<query::Request> parsed = ReadQuery(request.parameters);
  if (!parsed.ok()) {
    SendQueryFailure(request, services, parsed.status(), out);
    return {};
  }
  parsed->delete_rows = delete_rows;
  return std::move(*parsed);
}

void Answer(const query::Request& asked, const Request& request, Services& services,
            ResponseWriter& out) {
  query::ValidationTrace trace;
  Result<query::ValidQuery> query = services.queries.Validate(asked, &trace);
  if (!query.ok()) {
    if (query.status().code() != StatusCode::kInvalidArgument) {
      return SendQueryFailure(request, services, query.status(), out);
    }
    services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
    return SendError(out, request, 400, query.status().message(), QueryDump(asked, trace));
  }
  query::RunOptions run;
  run.cancelled = [&out] { return out.Cancelled(); };
  run.client = request.remote.substr(0, request.remote.rfind(':'));
  Result<query::Answer> answer = services.queries.Run(*query, run);
  if (!answer.ok()) return SendQueryFailure(request, services, answer.status(), out);
  services.counters.query_success.fetch_add(1, std::memory_order_relaxed);
  out.SetContentType(JsonContentType(request));
  std::string callback(JsonpCallback(request));
  JsonWriter json(&out);
  if (!callback.empty()) json.Text(callback + "(");
  WriteAnswer(*query, *answer, request.parameters.Has("arrays"), &json);
  if (!callback.empty()) json.Text(")");
  json.Finish();
}

}  // namespace

void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out) {
  Counters& counters = services.counters;
  int code = 500;
  switch (status.code()) {
    case StatusCode::kNotFound:
    case StatusCode::kInvalidArgument:
    case StatusCode::kCorruption:
      code = 400;
      break;
    case StatusCode::kLimitExceeded:
    case StatusCode::kDeadlineExceeded:
      code = 413;
      break;
    case StatusCode::kBusy:
      return SendStatus(out, request, status);
    case StatusCode::kUnavailable:
    case StatusCode::kIoError:
      code = 424;
      break;
    default:
      break;
  }
  auto& counter = code == 400 ? counters.query_invalid : counters.query_exceptions;
  counter.fetch_add(1, std::memory_order_relaxed);
  SendError(out, request, code, status.message());
}

void HandleQuery(const Request& request, Services& services, ResponseWriter& out) {
  bool delete_allowed = services.queries.options().delete_allowed;
  if (request.method == Method::kDelete && !delete_allowed) {
    return SendError(out, request, 400, "Bad request",
                     "Deleting data is not enabled (tsd.http.query.allow_delete=false)");
  }
  std::string kind = request.Segment(1);
  if (kind == "last") return HandleQueryLast(request, services, out);
  if (kind == "exp") return HandleQueryExp(request, services, out);
  std::optional<query::Request> asked;
  std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  bool delete_rows = *method == Method::kDelete && delete_allowed;
  if (kind == "gexp") return HandleQueryGexp(request, services, delete_rows, out);
  if (request.method == Method::kPost) {
    asked = FromBody(request, services, out);
  } else {
    asked = FromParameters(request, services, delete_rows, out);
  }
  if (asked) Answer(*asked, request, services, out);
}

}  // namespace hg::http
