#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/services.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr std::string_view kPluginTypes[] = {"tsmeta", "tsmeta_summary", "tsuids", "uidmeta",
                                             "annotation"};

void RefuseType(const Request& request, const std::string& type, ResponseWriter& out) {
  SendError(out, request, 400, "Invalid search query type supplied",
            type.empty() ? "Type provided was null or empty" : "Unknown type: " + type);
}

/// Refuses the request because there is no search plug-in. As in OpenTSDB, errors of its arguments
/// are reported first.
void RefusePluginType(const Request& request, Method method, ResponseWriter& out) {
  if (method == Method::kPost && !request.body.empty() && !CheckSearchBody(request, out)) return;
  if (method == Method::kGet) {
    if (!NonEmptyParameter(request, "query")) return SendMissingParameter(out, request, "query");
    for (const char* name : {"limit", "start_index"}) {
      const std::string* text = request.parameters.Find(name);
      if (text != nullptr && !ParseInt32(*text))
        return SendError(out, request, 400,
                         "Unable to convert '" + std::string(name) + "' to a valid number");
    }
  }
  SendError(out, request, 400, "Searching is not enabled",
            "Searching has not been enabled on this TSD");
}

}  // namespace

void HandleSearch(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  if (*method != Method::kGet && *method != Method::kPost)
    return SendError(out, request, 400, "Unsupported method: " + request.method_text);
  const std::string type = request.Segment(1);
  if (type == "lookup") return HandleLookup(request, services, out);
  if (type == "tags") return HandleTagCounts(request, services, out);
  if (std::find(std::begin(kPluginTypes), std::end(kPluginTypes), type) == std::end(kPluginTypes))
    return RefuseType(request, type, out);
  RefusePluginType(request, *method, out);
}

}  // namespace hg::http
