#include "tests/http/edge_fixture.h"

#include <doctest/doctest.h>

#include <new>

#include "http/routes/router.h"
#include "storage/points/match_series.h"

namespace hg::http {
namespace {

query::Options UtcQueries() {
  query::Options options;
  options.timezone = "UTC";
  // Like a daemon, it refuses requests that need too much memory.
  options.query_memory_bytes_max = 64 << 20;
  return options;
}

std::vector<std::string> Dump(Store& store, const std::string& table) {
  std::vector<std::string> lines;
  ScanSpec spec;
  spec.table = table;
  auto cursor = store.Scan(spec);
  REQUIRE(cursor.ok());
  for (std::vector<Row> rows;;) {
    REQUIRE((*cursor)->Next(&rows).ok());
    if (rows.empty()) return lines;
    for (const Row& row : rows) {
      for (const Cell& cell : row.cells) {
        lines.push_back(ToHex(row.key) + " " + ToHex(cell.qualifier) + " " + ToHex(cell.value));
      }
    }
  }
}

}  // namespace

Result<SeriesNumber> GatedPoints::Register(ByteView tsuid) {
  if (before_register) RETURN_IF_ERROR(before_register());
  {
    std::lock_guard lock(mutex_);
    if (!told_of_.contains(Bytes(tsuid))) RETURN_IF_ERROR(refusal_of_new_);
    told_of_.emplace(tsuid);
  }
  return PointsOverCells::Register(tsuid);
}

Status GatedPoints::ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                               const std::function<bool(ByteView tsuid)>& visit) {
  std::set<Bytes> series;
  {
    std::lock_guard lock(mutex_);
    for (const Bytes& tsuid : told_of_) {
      if (tsuid.starts_with(metric) && points::MatchesTsuid(matcher, layout(), tsuid))
        series.insert(tsuid);
    }
  }
  RETURN_IF_ERROR(PointsOverCells::ListSeries(metric, matcher, watch, [&series](ByteView tsuid) {
    series.emplace(tsuid);
    return true;
  }));
  ++lists;
  for (const Bytes& tsuid : series) {
    if (!visit(tsuid)) break;
  }
  return {};
}

Result<LogPosition> GatedPoints::Append(std::span<const PointEntry> batch) {
  appends.fetch_add(1);
  if (before_append) before_append();
  if (throws_.load() > 0) {
    throws_.fetch_sub(1);
    throw std::bad_alloc();
  }
  if (refusals_.load() > 0) {
    refusals_.fetch_sub(1);
    std::lock_guard lock(mutex_);
    return refusal_;
  }
  const Result<LogPosition> position = PointsOverCells::Append(batch);
  if (!position.ok()) return position;
  return LogPosition{1};
}

void GatedPoints::Commit(LogPosition, std::function<void(Status)> done) {
  commits.fetch_add(1);
  {
    std::lock_guard lock(mutex_);
    if (holding_) return held_.push_back(std::move(done));
  }
  if (before_done) before_done();
  try {
    done({});
  } catch (...) {
    thrown_by_done.fetch_add(1);
    throw;
  }
}

Result<std::unique_ptr<PointScan>> GatedPoints::Scan(const PointScanSpec& spec,
                                                     const ReconcileOptions& options) {
  if (spec.watch != nullptr && spec.watch->on_loop()) {
    ++scans_on_loop;
    if (scans_wait) RETURN_IF_ERROR(spec.watch->MayWait());
  }
  ++scans;
  return PointsOverCells::Scan(spec, options);
}

void GatedPoints::RefuseAppends(int appends, Status why) {
  std::lock_guard lock(mutex_);
  refusal_ = std::move(why);
  refusals_.store(appends);
}

void GatedPoints::RefuseNewSeries(Status why) {
  std::lock_guard lock(mutex_);
  refusal_of_new_ = std::move(why);
}

void GatedPoints::Hold() {
  std::lock_guard lock(mutex_);
  holding_ = true;
}

void GatedPoints::Release(const Status& status) {
  std::vector<std::function<void(Status)>> held;
  {
    std::lock_guard lock(mutex_);
    holding_ = false;
    held.swap(held_);
  }
  for (const auto& done : held) done(status);
}

size_t GatedPoints::held() {
  std::lock_guard lock(mutex_);
  return held_.size();
}

Status GatedAggregates::Take(std::string what) {
  if (refusals > 0) {
    --refusals;
    return Status::Busy("the memory for new points is full");
  }
  taken.push_back(std::move(what));
  return {};
}

Status GatedAggregates::Put(const NamedHistogram& histogram, WriteContext& /*context*/) {
  return Take("histogram " + std::string(histogram.metric) + " " +
              std::to_string(histogram.time.raw));
}

Status GatedAggregates::Put(const NamedRollup& rollup, WriteContext& /*context*/) {
  return Take("rollup " + std::string(rollup.metric) + " " + std::to_string(rollup.time.raw));
}

tsd::IngestOptions EdgeFixture::AllAutomatic() {
  tsd::IngestOptions options;
  options.auto_create_metrics = true;
  return options;
}

EdgeFixture::EdgeFixture(tsd::IngestOptions ingest_options, tsd::MetricLimitOptions metric_options)
    : points(&store, {}),
      names(store, {}),
      annotations(store, {}),
      metadata(store, names, {}),
      queries(points, names, store, clock, UtcQueries()),
      metric_limits(metric_options, points, clock),
      ingest(points, names, std::move(ingest_options),
             metric_options.any() ? &metric_limits : nullptr),
      services{options,  settings, clock,  store,    points, names, annotations,
               metadata, queries,  ingest, counters, notes,  {}} {
  services.rollups = &no_rollups;
  REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
  REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
  REQUIRE(store.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
}

BufferResponse EdgeFixture::Post(std::string_view target, std::string_view body) {
  BufferResponse reply;
  Request request = MakeRequest("POST", target, body);
  Dispatch(request, services, reply);
  return reply;
}

std::vector<std::string> EdgeFixture::Cells() { return Dump(store, "tsdb"); }
std::vector<std::string> EdgeFixture::Ids() { return Dump(store, "tsdb-uid"); }

}  // namespace hg::http
