#pragma once
// POST /v1/metrics: OpenTelemetry's metrics over HTTP, as protobuf or JSON, packed with gzip or not
// (docs/languages.md).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Of a body, unpacked: taken apart, two bytes may become a hundred.
inline constexpr size_t kOtlpBytesMax = 16 << 20;

/// POST only. 200: what could be stored is; the answer says how many data points could not be, and
/// why. 503: the same may be sent again. Answers are of the request's type, refusals too. Blocks.
void HandleOtlpMetrics(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
