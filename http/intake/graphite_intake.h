#pragma once
// Stores the points that arrive on Graphite's ports, in batches. If all paths of a batch are known,
// the batch needs only one look-up of each path; otherwise, its points are stored by name.
// Graphite's protocols have no replies, so the server counts and logs rejected points.

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "http/intake/foreign_points.h"
#include "http/intake/intake.h"
#include "http/request/options.h"
#include "http/request/services.h"
#include "http/wire/graphite_line.h"
#include "storage/base/status.h"
#include "storage/base/until_stop.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// Stores the points of Graphite connections. Only one thread at a time may use the object.
class GraphiteIntake {
 public:
  /// All arguments must outlive the object. After `overdue` has become true, the object stores no
  /// more points.
  GraphiteIntake(const Options& options, Services& services, const std::atomic<bool>& overdue)
      : services_(services), overdue_(overdue), named_(options) {}

  /// Returns whether the server is stopping and the time to store received points is over.
  [[nodiscard]] bool overdue() const { return overdue_.load(std::memory_order_relaxed); }

  [[nodiscard]] int64_t MonotonicMs() const { return services_.clock.MonotonicNs() / 1'000'000; }
  [[nodiscard]] Timestamp Now() const;

  // In the following functions, `writer` has the write limits of the client that sent the points;
  // nullptr = unlimited. All points of a batch must come from one client, so call Flush before you
  // add a point of another client.

  /// Adds a point to the batch. If the batch has become large, Add calls Flush and returns true.
  /// The bytes of the path must stay valid until Flush. The path need not have been validated
  /// before.
  bool Add(const GraphitePoint& point, Writer* writer);
  /// Adds a point to the batch and copies its path, so the bytes of the path need not stay valid.
  bool AddCopy(const GraphitePoint& point, Writer* writer);

  /// Counts and logs received input that could not be parsed. `why` is the error.
  void Refuse(const Status& why);

  /// Counts and logs a connection that the server rejects or closes because the server lacks a
  /// resource, such as memory. `why` is the text for the log.
  void TurnAway(std::string_view why);

  /// Logs a warning. At most one warning is logged every ten seconds.
  void Tell(std::string_view why);

  /// Stores the points of the batch. If the store is busy (Failure::kBusy), Flush waits and tries
  /// again until the store accepts the points or overdue() is true. After any other failure, Flush
  /// drops the affected points. It also drops points that a write rate limit rejects
  /// (docs/security.md), because waiting would delay the points of all other clients.
  void Flush(Writer* writer);

  /// Discards the points that were added but not stored. Call this function after an exception,
  /// because the bytes to which the points refer may no longer exist.
  void Drop();

 private:
  void NamePoints();
  /// Stores the points, and tries again while the store is busy. If the store has already rejected
  /// all of these points, `refused` is the error; otherwise `refused` is OK.
  void Store(std::vector<NamedPoint> left, const WriteContext& context, Intake& intake,
             const Status& refused = {});
  /// Stores the points of each metric separately, because a rate limit may reject the points of
  /// only one metric.
  void StoreByMetric(std::vector<NamedPoint> points, const WriteContext& context, Intake& intake);

  Services& services_;
  const std::atomic<bool>& overdue_;
  UntilStop until_overdue_{overdue_};
  std::vector<KeyedPoint> batch_;
  std::deque<std::string> paths_;  // copies of the paths of the points in the batch
  size_t batch_bytes_ = 0;
  ForeignPoints named_;  // the points of the batch with their names; used if a path is not known
  int64_t told_ms_ = 0;
  uint64_t untold_ = 0;
};

}  // namespace hg::http
