#pragma once
// The point store of the embedded engine.

#include "storage/engine/engine.h"
#include "storage/points/points.h"
#include "storage/points/watched_points.h"

namespace hg::engine {

/// Implements Points on an Engine. Thread-safe. The engine must outlive the object.
class EmbeddedPoints : public Points, public WatchedPoints {
 public:
  explicit EmbeddedPoints(Engine& engine) : engine_(engine) {}

  [[nodiscard]] const KeyLayout& layout() const override { return engine_.layout(); }
  Result<SeriesNumber> Register(ByteView tsuid) override { return engine_.Register(tsuid); }
  Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) override {
    return engine_.RegisterAll(tsuids, numbers);
  }
  [[nodiscard]] SeriesNumber series_count() const override { return engine_.registry().size(); }
  [[nodiscard]] Bytes TsuidOf(SeriesNumber number) const override {
    return engine_.registry().TsuidOf(number);
  }
  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    return engine_.Append(batch);
  }
  [[nodiscard]] bool AppendMayWait(std::span<const PointEntry> batch) const override {
    return engine_.AppendMayWait(batch);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) override {
    engine_.Commit(position, std::move(done));
  }
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override;
  Status DeleteRows(const PointScanSpec& spec) override;
  Status DropFiles(const EndOfRows& end_of) override { return engine_.DropFiles(end_of); }
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override;
  Status ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher, const RowRange& rows,
                          RequestContext* watch,
                          const std::function<bool(ByteView tsuid)>& visit) override;
  Result<uint64_t> CountSeries(ByteView metric, RequestContext* watch) override;
  Result<std::vector<Bytes>> ListMetrics(RequestContext*) override {
    return engine_.registry().Metrics();
  }
  [[nodiscard]] bool ListsFromIndex() const override { return true; }
  [[nodiscard]] bool ReadsAskToWait() const override { return true; }
  void ListenForUnsettledRows(UnsettledRowListener listener) override {
    unsettled_ = std::move(listener);
  }
  [[nodiscard]] WatchedPoints* watched() override { return this; }
  void Listen(std::shared_ptr<ChangeListener> listener) override {
    engine_.listeners().Add(std::move(listener));
  }
  void RaiseHorizon(uint32_t base) override { engine_.RaiseHorizon(base); }
  [[nodiscard]] uint32_t horizon() const override { return engine_.horizon(); }
  [[nodiscard]] bool RowsExpire() const override { return engine_.RowsExpire(); }

 private:
  Engine& engine_;
  UnsettledRowListener unsettled_;  // set before the first scan
};

}  // namespace hg::engine
