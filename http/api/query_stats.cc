#include "http/wire/query_stats.h"

#include <charconv>
#include <string>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/json_writer.h"
#include "query/engine.h"

namespace hg::http {
namespace {

void EndQuery(const Request& request, Services& services, ResponseWriter& out) {
  const auto text = NonEmptyParameter(request, "id");
  if (!text) return SendMissingParameter(out, request, "id");
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), id);
  if (error != std::errc() || end != text->data() + text->size())
    return SendError(out, request, 400,
                     "Invalid value for 'id': " + *text + " (expected a number)");
  if (!services.queries.running().Kill(id))
    return SendError(out, request, 404, "No request runs with the id " + *text);
  SendEmpty(out, 204);
}

}  // namespace

void HandleQueryStats(const Request& request, Services& services, ResponseWriter& out) {
  if (request.method == Method::kDelete) return EndQuery(request, services, out);
  StreamJson(out, request, [&](JsonWriter* json) {
    return WriteRequestList(services.queries.running(), *request.running, json);
  });
}

}  // namespace hg::http
