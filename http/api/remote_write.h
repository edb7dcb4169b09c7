#pragma once
// POST /api/v1/write: Prometheus' remote write 1.0, a block of snappy around protobuf
// (docs/languages.md). The answer tells a Prometheus what to do: 5xx, send it again; 4xx, drop it.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. 204: all samples are stored, but for those that are NaN. 400: the body is none, or
/// some samples cannot be stored; the others are. 415: another version, coding or type. Blocks.
void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
