#pragma once
// Creates all objects of the write path, on a store in memory. Tests use these objects with or
// without a socket.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http/request/client_notes.h"
#include "http/request/services.h"
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

/// A point store for tests. A test can make the store reject points or delay commits. The object is
/// thread-safe.
class GatedPoints : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;

  Result<SeriesNumber> Register(ByteView tsuid) override;
  /// Lists the series of a metric. The result includes registered series that have no points, as in
  /// the embedded store.
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override;
  void Commit(LogPosition position, std::function<void(Status)> done) override;
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override;
  [[nodiscard]] bool ReadsAskToWait() const override { return reads_ask; }

  /// Makes the store forget that series were registered, so that ListSeries returns only series
  /// with points.
  void ForgetSeries() {
    std::lock_guard lock(mutex_);
    told_of_.clear();
  }
  /// Makes the next `appends` calls of Append fail with the error `why`.
  void RefuseAppends(int appends, Status why = Status::Busy("the memory for new points is full"));
  /// Makes Register return the error `why` for each series that was not registered before.
  void RefuseNewSeries(Status why);
  /// Makes the next `appends` calls of Append throw bad_alloc.
  void ThrowOnAppends(int appends) { throws_.store(appends); }
  /// Delays the callbacks of all commits from now on, until Release is called with their status.
  void Hold();
  void Release(const Status& status);
  [[nodiscard]] size_t held();

  /// A function that the store calls before each Register. If the function returns an error,
  /// Register returns this error. The member may be empty. Set it only while no thread writes.
  std::function<Status()> before_register;
  /// A function that the store calls before each Append. The member may be empty. Set it only while
  /// no thread writes.
  std::function<void()> before_append;
  /// A function that the store calls, on the thread that commits, before it reports a commit as
  /// done. The member may be empty. Set it only while no thread writes.
  std::function<void()> before_done;

  std::atomic<int> appends{0}, commits{0}, lists{0};
  std::atomic<int> thrown_by_done{
      0};  // callbacks of Commit that threw; a log could not handle this
  std::atomic<bool> reads_ask{false}, scans_wait{false};
  std::atomic<int> scans_on_loop{0}, scans{0};

 private:
  std::atomic<int> refusals_{0}, throws_{0};
  std::mutex mutex_;
  std::set<Bytes> told_of_;  // registered series; guarded by mutex_
  Status refusal_;           // error of the next calls of Append; guarded by mutex_
  Status refusal_of_new_;    // OK unless RefuseNewSeries was called; guarded by mutex_
  bool holding_ = false;
  std::vector<std::function<void(Status)>> held_;
};

/// A sink for histograms and rollups. A test can make the sink reject values. The sink stores one
/// line of text for each value that it has accepted.
class GatedAggregates : public HistogramSink, public RollupSink {
 public:
  Status Put(const NamedHistogram& histogram, WriteContext& context) override;
  Status Put(const NamedRollup& rollup, WriteContext& context) override;
  [[nodiscard]] std::string_view aggregate_key() const override { return "_aggregate"; }
  [[nodiscard]] std::string_view raw_value() const override { return ""; }

  /// How many of the next calls of Put return Busy.
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

  /// Passes a POST request to the table of endpoints and returns the reply. The fast path for
  /// points is not used.
  BufferResponse Post(std::string_view target, std::string_view body);

  /// Returns the cells of the data table in storage order. Each cell has the form "row qualifier
  /// value" in hexadecimal.
  std::vector<std::string> Cells();
  /// Returns the cells of the table tsdb-uid, in the same form as Cells.
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
  ClientNotes notes{options};
  Services services;
};

}  // namespace hg::http
