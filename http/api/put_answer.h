#pragma once
// The responses of /api/put, /api/rollup and /api/histogram (opentsdb-http-api.md §8.3). A response
// has an empty body, an error, or a result for each point.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/put_document.h"

namespace hg::http {

/// The parameters of the request that change the response.
struct PutFlags {
  bool summary = false, details = false, sync = false;
  int32_t sync_timeout_ms = 0;
};

/// The result of storing one point.
struct PutOutcome {
  std::string error;     // error message; empty: the point was stored
  bool storage = false;  // whether the store caused the error; if so, the point itself is valid
};

inline constexpr const char* kPutTimedOut = "Write timedout";

struct PutResult {
  PutKind kind = PutKind::kPoints;
  PutFlags flags;
  // The points of the request; needed only if some of them were not stored.
  std::deque<PutPoint> points;
  std::vector<PutOutcome> outcomes;  // one element for each point of the request
  /// Whether the timeout of the request has passed. If it has, the points that were not durable by
  /// then have the error kPutTimedOut.
  bool timed_out = false;
  /// Whether a rollup has a tag without a key, which OpenTSDB cannot print.
  bool unprintable = false;
};

void AnswerPut(const Request& request, const PutResult& result, ResponseWriter& out);

}  // namespace hg::http
