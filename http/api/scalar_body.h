#pragma once
// Checks request bodies that must be JSON objects whose values are texts, or are values that can be
// used as texts.

#include <string>

#include "http/api/arguments.h"

namespace hg::http {

/// Returns true if the body is an object whose values are texts, numbers, booleans or nulls.
/// Otherwise sends 400 and returns false.
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
