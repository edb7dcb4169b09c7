#pragma once
// POST /api/v1/read: Prometheus' remote read, protobuf in a snappy block (docs/ingestion.md).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. Returns the stored points of each query's series as samples. It counts as a query: it
/// is listed, can be ended, and uses the HTTP statuses of /api/query. Blocks.
void HandleRemoteRead(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
