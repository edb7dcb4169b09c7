#pragma once
// /api/annotation/bulk and /api/annotations/bulk (spec http-api.md §16.4).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// POST, PUT: an array of annotations; DELETE: those of a range. Others are 405.
void HandleAnnotationBulk(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
