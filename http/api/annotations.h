#pragma once
// Handlers of /api/annotation, /api/annotations and their /bulk (opentsdb-http-api.md §16).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST, PUT, DELETE, method_override: one annotation. /bulk: many.
void HandleAnnotation(const Request& request, Services& services, ResponseWriter& out);

/// GET: the global annotations of a time range. Other methods and paths are handled by
/// HandleAnnotation.
void HandleAnnotations(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
