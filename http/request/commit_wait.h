#pragma once
// A function with which a thread waits until stored points are durable. Only for threads that may
// block.

#include <chrono>
#include <memory>
#include <semaphore>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Makes the points up to `position` durable at the configured level and returns the Status of the
/// commit. Position 0 returns OK at once. DeadlineExceeded: timeout_ms has passed (0 = no timeout);
/// the points may still become durable later.
inline Status CommitAndWait(PointSink& sink, PointSink::Position position, int64_t timeout_ms = 0) {
  if (position == 0) return {};
  struct Outcome {
    Status status;
    std::binary_semaphore done{0};
  };
  // Shared with the callback, which may use it after this function has returned because of a
  // timeout.
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
