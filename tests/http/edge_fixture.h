#pragma once
// The write path whole, over a store in memory, with and without a socket in front.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http/services.h"
#include "query/engine.h"
#include "storage/model/aggregate_sink.h"
#include "storage/points/points_over_cells.h"
#include "tests/support/buffer_response.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"
#include "tsd/ingest/ingest.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/rollup_ingest.h"
#include "uid/annotations.h"
#include "uid/metadata.h"

namespace hg::http {

/// Points that can be told to refuse, and to keep writers waiting. Thread-safe.
class GatedPoints : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;

  Result<SeriesNumber> Register(ByteView tsuid) override;
  /// With the series that it was only told of, as the embedded store has it.
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher,
                    const std::function<bool(ByteView tsuid)>& visit) override;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override;
  void Commit(LogPosition position, std::function<void(Status)> done) override;
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override;
  [[nodiscard]] bool HeedsNoWait() const override { return heeds_no_wait; }

  /// The next `appends` calls of Append answer `why`.
  void RefuseAppends(int appends, Status why = Status::Busy("the memory for new points is full"));
  /// The next `appends` calls of Append find no memory, and throw.
  void ThrowOnAppends(int appends) { throws_.store(appends); }
  /// Commits wait until Release.
  void Hold();
  void Release(const Status& status);
  [[nodiscard]] size_t held();

  /// Asked before each Register, which then says the same if that is not ok. May be empty; to be
  /// set while nobody writes.
  std::function<Status()> before_register;
  /// Called before each Append, likewise.
  std::function<void()> before_append;

  std::atomic<int> appends{0}, commits{0}, lists{0};
  std::atomic<bool> heeds_no_wait{false}, scans_wait{false};
  std::atomic<int> scans_without_waiting{0}, scans{0};

 private:
  std::atomic<int> refusals_{0}, throws_{0};
  std::mutex mutex_;
  std::set<Bytes> told_of_;  // guarded by mutex_
  Status refusal_;           // guarded by mutex_
  bool holding_ = false;
  std::vector<std::function<void(Status)>> held_;
};

/// Histograms and rollups that can be told to refuse; keeps what it took, a line each.
class GatedAggregates : public HistogramSink, public RollupSink {
 public:
  Status Put(const NamedHistogram& histogram) override;
  Status Put(const NamedRollup& rollup) override;
  [[nodiscard]] std::string_view aggregate_key() const override { return "_aggregate"; }
  [[nodiscard]] std::string_view raw_value() const override { return ""; }

  /// The next `puts` calls answer Busy.
  int refusals = 0;
  std::vector<std::string> taken;

 private:
  Status Take(std::string what);
};

class EdgeFixture {
 public:
  explicit EdgeFixture(tsd::IngestOptions ingest_options = AllAutomatic(),
                       tsd::MetricLimitOptions metric_options = {});

  static tsd::IngestOptions AllAutomatic();

  /// The exact way, through the table of endpoints.
  BufferResponse Post(std::string_view target, std::string_view body);

  /// Cells of the data table, "row qualifier value" in hexadecimal, in order.
  std::vector<std::string> Cells();
  /// The same of the table of ids.
  std::vector<std::string> Ids();

  Options options;
  std::map<std::string, std::string> settings;
  ManualClock clock{1700010000000};
  ModelStore store;
  GatedPoints points;
  uid::Names names;
  uid::Annotations annotations;
  uid::Metadata metadata;
  query::Engine queries;
  tsd::MetricLimits metric_limits;
  tsd::Ingest ingest;
  tsd::NoRollups no_rollups{ingest};
  Counters counters;
  Services services;
};

}  // namespace hg::http
