#pragma once
// Stores the points of one request, or of one batch of a connection, for all ingestion formats. The
// handler of a format decodes the points, passes them to an Intake, and creates a response from the
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

/// Stores the points of one request. Only one thread at a time may use the object. Its functions
/// may block, so do not call them on an event loop.
class Intake {
 public:
  /// All arguments must outlive the object.
  Intake(PointSink& sink, Counters& counters, WriteContext& context)
      : sink_(sink), counters_(counters), context_(context) {}

  /// Stores points by their raw series keys. Returns true if all points are stored, or if the store
  /// rejects all points (see refusal()). Returns false if a key is unknown or if a single point has
  /// a failure. If the result is false, the caller must pass all points to StoreNamed, although
  /// some of them may already be stored.
  bool StoreKnown(std::span<const KeyedPoint> points);
  /// Stores points as the overload without `refused` does. If the store rejects all points, sets
  /// *refused to the error, and neither counts the points as rejected nor sets refusal(). This
  /// overload is for callers that try to store rejected points again.
  bool StoreKnown(std::span<const KeyedPoint> points, Status* refused);
  bool StoreLines(std::span<const KeyedLine> lines, std::span<const KeyedField> fields);
  /// Stores points from the front of the list, even if their series are unknown. Stops at the first
  /// point that PointSink::AppendLearning does not handle. Returns the number of stored points. If
  /// refusal() is not OK, the remaining points are rejected; otherwise the caller must pass them to
  /// StoreNamed.
  size_t StoreLearning(std::span<const KeyedPoint> points);

  /// Stores points by their names. Sets (*results)[i] to the result of point i
  /// (PointSink::AppendNamed). The caller must pass each result to Judge, except the results of
  /// points that it stores again.
  void StoreNamed(std::span<const NamedPoint> points, std::vector<Status>* results);

  /// Makes the next Commit also wait until the values that `sink` has stored are durable. `sink`
  /// must exist until then.
  void Cover(LimitedSink& sink) { covered_ = &sink; }

  /// Counts the result of storing one point, and returns its failure class. If the client should
  /// send the point again, the next Finish returns an error.
  Failure Judge(const Status& result) { return Judge(result, 1); }

  /// Ends the request: after this call, refusal() returns `why`. Does nothing if `why` is OK or if
  /// the request has already ended.
  void Stop(const Status& why);

  /// Returns the first failure that affects all points of the request (RefusesAll), or the argument
  /// of Stop. Returns OK if there is neither. If the result is not OK, the caller should store no
  /// more points.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

  /// Waits until the stored points are durable. If `timeout_ms` is not 0, Commit may fail with
  /// DeadlineExceeded after that time; the points may become durable later.
  Status Commit(int64_t timeout_ms = 0);

  /// Calls Commit. Returns an error if the client should send the whole request again. The error is
  /// the refusal, the failure of the commit, or a failure of a point that may be over at the next
  /// attempt (MayPass). Otherwise returns OK.
  Status Finish();

  /// Adds the number of stored points to the counter of added points now, not in the next Commit.
  void CountStored();

  /// Returns the number of points of the request that are stored and were counted as added.
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
  /// The number of stored points that were counted as added, and the number of stored points that
  /// were not counted yet.
  uint64_t stored_ = 0, uncounted_ = 0;
  Status refusal_;
  Status missed_;  // the first point failure that may be over at the next attempt
};

}  // namespace hg::http
