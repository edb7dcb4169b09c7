#include "http/intake/failure.h"

namespace hg::http {

Failure FailureOf(const Status& result) {
  switch (result.code()) {
    case StatusCode::kOk:
      return Failure::kNone;
    case StatusCode::kInvalidArgument:
    case StatusCode::kConflict:  // another name has the same bytes, or no id is left
      return Failure::kInvalid;
    case StatusCode::kNotFound:
      return Failure::kUnknown;
    case StatusCode::kCorruption:
    case StatusCode::kUnsupported:
      return Failure::kDamaged;
    case StatusCode::kExhausted:
      return Failure::kNewSeries;
    case StatusCode::kLimitExceeded:
      return Failure::kRate;
    case StatusCode::kBusy:
    case StatusCode::kUnavailable:
    case StatusCode::kDeadlineExceeded:
      return Failure::kBusy;
    case StatusCode::kIoError:
      return Failure::kStorage;
  }
  return Failure::kStorage;
}

void CountFailure(Failure failure, uint64_t points, Counters* counters) {
  const auto count = [points](Counters::Counter* counter) {
    counter->fetch_add(points, std::memory_order_relaxed);
  };
  switch (failure) {
    case Failure::kNone:
      return;
    case Failure::kInvalid:
      return count(&counters->put_illegal_arguments);
    case Failure::kUnknown:
      return count(&counters->put_unknown_metrics);
    case Failure::kNewSeries:
    case Failure::kRate:
    case Failure::kBusy:
      return count(&counters->put_writes_blocked);
    case Failure::kDamaged:
    case Failure::kStorage:
      return count(&counters->put_storage_errors);
  }
}

}  // namespace hg::http
