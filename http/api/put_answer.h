#pragma once
// Responses of /api/put, /api/rollup and /api/histogram (opentsdb-http-api.md §8.3): no body, an
// error, or a result for each point.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/put_document.h"

namespace hg::http {

/// Parameters of the request that affect the response.
struct PutFlags {
  bool summary = false, details = false, sync = false;
  int32_t sync_timeout_ms = 0;
};

/// The result of one point.
struct PutOutcome {
  std::string error;     // empty = stored
  bool storage = false;  // the store failed; the point itself is valid
};

inline constexpr const char* kPutTimedOut = "Write timedout";

struct PutResult {
  PutKind kind = PutKind::kPoints;
  PutFlags flags;
  // The points of the request; only needed if some points were not stored.
  std::deque<PutPoint> points;
  std::vector<PutOutcome> outcomes;
  bool timed_out = false;  // the error is kPutTimedOut: the point was not stored before the timeout
  bool unprintable = false;  // a rollup point has a tag without a key, which OpenTSDB cannot print
};

void AnswerPut(const Request& request, const PutResult& result, ResponseWriter& out);

}  // namespace hg::http
