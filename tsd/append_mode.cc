#include "tsd/append_mode.h"

#include "storage/points/points_over_cells.h"

namespace hg::tsd {
namespace {

points::PointsOverCellsOptions WriterOptions(const Points& points, const std::string& table) {
  points::PointsOverCellsOptions options;
  options.layout = points.layout();
  options.table = table;
  options.enable_appends = true;
  return options;
}

/// Thread-safe. Series numbers are those of writer_. Each series is also registered with the
/// engine. Otherwise the engine would know a series only from its rows of points, and a series that
/// has only rollups has no such rows.
class AppendModePoints : public Points {
 public:
  AppendModePoints(Store& cells, Points& points, const std::string& table)
      : points_(points), writer_(&cells, WriterOptions(points, table)) {}

  [[nodiscard]] const KeyLayout& layout() const override { return points_.layout(); }
  Result<SeriesNumber> Register(ByteView tsuid) override {
    RETURN_IF_ERROR(points_.Register(tsuid).status());
    return writer_.Register(tsuid);
  }
  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    return batch.empty() ? points_.Append(batch) : writer_.Append(batch);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) override {
    // Points that writer_ stores are durable when Append returns. Only Append of an empty batch
    // returns a position of points_.
    points_.Commit(position, std::move(done));
  }

  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override {
    return points_.Scan(spec, options);
  }
  Status DeleteRows(const PointScanSpec& spec) override { return points_.DeleteRows(spec); }
  Status DropFiles(const EndOfRows& end_of) override { return points_.DropFiles(end_of); }
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override {
    return points_.ListSeries(metric, matcher, watch, visit);
  }
  Status ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher, const RowRange& rows,
                          RequestContext* watch,
                          const std::function<bool(ByteView tsuid)>& visit) override {
    return points_.ListSeriesWithin(metric, matcher, rows, watch, visit);
  }
  Result<uint64_t> CountSeries(ByteView metric, RequestContext* watch) override {
    return points_.CountSeries(metric, watch);
  }
  Result<std::vector<Bytes>> ListMetrics(RequestContext* watch) override {
    return points_.ListMetrics(watch);
  }
  void ListenForUnsettledRows(UnsettledRowListener listener) override {
    points_.ListenForUnsettledRows(std::move(listener));
  }

 private:
  Points& points_;
  points::PointsOverCells writer_;
};

}  // namespace

std::unique_ptr<Points> MakeAppendModePoints(Store& cells, Points& points,
                                             const std::string& table) {
  return std::make_unique<AppendModePoints>(cells, points, table);
}

}  // namespace hg::tsd
