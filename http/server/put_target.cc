#include "http/server/put_target.h"

namespace hg::http {
namespace {

/// Removes the path from *target. Returns false if the target has another path.
bool TakePath(std::string_view* target) {
  for (std::string_view path : {std::string_view("/api/put"), std::string_view("/api/v1/put")}) {
    if (!target->starts_with(path)) continue;
    std::string_view rest = target->substr(path.size());
    if (!rest.empty() && rest[0] == '/') rest.remove_prefix(1);
    if (!rest.empty() && rest[0] != '?') return false;
    *target = rest;
    return true;
  }
  return false;
}

}  // namespace

PutTarget ParsePutTarget(std::string_view target) {
  PutTarget result;
  if (!TakePath(&target)) return result;
  if (!target.empty()) target.remove_prefix(1);
  while (!target.empty()) {
    const size_t end = target.find_first_of("&;");
    std::string_view name = target.substr(0, end);
    target = end == std::string_view::npos ? std::string_view() : target.substr(end + 1);
    if (name.find('%') != std::string_view::npos) return result;
    name = name.substr(0, name.find('='));
    if (name == "summary") {
      result.summary = true;
    } else if (name == "details") {
      result.details = true;
    } else if (name != "sync" && !name.empty()) {
      return result;  // "sync" needs no action: every acknowledged point is already stored
    }
  }
  result.plain = true;
  return result;
}

bool IsPutPath(std::string_view target) { return TakePath(&target); }

}  // namespace hg::http
