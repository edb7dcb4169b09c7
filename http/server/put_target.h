#pragma once
// Recognizes request targets of /api/put without parsing them. The fast path uses this file.

#include <string_view>

namespace hg::http {

struct PutTarget {
  // Whether the path is /api/put, the only parameters are summary, details and sync, and the target
  // has no percent-escapes.
  bool plain = false;
  bool summary = false, details = false;
};

PutTarget ParsePutTarget(std::string_view target);

/// Returns whether the path is /api/put or /api/v1/put, with any parameters.
bool IsPutPath(std::string_view target);

}  // namespace hg::http
