#pragma once
// Waiting for the log, on threads that may.

#include <chrono>
#include <memory>
#include <semaphore>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Makes the points up to `position` durable at the configured level; their Status. Position 0:
/// nothing to wait for. DeadlineExceeded after timeout_ms, if that is not 0: the points may still
/// become durable.
inline Status CommitAndWait(PointSink& sink, PointSink::Position position, int64_t timeout_ms = 0) {
  if (position == 0) return {};
  struct Outcome {
    Status status;
    std::binary_semaphore done{0};
  };
  // Shared: after a timeout, or while release() returns, the other side still needs it.
  auto outcome = std::make_shared<Outcome>();
  sink.Commit(position, [outcome](const Status& status) {
    outcome->status = status;
    outcome->done.release();
  });
  if (timeout_ms == 0) {
    outcome->done.acquire();
  } else if (!outcome->done.try_acquire_for(std::chrono::milliseconds(timeout_ms))) {
    return Status::DeadlineExceeded("Write timedout");
  }
  return outcome->status;
}

}  // namespace hg::http
