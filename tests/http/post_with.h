#pragma once
// Sends POST requests with HTTP headers, for tests of ingestion protocols that need headers.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/routes/router.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Passes a POST request with these headers to the table of endpoints and returns the reply. The
/// fast path for points is not used.
inline BufferResponse PostWith(EdgeFixture& edge, const Headers& headers, std::string_view target,
                               std::string_view body) {
  BufferResponse reply;
  Request request = MakeRequest("POST", target, body);
  request.headers = headers;
  Dispatch(request, edge.services, reply);
  return reply;
}

}  // namespace hg::http
