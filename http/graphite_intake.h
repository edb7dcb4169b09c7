#pragma once
// What Graphite's ports do with points: they are stored a batch at a time, known paths at one
// look-up a point, others by their names. What is refused is counted and told to the log, since
// nobody can be answered.

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
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
      : services_(services), stopping_(stopping), named_(options) {}

  [[nodiscard]] int64_t MonotonicMs() const { return services_.clock.MonotonicNs() / 1'000'000; }
  [[nodiscard]] Timestamp Now() const;

  /// On behalf of Writer::Current(), as Flush; may flush. The path is the caller's until Flush, and
  /// is judged there.
  void Add(const GraphitePoint& point);
  /// The same of a path that does not live so long.
  void AddCopy(const GraphitePoint& point);

  /// Counts and tells what could not even be read.
  void Refuse(const Status& why);

  /// To the log, at most once in some seconds.
  void Tell(std::string_view why);

  /// Stores what was added; waits while the store is busy, since that passes. What does not pass (a
  /// name whose stored bytes are damaged) costs its point alone. So does a limit of points a second
  /// (docs/security.md): who waited for one client's would hold up all others.
  void Flush();

  /// Forgets what was added and not stored: what it borrows is gone where something was thrown.
  void Drop();

 private:
  /// What the store said of the batch as a whole, if its series are all known.
  std::optional<Status> StoreKnown();
  void NamePoints();
  /// `verdict`: of all, where the store was asked already.
  void Store(std::vector<NamedPoint> left, std::optional<Status> verdict = {});
  /// Over its rate only one metric may be; the others' points must not go with its own.
  void StoreByMetric(std::vector<NamedPoint> points);

  Services& services_;
  const std::atomic<bool>& stopping_;
  std::vector<SpelledPoint> batch_;
  std::deque<std::string> paths_;  // of the batch, copies
  size_t batch_bytes_ = 0;
  ForeignPoints named_;               // of the batch, where its series are not all known
  PointSink::Position position_ = 0;  // of what was stored of the batch
  int64_t told_ms_ = 0;
  uint64_t untold_ = 0;
};

}  // namespace hg::http
