#pragma once
// Recognizes request targets of /api/put without parsing them. The fast path of the server uses
// this file.

#include <string_view>

namespace hg::http {

struct PutTarget {
  // Whether the target is a plain one: its path is /api/put or /api/v1/put, it has no parameters
  // except summary, details and sync, and it has no percent-escapes. If the target is not plain,
  // the other members have no meaning.
  bool plain = false;
  bool summary = false, details = false;  // whether the target has the parameter
};

PutTarget ParsePutTarget(std::string_view target);

/// Returns whether the path of the target is /api/put or /api/v1/put. The target may have any
/// parameters.
bool IsPutPath(std::string_view target);

}  // namespace hg::http
