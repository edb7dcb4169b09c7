#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/json_writer.h"
#include "http/wire/query_json.h"
#include "http/wire/query_result.h"
#include "http/wire/query_uri.h"
#include "query/engine.h"
#include "query/last_point.h"

namespace hg::http {
namespace {

// Reads the request. If it is invalid, sends an error and returns nullopt.
std::optional<query::LastPointQuery> ReadLastPoints(const Request& request, Services& services,
                                                    ResponseWriter& out) {
  if (request.method != Method::kPost) {
    Result<query::LastPointQuery> asked = ReadLastPointQuery(request.parameters);
    if (asked.ok()) return std::move(*asked);
    SendQueryFailure(request, services, asked.status(), out);
    return {};
  }
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  Result<query::LastPointQuery> asked = ReadLastPointQuery(*body, *request.running);
  if (asked.ok()) return std::move(*asked);
  SendReadFailure(out, request, asked.status());
  return {};
}

/// Returns the request in the form of an OpenTSDB query, because /api/stats/query lists all queries
/// in this form.
query::Request Shown(const query::LastPointQuery& asked) {
  query::Request out;
  out.start = "last";
  for (const query::LastPointSubQuery& sub : asked.queries) {
    query::SubQuery& shown = out.queries.emplace_back();
    shown.metric = sub.metric;
    if (!sub.tsuids.empty()) shown.tsuids = sub.tsuids;
    for (const auto& [key, value] : sub.tags)
      shown.filters.push_back({"literal_or", key, value, false, false});
  }
  return out;
}

}  // namespace

void HandleQueryLast(const Request& request, Services& services, ResponseWriter& out) {
  std::optional<query::LastPointQuery> asked = ReadLastPoints(request, services, out);
  if (!asked) return;
  if (asked->queries.empty()) return SendError(out, request, 400, "Missing sub queries");
  // A negative value is an error only for queries by TSUID. For metric queries it counts as 0.
  const auto by_tsuid = [](const query::LastPointSubQuery& sub) { return !sub.tsuids.empty(); };
  if (asked->back_scan_hours < 0 &&
      std::any_of(asked->queries.begin(), asked->queries.end(), by_tsuid)) {
    return SendError(out, request, 400, "Backscan must be zero or a positive number");
  }
  asked->back_scan_hours = std::max<int64_t>(asked->back_scan_hours, 0);
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, Shown(*asked)); !begun.ok())
    return SendQueryFailure(request, services, begun, out);
  Result<std::vector<query::LastPoint>> points = services.queries.Last(*asked, &running);
  if (!points.ok()) return FailQuery(request, services, points.status(), running, out);
  if (request.parameters.Has("jsonp") && JsonpCallback(request).empty()) {
    return FailQuery(request, services, Status::InvalidArgument("Missing callback name"), running,
                     out);
  }
  SendJsonAnswer(request, services, running, out,
                 [&](JsonWriter* json) { WriteLastPoints(*points, PrintersOf(services), json); });
}

}  // namespace hg::http
