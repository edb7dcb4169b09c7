#pragma once
// Stores the points of one request, or of one batch of a connection, for all ingestion formats. The
// handler of a format decodes the points, passes them to an Intake, and makes a response from the
// results. Fast paths on event loops do not use Intake: they call the PointSink directly and
// classify failures in the same way (failure.h).

#include <cstdint>
#include <span>
#include <vector>

#include "http/intake/failure.h"
#include "http/request/counters.h"
#include "storage/base/status.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/point_sink.h"
#include "storage/model/write_context.h"

namespace hg::http {

/// Use on one thread at a time. Its functions may block, so do not call them on an event loop.
class Intake {
 public:
  /// All arguments must outlive the object.
  Intake(PointSink& sink, Counters& counters, WriteContext& context)
      : sink_(sink), counters_(counters), context_(context) {}

  /// Stores points by raw series key. Returns false if nothing was stored, because a key is unknown
  /// or because one of the points has a failure of its own; the caller then uses StoreNamed.
  /// Returns true if all points are stored, or if all are rejected (refusal()).
  bool StoreKnown(std::span<const KeyedPoint> points);
  /// As the overload above, for callers that store refused points again themselves: a refusal of
  /// all points is returned in *refused and is not counted.
  bool StoreKnown(std::span<const KeyedPoint> points, Status* refused);
  bool StoreLines(std::span<const KeyedLine> lines, std::span<const KeyedField> fields);
  /// Stores the leading points whose keys are ordinary (PointSink::AppendLearning), and returns
  /// their number. The other points are refused if refusal() is set; otherwise the caller passes
  /// them to StoreNamed.
  size_t StoreLearning(std::span<const KeyedPoint> points);

  /// Stores points by name. Sets (*results)[i] to the result of point i (PointSink::AppendNamed).
  /// The caller must pass each result to Judge, except for points that it stores again.
  void StoreNamed(std::span<const NamedPoint> points, std::vector<Status>* results);

  /// Makes the next Commit cover the values that were put into `sink`.
  void Cover(LimitedSink& sink) { covered_ = &sink; }

  /// Counts the result of one point, and remembers it if the client should send the point again.
  Failure Judge(const Status& result) { return Judge(result, 1); }

  /// Ends the request: from now on refusal() returns `why`. Does nothing if `why` is OK or the
  /// request has already ended.
  void Stop(const Status& why);

  /// Returns the failure that affects all points (RefusesAll), or the argument of Stop. If the
  /// result is not OK, the caller should store no more points.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

  /// Waits until the stored points are durable. If `timeout_ms` is not 0, the wait may end with
  /// DeadlineExceeded; the points may then become durable later.
  Status Commit(int64_t timeout_ms = 0);

  /// Commits. Returns the reason if the client should send the whole request again: the refusal, a
  /// failed commit, or a failure of a point that may pass (MayPass). Otherwise returns OK.
  Status Finish();

  /// Adds the stored points to the counter of added points now, not in the next Commit.
  void CountStored();

  /// Returns the number of points that are stored and counted as added.
  [[nodiscard]] uint64_t stored() const { return stored_; }

 private:
  Failure Judge(const Status& result, uint64_t points);
  bool Settle(const Result<PointSink::Appended>& appended, uint64_t points, Status* refused);
  bool Settle(const Result<PointSink::Appended>& appended, uint64_t points);

  PointSink& sink_;
  Counters& counters_;
  WriteContext& context_;
  PointSink::Position position_ = 0;
  LimitedSink* covered_ = nullptr;
  uint64_t stored_ = 0, uncounted_ = 0;  // uncounted_: stored, but not yet counted as added
  Status refusal_;
  Status missed_;  // the first failure of a point that may pass
};

}  // namespace hg::http
