#pragma once
// Handlers of /api/annotation/bulk and /api/annotations/bulk (opentsdb-http-api.md §16.4).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// POST, PUT: stores an array of annotations. DELETE: deletes those of a time range. Other methods
/// get 405.
void HandleAnnotationBulk(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
