#pragma once
// Which request targets are /api/put, seen without splitting them: the fast way's question about
// every request.

#include <string_view>

namespace hg::http {

struct PutTarget {
  bool plain = false;  // /api/put with no other parameters than these, unescaped
  bool summary = false, details = false;
};

PutTarget ParsePutTarget(std::string_view target);

/// True for /api/put and /api/v1/put whatever their parameters.
bool IsPutPath(std::string_view target);

}  // namespace hg::http
