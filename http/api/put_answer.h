#pragma once
// Responses of /api/put, /api/rollup and /api/histogram (opentsdb-http-api.md §8.3): an empty body,
// an error, or a result for each point.

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
  std::string error;     // empty: the point was stored
  bool storage = false;  // whether the store failed; if so, the point itself is valid
};

inline constexpr const char* kPutTimedOut = "Write timedout";

struct PutResult {
  PutKind kind = PutKind::kPoints;
  PutFlags flags;
  // The points of the request; needed only if some of them were not stored.
  std::deque<PutPoint> points;
  std::vector<PutOutcome> outcomes;
  bool timed_out = false;  // the error is kPutTimedOut: the point was not stored before the timeout
  bool unprintable = false;  // whether a rollup has a tag without a key: OpenTSDB cannot print it
};

void AnswerPut(const Request& request, const PutResult& result, ResponseWriter& out);

}  // namespace hg::http
