#pragma once
// Stores the points of Graphite's ports in batches. Points of known paths need one lookup each;
// other points are stored by name. Graphite's protocols have no replies, so refused points are
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

/// One thread at a time.
class GraphiteIntake {
 public:
  /// All arguments must outlive the object. Once `stopping` is true, no more points are stored.
  GraphiteIntake(const Options& options, Services& services, const std::atomic<bool>& stopping)
      : services_(services), stopping_(stopping), named_(options) {}

  [[nodiscard]] bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

  [[nodiscard]] int64_t MonotonicMs() const { return services_.clock.MonotonicNs() / 1'000'000; }
  [[nodiscard]] Timestamp Now() const;

  // `writer`: the client whose write limits apply; nullptr = unlimited. All points of a batch must
  // be of one writer, so call Flush before the next one.

  /// Adds a point; may call Flush. The path's bytes must live until Flush, which also validates the
  /// path.
  void Add(const GraphitePoint& point, Writer* writer);
  /// Like Add, but copies the path.
  void AddCopy(const GraphitePoint& point, Writer* writer);

  /// Counts and logs input that could not be parsed.
  void Refuse(const Status& why);

  /// Counts and logs a connection that the server refuses or closes for lack of a resource.
  void TurnAway(std::string_view why);

  /// Logs a warning, but at most one every ten seconds.
  void Tell(std::string_view why);

  /// Stores the added points. If the store refuses them for now (Failure::kBusy), tries again until
  /// it takes them. Other failures drop only the points concerned. That includes write rate
  /// limits (docs/security.md): waiting for one client's limit would block all other clients.
  void Flush(Writer* writer);

  /// Discards points that were added and not stored. Called after an exception, when the bytes that
  /// the points refer to no longer exist.
  void Drop();

 private:
  void NamePoints();
  /// Stores the points. Retries points that the store refuses for now. `refused`: the error if the
  /// store has already refused all of them, otherwise OK.
  void Store(std::vector<NamedPoint> left, const WriteContext& context, Intake& intake,
             const Status& refused = {});
  /// Stores each metric's points separately, because a rate limit may refuse only one of the
  /// metrics.
  void StoreByMetric(std::vector<NamedPoint> points, const WriteContext& context, Intake& intake);

  Services& services_;
  const std::atomic<bool>& stopping_;
  UntilStop until_stop_{stopping_};
  std::vector<KeyedPoint> batch_;
  std::deque<std::string> paths_;  // copies of paths of the batch
  size_t batch_bytes_ = 0;
  ForeignPoints named_;  // the batch with names, if not all its series are known
  int64_t told_ms_ = 0;
  uint64_t untold_ = 0;
};

}  // namespace hg::http
