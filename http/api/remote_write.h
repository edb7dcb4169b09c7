#pragma once
// POST /api/v1/write: Prometheus' remote write 1.0 and 2.0, protobuf in a snappy block
// (docs/ingestion.md). The Content-Type names the version. Prometheus retries after 5xx and drops
// the samples after 4xx.

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. 204: all samples are stored. 400: the body is invalid, or some samples cannot be
/// stored; the others are. 413: the body, or the labels of 2.0, are too large. 415: another
/// message, coding or type. Responses to 2.0 count what was stored in their headers. Blocks.
void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
