#include "http/api/parsed_body.h"

#include <utility>

#include "http/api/arguments.h"
#include "http/request/errors.h"
#include "query/request/running_request.h"

namespace hg::http {

std::optional<JsonValue> ParsedBody(const Request& request, ResponseWriter& out) {
  Result<JsonValue> body = ParseJson(request.body, request.memory, *request.running);
  if (body.ok()) return std::move(*body);
  if (body.status().code() == StatusCode::kLimitExceeded || IsHalfSurrogatePair(body.status())) {
    SendBadJson(out, request, body.status().message());
  } else if (body.status().code() != StatusCode::kInvalidArgument) {
    SendStatus(out, request, body.status());
  } else {
    SendError(out, request, 500, body.status().message());
  }
  return {};
}

}  // namespace hg::http
