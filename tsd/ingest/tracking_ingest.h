#pragma once
// A PointSink that also reports each stored point to the series tracker. This sink accepts only
// points with names (NamedPoint). The reason is that the tracker writes to the store, and a network
// loop must not wait for the store.

#include <atomic>

#include "storage/model/point_sink.h"
#include "storage/points/points.h"
#include "uid/names.h"
#include "uid/series_tracker.h"

namespace hg::tsd {

/// Stores points and tracks their series. The object is thread-safe.
class TrackingIngest : public PointSink {
 public:
  /// All references must outlive the object. The store of `tracker` may be a handle whose writes
  /// are committed later (Store::CommittedLater).
  TrackingIngest(PointSink& ingest, Points& points, uid::Names& names, uid::SeriesTracker& tracker)
      : ingest_(ingest), points_(points), names_(names), tracker_(tracker) {}

  /// Stores nothing, and always returns a result with `known` = false, so that the caller uses
  /// AppendNamed.
  Result<Appended> AppendKeyed(std::span<const KeyedPoint> points, WriteContext& context) override;
  /// Stores points. A commit of the returned position also commits the writes of the tracker.
  Position AppendNamed(std::span<const NamedPoint> points, WriteContext& context,
                       std::vector<Status>* results) override;
  Status AdmitSeries(ByteView tsuid, WriteContext& context) override {
    return ingest_.AdmitSeries(tsuid, context);
  }
  void Commit(Position position, std::function<void(Status)> done) override;
  void ForgetRawKeys() override;
  [[nodiscard]] size_t tags_max() const override { return ingest_.tags_max(); }

  /// Returns the number of stored points that the tracker failed to record.
  [[nodiscard]] uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  void TrackStored(std::span<const NamedPoint> points, std::span<const Status> verdicts,
                   RequestContext& context);
  Status Track(const NamedPoint& point, RequestContext& context);

  PointSink& ingest_;
  Points& points_;  // the point store to which `ingest_` writes
  uid::Names& names_;
  uid::SeriesTracker& tracker_;
  std::atomic<uint64_t> failures_{0};
};

}  // namespace hg::tsd
