#pragma once
// POST /api/v1/write: Prometheus' remote write 1.0, protobuf in a snappy block (docs/ingestion.md).
// Prometheus retries after 5xx and drops the samples after 4xx.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. 204: all samples except NaN are stored. 400: the body is invalid, or some samples
/// cannot be stored; the others are. 415: another version, coding or type. Blocks.
void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
