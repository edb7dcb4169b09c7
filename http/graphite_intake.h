#pragma once
// What Graphite's ports do with points: they are stored a batch at a time. What is refused is
// counted and told to the log, since nobody can be answered.

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "http/foreign_points.h"
#include "http/options.h"
#include "http/services.h"
#include "http/wire/graphite_line.h"
#include "storage/base/status.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// One thread at a time.
class GraphiteIntake {
 public:
  /// All outlive the object. `stopping`: nothing is waited for any more.
  GraphiteIntake(const Options& options, Services& services, const std::atomic<bool>& stopping)
      : services_(services), stopping_(stopping), batch_(options) {}

  [[nodiscard]] int64_t MonotonicMs() const { return services_.clock.MonotonicNs() / 1'000'000; }
  [[nodiscard]] Timestamp Now() const;

  /// On behalf of Writer::Current(), as Flush; may flush.
  void Add(const GraphitePoint& point);

  /// Counts and tells what could not even be read.
  void Refuse(const Status& why);

  /// To the log, at most once in some seconds.
  void Tell(std::string_view why);

  /// Stores what was added; waits while the store is busy, since that passes. What does not pass (a
  /// name whose stored bytes are damaged) costs its point alone. So does a limit of points a second
  /// (docs/security.md): who waited for one client's would hold up all others.
  void Flush();

 private:
  void Store(std::vector<NamedPoint> left);
  /// Over its rate only one metric may be; the others' points must not go with its own.
  void StoreByMetric(std::vector<NamedPoint> points);

  Services& services_;
  const std::atomic<bool>& stopping_;
  ForeignPoints batch_;
  PointSink::Position position_ = 0;  // of what was stored of it
  size_t batch_bytes_ = 0;
  int64_t told_ms_ = 0;
  uint64_t untold_ = 0;
};

}  // namespace hg::http
