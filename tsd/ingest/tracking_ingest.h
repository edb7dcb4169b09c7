#pragma once
// Ingest that also tells the tracker of each stored point. Every point takes the named way, because
// the tracker writes to storage, and a network loop must not wait for that.

#include <atomic>

#include "storage/model/point_sink.h"
#include "uid/names.h"
#include "uid/series_tracker.h"

namespace hg::tsd {

/// Thread-safe.
class TrackingIngest : public PointSink {
 public:
  /// All outlive the object.
  TrackingIngest(PointSink& ingest, uid::Names& names, uid::SeriesTracker& tracker)
      : ingest_(ingest), names_(names), tracker_(tracker) {}

  /// Never knows a spelling.
  Result<Appended> AppendSpelled(std::span<const SpelledPoint> points) override;
  Position AppendNamed(std::span<const NamedPoint> points, std::vector<Status>* results) override;
  void Commit(Position position, std::function<void(Status)> done) override;
  void ForgetSpellings() override;

  /// Points that are stored, but of which the tracker could not write.
  [[nodiscard]] uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  Status Track(const NamedPoint& point);

  PointSink& ingest_;
  uid::Names& names_;
  uid::SeriesTracker& tracker_;
  std::atomic<uint64_t> failures_{0};
};

}  // namespace hg::tsd
