#include "http/api/query_last.h"

#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/query.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/wire/json_writer.h"
#include "http/wire/query_json.h"
#include "http/wire/query_result.h"
#include "http/wire/query_uri.h"
#include "query/engine.h"
#include "query/last_point.h"

namespace hg::http {
namespace {

// None: an error was sent.
std::optional<query::LastPointQuery> ReadAsked(const Request& request, Services& services,
                                               ResponseWriter& out) {
  if (request.method != Method::kPost) {
    Result<query::LastPointQuery> asked = ReadLastPointQuery(request.parameters);
    if (asked.ok()) return std::move(*asked);
    SendQueryFailure(request, services, asked.status(), out);
    return {};
  }
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  Result<query::LastPointQuery> asked = ReadLastPointQuery(*body);
  if (asked.ok()) return std::move(*asked);
  SendBadJson(out, request, asked.status().message());
  return {};
}

}  // namespace

void HandleQueryLast(const Request& request, Services& services, ResponseWriter& out) {
  std::optional<query::LastPointQuery> asked = ReadAsked(request, services, out);
  if (!asked) return;
  if (asked->queries.empty()) return SendError(out, request, 400, "Missing sub queries");
  if (asked->back_scan_hours < 0) {
    return SendError(out, request, 400, "Backscan must be zero or a positive number");
  }
  Result<std::vector<query::LastPoint>> points = services.queries.Last(*asked);
  if (!points.ok()) return SendQueryFailure(request, services, points.status(), out);
  services.counters.query_success.fetch_add(1, std::memory_order_relaxed);
  std::string body;
  JsonWriter json(&body);
  WriteLastPoints(*points, &json);
  SendJson(out, request, body);
}

}  // namespace hg::http
