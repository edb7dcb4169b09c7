#pragma once
// Classifies why a point was not stored. All ingestion formats use the class to count the point and
// to decide whether the client should send it again. The handler of each format makes the response.
// The table "Failures" of docs/ingestion.md lists all responses.

#include <cstdint>

#include "http/request/counters.h"
#include "storage/base/status.h"

namespace hg::http {

enum class Failure : uint8_t {
  kNone,     // the point is stored
  kInvalid,  // the point can never be stored: its time, value, names, tags or number of series
  kUnknown,  // one of its names does not exist and is not created automatically
  kDamaged,  // damaged data in the store concerns this point, or the store cannot store such points
  // Another attempt may succeed:
  kNewSeries,  // there is no memory for new series; points of known series are stored
  kRate,       // a limit of points per second was reached
  kBusy,       // the store refuses all points for now, or the request was ended early
  kStorage,    // reading or writing the store failed
};

/// Returns the class of the result that the store gave for a point, a batch or a commit.
Failure FailureOf(const Status& result);

/// Returns true for failures that affect all points of a client: kRate and kBusy. Storing further
/// points would fail, too. Telnet lines wait until the failure is over.
constexpr bool RefusesAll(Failure failure) {
  return failure == Failure::kRate || failure == Failure::kBusy;
}

/// Returns true if the client should send the point again later.
constexpr bool MayPass(Failure failure) { return failure >= Failure::kNewSeries; }

/// Adds refused points to the counter of `rpc.errors` for the failure. kNone is not counted.
void CountFailure(Failure failure, uint64_t points, Counters* counters);

}  // namespace hg::http
