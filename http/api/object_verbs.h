#pragma once
// Calls the function for the HTTP method of a request to an API object (an annotation or metadata).
// POST changes the given fields of the object, and PUT replaces the whole object.

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

struct ObjectVerbs {
  void (*get)(const Request& request, Services& services, ResponseWriter& out);
  void (*write)(const Request& request, Services& services, ResponseWriter& out, bool replace);
  void (*remove)(const Request& request, Services& services, ResponseWriter& out);
};

/// Calls the function for `method` and returns true. If there is no function for `method`, sends
/// nothing and returns false.
inline bool AnswerVerb(const ObjectVerbs& verbs, Method method, const Request& request,
                       Services& services, ResponseWriter& out) {
  switch (method) {
    case Method::kGet:
      verbs.get(request, services, out);
      return true;
    case Method::kPost:
    case Method::kPut:
      verbs.write(request, services, out, method == Method::kPut);
      return true;
    case Method::kDelete:
      verbs.remove(request, services, out);
      return true;
    default:
      return false;
  }
}

}  // namespace hg::http
