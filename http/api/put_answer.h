#pragma once
// What /api/put and its like answer (spec http-api.md §8.3): nothing, an error, or what became of
// the points.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/wire/put_document.h"

namespace hg::http {

/// What a request asks for beside storing.
struct PutFlags {
  bool summary = false, details = false, sync = false;
  int32_t sync_timeout_ms = 0;
};

/// What became of one point.
struct PutOutcome {
  std::string error;     // empty = stored
  bool storage = false;  // refused by the store, not by its contents
};

inline constexpr const char* kPutTimedOut = "Write timedout";

struct PutResult {
  PutKind kind = PutKind::kPoints;
  PutFlags flags;
  std::deque<PutPoint> points;  // only needed if some were not stored
  std::vector<PutOutcome> outcomes;
  bool timed_out = false;    // of those that say kPutTimedOut
  bool unprintable = false;  // a rollup got a tag without a key: OpenTSDB cannot show it
};

void AnswerPut(const Request& request, const PutResult& result, ResponseWriter& out);

}  // namespace hg::http
