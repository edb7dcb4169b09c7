#include <optional>
#include <string>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "query/request/running_request.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr int32_t kNamesDefault = 25;

struct SuggestArguments {
  std::string type;
  std::string prefix;
  std::string max;  // "" = the default
};

/// Reads a member that is absent, null or a scalar. Returns false for anything else.
bool ReadText(const JsonValue& object, std::string_view name, std::string* text) {
  const JsonValue* value = object.Find(name);
  if (value == nullptr || value->is_null()) return true;
  if (!value->is_scalar()) return false;
  *text = value->text;
  return true;
}

std::optional<SuggestArguments> SuggestFromBody(const Request& request, ResponseWriter& out) {
  const std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  SuggestArguments arguments;
  if (!body->is_object() || !ReadText(*body, "type", &arguments.type) ||
      !ReadText(*body, "q", &arguments.prefix) || !ReadText(*body, "max", &arguments.max)) {
    SendBadJson(out, request,
                "An object with \"type\", and perhaps \"q\" and \"max\", is expected");
    return {};
  }
  if (!arguments.type.empty()) return arguments;
  SendError(out, request, 400, "Missing 'type' parameter");
  return {};
}

std::optional<SuggestArguments> SuggestFromParameters(const Request& request, ResponseWriter& out) {
  const std::optional<std::string> type = NonEmptyParameter(request, "type");
  if (!type) {
    SendMissingParameter(out, request, "type");
    return {};
  }
  return SuggestArguments{*type, NonEmptyParameter(request, "q").value_or(""),
                          NonEmptyParameter(request, "max").value_or("")};
}

std::optional<UidKind> KindByName(std::string_view type) {
  for (UidKind kind : kUidKinds)
    if (type == UidKindName(kind)) return kind;
  return {};
}

}  // namespace

void HandleSuggest(const Request& request, Services& services, ResponseWriter& out) {
  const bool from_body = request.method == Method::kPost && request.api_version >= 0;
  const auto arguments =
      from_body ? SuggestFromBody(request, out) : SuggestFromParameters(request, out);
  if (!arguments) return;
  const std::optional<UidKind> kind = KindByName(arguments->type);
  std::optional<int32_t> max = kNamesDefault;
  if (!arguments->max.empty()) max = ParseInt32(arguments->max);
  if (!max) return SendError(out, request, 400, "Unable to parse 'max' as a number");
  if (!kind) return SendError(out, request, 400, "Invalid 'type' parameter:" + arguments->type);
  if (*max <= 0) max = kNamesDefault;

  MemoryTally tally(request.running);
  const auto names =
      services.names.Suggest(*kind, arguments->prefix, static_cast<size_t>(*max), &tally);
  if (!names.ok()) return SendStatus(out, request, names.status());
  // Memory of the body, which may take twice its size while it grows, and of the bytes that are
  // sent.
  constexpr int64_t kCopies = 4, kPunctuation = 3;
  int64_t bytes = 0;
  for (const std::string& name : *names) bytes += static_cast<int64_t>(name.size()) + kPunctuation;
  if (const Status room = tally.Add(kCopies * bytes); !room.ok())
    return SendStatus(out, request, room);
  std::string body;
  JsonWriter json(&body);
  json.BeginArray();
  for (const std::string& name : *names) json.String(name);
  json.EndArray();
  SendJson(out, request, body);
}

}  // namespace hg::http
