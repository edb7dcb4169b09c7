#pragma once
// POST /api/v1/read: Prometheus' remote read, a block of snappy around protobuf
// (docs/languages.md).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. The points of each query's series as they were stored, as samples. It is a query as
/// others: watched, listed, ended, with the statuses of /api/query. Blocks.
void HandleRemoteRead(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
