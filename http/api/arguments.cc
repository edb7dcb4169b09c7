#include "http/api/arguments.h"

#include <charconv>

#include "http/request/errors.h"
#include "http/request/services.h"
#include "query/engine.h"
#include "query/request/running_request.h"
#include "query/time/time_text.h"
#include "storage/model/letter_case.h"

namespace hg::http {

std::optional<Method> OverriddenMethod(const Request& request, ResponseWriter& out) {
  const std::string* value = request.parameters.Find("method_override");
  if (request.method != Method::kGet || value == nullptr) return request.method;
  const std::string verb = LowerCase(*value);
  if (verb == "get") return Method::kGet;
  if (verb == "post") return Method::kPost;
  if (verb == "put") return Method::kPut;
  if (verb == "delete") return Method::kDelete;
  SendError(out, request, 405,
            verb.empty() ? "Missing method override value"
                         : "Unknown or unsupported method override value");
  return {};
}

std::optional<JsonValue> RequireJsonBody(const Request& request, ResponseWriter& out) {
  if (request.body.empty()) {
    SendError(out, request, 400, "Missing message content",
              "Supply valid JSON formatted data in the body of your request");
    return {};
  }
  Result<JsonValue> body = ParseJson(request.body, request.memory, *request.running);
  if (body.ok() && body->is_null()) {  // in OpenTSDB a null dereference, for all endpoints
    SendError(out, request, 500, "The body is null");
    return {};
  }
  if (body.ok()) return std::move(*body);
  if (body.status().code() == StatusCode::kLimitExceeded) {
    SendBadJson(out, request, body.status().message());
  } else {
    SendReadFailure(out, request, body.status());
  }
  return {};
}

void SendBadJson(ResponseWriter& out, const Request& request, std::string_view details) {
  SendError(out, request, 400, "Unable to parse the given JSON", details);
}

void SendReadFailure(ResponseWriter& out, const Request& request, const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return SendStatus(out, request, status);
  SendBadJson(out, request, status.message());
}

Result<query::TimeZone> RequestZone(const std::string& id, const Services& services) {
  const std::string& name = id.empty() ? services.queries.options().timezone : id;
  if (name.empty()) return query::TimeZone::Local();
  return query::TimeZone::Find(name);
}

Result<int64_t> ParseRequestTime(std::string_view text, const Services& services) {
  ASSIGN_OR_RETURN(const query::TimeZone zone, RequestZone("", services));
  return query::ParseTime(text, services.clock.NowMs(), zone);
}

Result<Bytes> ParseHex(const std::string& text) {
  const std::string padded = text.size() % 2 != 0 ? "0" + text : text;
  Bytes bytes;
  if (FromHex(padded, &bytes)) return bytes;
  return Status::InvalidArgument("contains illegal character for hexBinary: " + padded);
}

std::optional<std::string> NonEmptyParameter(const Request& request, std::string_view name) {
  const std::string* value = request.parameters.Find(name);
  if (value == nullptr || value->empty()) return {};
  return *value;
}

}  // namespace hg::http
