#pragma once
// The classes of failures that can occur when the server stores a point. For all ingestion formats,
// the class of a failure determines how the point is counted, and whether the client should send
// the point again. The handler of each format creates the response. The table "Failures" of
// docs/ingestion.md lists all responses.

#include <cstdint>

#include "http/request/counters.h"
#include "storage/base/status.h"

namespace hg::http {

enum class Failure : uint8_t {
  kNone,  // there was no failure: the point was stored
  /// The point cannot be stored, and a retry will not help. Its time, value, name or tags are not
  /// allowed, or its series is new and the number of new series is limited for this client.
  kInvalid,
  kUnknown,  // a name of the point does not exist and is not created automatically
  kDamaged,  // damaged data in the store affects the point, or the store does not support the point
  // The following failures may be over at the next attempt to store the point.
  kNewSeries,  // memory is too short for new series; points of known series are stored
  kRate,       // a limit, usually of the points per second of the client or the metric, is reached
  kBusy,       // the store rejects all points for now, or the request was ended early
  kStorage,    // reading or writing the store failed
};

/// Returns the failure class of a result that the store returned for a point, a batch or a commit.
Failure FailureOf(const Status& result);

/// Returns whether further points of the client would probably fail, too. This is so for kBusy and
/// for kRate, even if only one metric has reached its limit. Telnet lines wait until the failure is
/// over.
constexpr bool RefusesAll(Failure failure) {
  return failure == Failure::kRate || failure == Failure::kBusy;
}

/// Returns whether the failure may be over later, so that the client should send the point again.
constexpr bool MayPass(Failure failure) { return failure >= Failure::kNewSeries; }

/// Adds `points` to the `rpc.errors` counter that belongs to the failure. Does nothing for kNone.
void CountFailure(Failure failure, uint64_t points, Counters* counters);

}  // namespace hg::http
