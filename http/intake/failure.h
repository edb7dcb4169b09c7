#pragma once
// The classes of failures to store a point. For all ingestion formats, the class decides how the
// point is counted and whether the client should send it again. The handler of each format makes
// the response. The table "Failures" of docs/ingestion.md lists all responses.

#include <cstdint>

#include "http/request/counters.h"
#include "storage/base/status.h"

namespace hg::http {

enum class Failure : uint8_t {
  kNone,     // the point was stored
  kInvalid,  // the point can never be stored: its time, value, names, tags or number of series
  kUnknown,  // a name of the point does not exist and is not created automatically
  kDamaged,  // damaged data in the store affects this point, or the store does not support it
  // The following failures may be over at the next attempt.
  kNewSeries,  // memory is too short for new series; points of known series are stored
  kRate,       // a limit of points per second was reached
  kBusy,       // the store rejects all points for now, or the request was ended early
  kStorage,    // reading or writing the store failed
};

/// Returns the class of a result that the store returned for a point, a batch or a commit.
Failure FailureOf(const Status& result);

/// Returns true for failures that affect all points of a client: kRate and kBusy. Further points
/// would not be stored either. Telnet lines wait until the failure is over.
constexpr bool RefusesAll(Failure failure) {
  return failure == Failure::kRate || failure == Failure::kBusy;
}

/// Returns whether the client should send the point again later.
constexpr bool MayPass(Failure failure) { return failure >= Failure::kNewSeries; }

/// Adds `points` to the counter of `rpc.errors` for the failure. Does nothing for kNone.
void CountFailure(Failure failure, uint64_t points, Counters* counters);

}  // namespace hg::http
