#pragma once
// Stores the points of Graphite's ports in batches. A point with a known path needs one look-up;
// other points are stored by name. Graphite's protocols have no replies, so rejected points are
// counted and logged.

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

/// Use on one thread at a time.
class GraphiteIntake {
 public:
  /// All arguments must outlive the object. Once `overdue` is true, no more points are stored.
  GraphiteIntake(const Options& options, Services& services, const std::atomic<bool>& overdue)
      : services_(services), overdue_(overdue), named_(options) {}

  /// Returns whether the time for storing received points at a stop is over.
  [[nodiscard]] bool overdue() const { return overdue_.load(std::memory_order_relaxed); }

  [[nodiscard]] int64_t MonotonicMs() const { return services_.clock.MonotonicNs() / 1'000'000; }
  [[nodiscard]] Timestamp Now() const;

  // `writer` is the client whose write limits apply; nullptr = unlimited. All points of a batch
  // must be of one client, so call Flush before you add a point of another client.

  /// Adds a point; may call Flush. The bytes of the path must stay valid until Flush, which also
  /// validates the path.
  void Add(const GraphitePoint& point, Writer* writer);
  /// Like Add, but copies the path.
  void AddCopy(const GraphitePoint& point, Writer* writer);

  /// Counts and logs input that could not be parsed.
  void Refuse(const Status& why);

  /// Counts and logs a connection that the server refuses or closes for lack of a resource.
  void TurnAway(std::string_view why);

  /// Logs a warning, but at most one every ten seconds.
  void Tell(std::string_view why);

  /// Stores the added points. If the store is busy (Failure::kBusy), tries again until the store
  /// accepts them. After any other failure, the affected points are dropped. This includes write
  /// rate limits (docs/security.md), because waiting for one client would block all other clients.
  void Flush(Writer* writer);

  /// Discards points that were added but not stored. Call this function after an exception, when
  /// the bytes to which the points refer no longer exist.
  void Drop();

 private:
  void NamePoints();
  /// Stores the points, and retries while the store is busy. `refused` is the error of the store if
  /// it has already rejected all of these points; otherwise OK.
  void Store(std::vector<NamedPoint> left, const WriteContext& context, Intake& intake,
             const Status& refused = {});
  /// Stores the points of each metric separately, because a rate limit may reject only one of the
  /// metrics.
  void StoreByMetric(std::vector<NamedPoint> points, const WriteContext& context, Intake& intake);

  Services& services_;
  const std::atomic<bool>& overdue_;
  UntilStop until_overdue_{overdue_};
  std::vector<KeyedPoint> batch_;
  std::deque<std::string> paths_;  // copies of paths of the batch
  size_t batch_bytes_ = 0;
  ForeignPoints named_;  // the batch with names; used if not all series are known
  int64_t told_ms_ = 0;
  uint64_t untold_ = 0;
};

}  // namespace hg::http
