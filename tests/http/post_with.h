#pragma once
// Sends requests with header fields, for the ingestion protocols that need header fields.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/routes/router.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Sends a request through the table of endpoints. The fast path for points is not used.
inline BufferResponse PostWith(EdgeFixture& edge, const Headers& headers, std::string_view target,
                               std::string_view body) {
  BufferResponse reply;
  Request request = MakeRequest("POST", target, body);
  request.headers = headers;
  Dispatch(request, edge.services, reply);
  return reply;
}

}  // namespace hg::http
