#include "http/intake/intake.h"

#include <algorithm>
#include <utility>

#include "http/request/commit_wait.h"

namespace hg::http {

bool Intake::StoreKnown(std::span<const KeyedPoint> points) {
  return Settle(sink_.AppendKeyed(points, context_), points.size());
}

bool Intake::StoreKnown(std::span<const KeyedPoint> points, Status* refused) {
  return Settle(sink_.AppendKeyed(points, context_), points.size(), refused);
}

bool Intake::StoreLearning(std::span<const KeyedPoint> points) {
  return Settle(sink_.AppendLearning(points, context_), points.size());
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

bool Intake::Settle(const Result<PointSink::Appended>& appended, uint64_t points,
                    Status* refused) {
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
  Status committed = CommitAndWait(sink_, std::exchange(position_, 0), timeout_ms);
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
