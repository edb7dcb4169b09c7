#include "http/access/needed_role.h"

#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

/// Returns the method that a handler will use (OverriddenMethod in http/api/arguments.h).
std::string EffectiveVerb(const Request& request) {
  const std::string* other = request.parameters.Find("method_override");
  if (request.method == Method::kGet && other != nullptr) return UpperCase(*other);
  return request.method_text;
}

bool Looks(const std::string& verb) { return verb == "GET" || verb == "HEAD"; }

}  // namespace

Role ForReadersByVerb(const Request& request) {
  return Looks(EffectiveVerb(request)) ? Role::kRead : Role::kWrite;
}

Role ForQueries(const Request& request) {
  const std::string verb = EffectiveVerb(request);
  return Looks(verb) || verb == "POST" ? Role::kRead : Role::kAdmin;
}

Role ForUids(const Request& request) {
  const std::string part = request.Segment(1);
  if (part == "assign") return Role::kWrite;
  if (part == "rename") return Role::kAdmin;
  return ForReadersByVerb(request);
}

Role ForStats(const Request& request) {
  return request.method == Method::kDelete ? Role::kAdmin : Role::kRead;
}

Role RoleOfCommand(std::string_view command) {
  if (command == "put" || command == "rollup" || command == "histogram") return Role::kWrite;
  if (command == "stats") return Role::kRead;
  if (command == "dropcaches" || command == "diediedie") return Role::kAdmin;
  return Role::kUser;  // version, help, exit, and unknown commands
}

}  // namespace hg::http
