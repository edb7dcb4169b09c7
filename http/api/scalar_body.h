#pragma once
// Bodies in which every member is a text or can be used as one.

#include <string>

#include "http/api/arguments.h"

namespace hg::http {

/// True if the body is an object of texts, numbers, booleans and nulls. False: 400 was sent.
inline bool RequireScalars(const JsonValue& body, const Request& request, ResponseWriter& out) {
  if (!body.is_object()) {
    SendBadJson(out, request, "An object is expected");
    return false;
  }
  for (const auto& [key, value] : body.members) {
    if (value.is_scalar() || value.is_null()) continue;
    SendBadJson(out, request, "\"" + key + "\" must be a text");
    return false;
  }
  return true;
}

}  // namespace hg::http
