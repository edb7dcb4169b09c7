#include "http/intake/intake.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <semaphore>
#include <utility>

namespace hg::http {
namespace {

/// Waits until the points up to `position` are durable. If `position` is 0, returns OK at once.
/// Returns DeadlineExceeded after timeout_ms (0 = no timeout).
Status CommitAndWait(PointSink& sink, PointSink::Position position, int64_t timeout_ms) {
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

}  // namespace

bool Intake::StoreKnown(std::span<const KeyedPoint> points) {
  return Settle(sink_.AppendKeyed(points, context_), points.size());
}

bool Intake::StoreKnown(std::span<const KeyedPoint> points, Status* refused) {
  return Settle(sink_.AppendKeyed(points, context_), points.size(), refused);
}

size_t Intake::StoreLearning(std::span<const KeyedPoint> points) {
  const PointSink::Learned learned = sink_.AppendLearning(points, context_);
  position_ = std::max(position_, learned.position);
  uncounted_ += learned.stored;
  if (RefusesAll(FailureOf(learned.refused)))
    Judge(learned.refused, points.size() - learned.stored);
  return learned.stored;
}

bool Intake::StoreLines(std::span<const KeyedLine> lines, std::span<const KeyedField> fields) {
  return Settle(sink_.AppendLines(lines, fields, context_), fields.size());
}

bool Intake::Settle(const Result<PointSink::Appended>& appended, uint64_t points) {
  Status refused;
  const bool settled = Settle(appended, points, &refused);
  if (!refused.ok()) Judge(refused, points);
  return settled;
}

bool Intake::Settle(const Result<PointSink::Appended>& appended, uint64_t points, Status* refused) {
  if (!appended.ok()) {
    if (!RefusesAll(FailureOf(appended.status()))) return false;
    *refused = appended.status();
    return true;
  }
  if (!appended->known) return false;
  position_ = std::max(position_, appended->position);
  uncounted_ += points;
  return true;
}

void Intake::StoreNamed(std::span<const NamedPoint> points, std::vector<Status>* results) {
  results->clear();
  if (points.empty()) return;
  position_ = std::max(position_, sink_.AppendNamed(points, context_, results));
}

Failure Intake::Judge(const Status& result, uint64_t points) {
  const Failure failure = FailureOf(result);
  CountFailure(failure, points, &counters_);
  if (failure == Failure::kNone) {
    uncounted_ += points;
  } else if (RefusesAll(failure)) {
    Stop(result);
  } else if (MayPass(failure) && missed_.ok()) {
    missed_ = result;
  }
  return failure;
}

void Intake::Stop(const Status& why) {
  if (refusal_.ok()) refusal_ = why;
}

Status Intake::Commit(int64_t timeout_ms) {
  const auto position = [&]() -> Result<PointSink::Position> {
    const PointSink::Position own = std::exchange(position_, 0);
    if (covered_ == nullptr) return own;
    ASSIGN_OR_RETURN(const PointSink::Position written,
                     std::exchange(covered_, nullptr)->Written());
    return std::max(own, written);
  }();
  Status committed =
      position.ok() ? CommitAndWait(sink_, *position, timeout_ms) : position.status();
  const bool late = timeout_ms > 0 && committed.code() == StatusCode::kDeadlineExceeded;
  if (!committed.ok() && !late) {
    CountFailure(FailureOf(committed), std::exchange(uncounted_, 0), &counters_);
  }
  CountStored();
  return committed;
}

void Intake::CountStored() {
  stored_ += uncounted_;
  counters_.points_added.fetch_add(std::exchange(uncounted_, 0), std::memory_order_relaxed);
}

Status Intake::Finish() {
  const Status committed = Commit();
  if (!refusal_.ok()) return refusal_;
  return committed.ok() ? missed_ : committed;
}

}  // namespace hg::http
