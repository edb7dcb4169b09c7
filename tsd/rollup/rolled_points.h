#pragma once
// The points door of query engines where rollups are made (query::RolledHoursOf).

#include "query/rolled_hours.h"
#include "storage/points/points.h"

namespace hg::tsd {

/// Thread-safe. Points and source outlive it.
class RolledPoints : public Points, public query::RolledHoursSource {
 public:
  RolledPoints(Points& points, query::RolledHoursSource& rolled)
      : points_(points), rolled_(rolled) {}

  query::RolledHours Of(ByteView metric, const RowRange& rows) override {
    return rolled_.Of(metric, rows);
  }

  [[nodiscard]] const KeyLayout& layout() const override { return points_.layout(); }
  Result<SeriesNumber> Register(ByteView tsuid) override { return points_.Register(tsuid); }
  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    return points_.Append(batch);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) override {
    points_.Commit(position, std::move(done));
  }
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override {
    return points_.Scan(spec, options);
  }
  Status DeleteRows(const PointScanSpec& spec) override { return points_.DeleteRows(spec); }
  Status DropFiles(const EndOfRows& end_of) override { return points_.DropFiles(end_of); }
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher,
                    const std::function<bool(ByteView tsuid)>& visit) override {
    return points_.ListSeries(metric, matcher, visit);
  }
  [[nodiscard]] bool ListsFromIndex() const override { return points_.ListsFromIndex(); }
  [[nodiscard]] bool HeedsNoWait() const override { return points_.HeedsNoWait(); }
  void ListenForUnsettledRows(UnsettledRowListener listener) override {
    points_.ListenForUnsettledRows(std::move(listener));
  }

 private:
  Points& points_;
  query::RolledHoursSource& rolled_;
};

}  // namespace hg::tsd
