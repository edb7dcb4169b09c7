#pragma once
// POST /v1/metrics: OpenTelemetry metrics over HTTP, as protobuf or JSON, with or without gzip
// (docs/ingestion.md).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Maximum size of an unpacked body in bytes. The limit is low because a body of two bytes per
/// element can need a hundred bytes of memory per element when parsed.
inline constexpr size_t kOtlpBytesMax = 16 << 20;

/// POST only. 200: all valid points are stored; the response has the number of refused data points
/// and a reason. 503: the client may send the same request again. Responses and errors have the
/// request's content type. Blocks.
void HandleOtlpMetrics(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
