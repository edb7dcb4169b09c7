#pragma once
// The embedded engine with automatic rollups on a disk in memory, and two query engines that read
// it. One query engine uses rollups, and the other does not.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "query/engine.h"
#include "query/plan/validate.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/query/columns.h"
#include "tests/support/commit_and_wait.h"
#include "tests/support/manual_clock.h"
#include "tsd/rollup/rollup_maker.h"
#include "uid/names.h"

namespace hg::tsd {

constexpr int64_t kMidnight = 1'700'006'400;
constexpr int64_t kHourS = 3600;
constexpr int64_t kDayS = 86'400;

inline codec::RollupTables TestTables() {
  codec::RollupTables tables;
  tables.aggregator_ids = {{"sum", 0}, {"count", 1}, {"min", 2}, {"max", 3}};
  using Unit = codec::RollupSpanUnit;
  tables.levels = {{"1m", "tsdb", "pre", {60, Unit::kHours, 1, 60}, true, 0},
                   {"10m", "tsdb-10m", "pre", {600, Unit::kHours, 6, 36}, false, 0},
                   {"1h", "tsdb-1h", "pre", {3600, Unit::kDays, 1, 24}, false, 0},
                   {"1d", "tsdb-1d", "pre", {86400, Unit::kMonths, 1, 32}, false, 0}};
  return tables;
}

class RollupWorld {
 public:
  explicit RollupWorld(FaultyFileSystem& disk, ManualClock& clock,
                       Durability durability = Durability::kLogged)
      : disk_(disk), clock_(clock), durability_(durability) {}

  Status Open() {
    EmbeddedOptions options;
    options.path = "data";
    options.layout = layout;
    options.durability = durability_;
    options.background = false;
    options.log_file_bytes = 64 << 10;
    for (const char* name : {"tsdb-10m", "tsdb-1h", "tsdb-1d", "tsdb-2h", "tsdb-rollups"})
      options.tables.push_back({name, {{"t"}}, false});
    ASSIGN_OR_RETURN(store, Embedded::Open(options, disk_, clock_));
    names = std::make_unique<uid::Names>(store->cells(), uid::NamesOptions());
    std::vector<const codec::RollupLevel*> levels;
    for (const codec::RollupLevel& level : tables.levels)
      if (!level.is_default) levels.push_back(&level);
    ReconcileOptions reconcile;
    reconcile.fix_duplicates = fix_duplicates;
    ASSIGN_OR_RETURN(state, RollupState::Open(store->cells(), "tsdb-rollups", levels,
                                              {*RollupIds::Of(tables), reconcile}, markers_max));
    store->watched().Listen(state);
    store->watched().RaiseHorizon(state->horizon());
    RollupMakerOptions making;
    making.ids = *RollupIds::Of(tables);
    making.reconcile = reconcile;
    making.busy_share = 1;
    maker = std::make_unique<RollupMaker>(store->points(), store->watched(), store->cells(), *state,
                                          clock_, making);
    query::Options reading;
    reading.timezone = "UTC";
    reading.reconcile = making.reconcile;
    raw = MakeEngine(reading, nullptr);
    reading.rollups = tables;
    rolled = MakeEngine(reading, state.get());
    return {};
  }
  /// Simulates that the process ends now, without closing the store.
  void Die() {
    raw.reset();
    rolled.reset();
    maker.reset();
    names.reset();
    store.reset();
    state.reset();
  }
  Status Reopen() {
    Die();
    return Open();
  }

  Result<Bytes> Tsuid(const std::string& metric, const std::string& host) {
    ASSIGN_OR_RETURN(const Bytes m, names->FindOrAssign(UidKind::kMetric, metric));
    ASSIGN_OR_RETURN(const Bytes k, names->FindOrAssign(UidKind::kTagk, "host"));
    ASSIGN_OR_RETURN(const Bytes v, names->FindOrAssign(UidKind::kTagv, host));
    return codec::MakeTsuid(m, {k + v});
  }
  /// Stores a point. Returns OK after the store has acknowledged the point.
  Status Put(const std::string& metric, const std::string& host, int64_t seconds,
             PointValue value) {
    ASSIGN_OR_RETURN(const Bytes tsuid, Tsuid(metric, host));
    ASSIGN_OR_RETURN(const SeriesNumber series, store->points().Register(tsuid));
    const PointEntry entry = MakePointEntry(series, Timestamp{seconds}, value);
    ASSIGN_OR_RETURN(const LogPosition position, store->points().Append({&entry, 1}));
    return CommitAndWait(store->points(), position);
  }
  Status PutInt(const std::string& host, int64_t seconds, int64_t value) {
    return Put("m", host, seconds, PointValue::Int(value));
  }
  /// Deletes the rows of the series "m" of the host in the hours [begin_s, end_s).
  Status Delete(const std::string& host, int64_t begin_s, int64_t end_s) {
    PointScanSpec spec;
    ASSIGN_OR_RETURN(const Bytes tsuid, Tsuid("m", host));
    spec.metric = tsuid.substr(0, 3);
    spec.matcher.tsuids = {tsuid};
    spec.rows = {static_cast<uint32_t>(begin_s), static_cast<uint64_t>(end_s)};
    return store->points().DeleteRows(spec);
  }

  /// Stores an annotation of the series "m" of the host. The time of the annotation is five seconds
  /// after the start of the hour.
  Status Note(const std::string& host, int64_t hour_s) {
    ASSIGN_OR_RETURN(const Bytes tsuid, Tsuid("m", host));
    const Bytes key =
        codec::MakeRowKey(store->points().layout(), tsuid, static_cast<uint32_t>(hour_s));
    const Bytes text = R"({"startTime":)" + std::to_string(hour_s + 5) + R"(,"description":"x"})";
    return store->cells().Mutate("tsdb", {{key, {PutCell("t", Bytes("\x01\x00\x05", 3), text)}}});
  }

  struct Found {
    std::string text;  // the groups of the result as text, or the error
    /// The rollup level that the query has read, or "raw" (SubQueryInfo::rollup_table).
    std::string table;
  };
  static Found Ask(query::Engine& engine, const query::SubQuery& query, int64_t start,
                   int64_t end) {
    query::Request request;
    request.start = std::to_string(start);
    request.end = std::to_string(end);
    request.queries = {query};
    const auto valid = engine.Validate(request, RequestContext::Unlimited());
    if (!valid.ok()) return {valid.status().ToString(), ""};
    const auto answer = engine.Run(*valid, {});
    if (!answer.ok()) return {answer.status().ToString(), ""};
    Found found;
    for (const query::Group& group : answer->groups) {
      found.text += "|";
      for (const auto& [key, value] : group.tags) found.text += " " + key + "=" + value;
      for (const Bytes& tag : group.aggregate_tags) found.text += " /" + tag;
      found.text += " " + query::Text(group.points);
    }
    found.table = answer->queries[0].rollup_table;
    return found;
  }
  static query::SubQuery Query(const std::string& downsample, bool by_host = false,
                               const std::string& aggregator = "sum") {
    query::SubQuery query;
    query.aggregator = aggregator;
    query.metric = "m";
    query.downsample = downsample;
    if (by_host) query.filters.push_back({"wildcard", "host", "*", true});
    return query;
  }
  /// Runs a query on both query engines and checks that they return the same groups. Returns the
  /// rollup level that the query engine with rollups has read, or "raw".
  std::string Compare(const query::SubQuery& query, int64_t start, int64_t end) {
    const Found with = Ask(*rolled, query, start, end), without = Ask(*raw, query, start, end);
    CAPTURE(*query.downsample);
    CAPTURE(start);
    CAPTURE(end);
    CHECK(with.text == without.text);
    return with.table;
  }

  codec::RollupTables tables = TestTables();
  KeyLayout layout;
  size_t markers_max = RollupState::kMarkersMax;
  bool fix_duplicates = true;
  std::unique_ptr<Embedded> store;
  std::unique_ptr<uid::Names> names;
  std::shared_ptr<RollupState> state;
  std::unique_ptr<RollupMaker> maker;
  std::unique_ptr<query::Engine> raw, rolled;

 private:
  std::unique_ptr<query::Engine> MakeEngine(const query::Options& options,
                                            query::RolledHoursSource* state) {
    return std::make_unique<query::Engine>(store->points(), *names, store->cells(), clock_, options,
                                           nullptr, state);
  }

  FaultyFileSystem& disk_;
  ManualClock& clock_;
  const Durability durability_;
};

/// A RollupWorld whose store is open. The clock shows midnight at the start.
struct Opened {
  Opened() { REQUIRE(world.Open().ok()); }
  FaultyFileSystem disk{1};
  ManualClock clock{kMidnight * 1000};
  RollupWorld world{disk, clock};

  void AdvanceTo(int64_t seconds) { clock.SetMs(seconds * 1000); }
  void Round() {
    const Status round = world.maker->Round();
    CAPTURE(round.ToString());
    REQUIRE(round.ok());
  }
  std::string Compare(const std::string& downsample, int64_t start, int64_t end) {
    return world.Compare(RollupWorld::Query(downsample, true), start, end);
  }
};

/// Returns the same state of rollups as `source`. If a test has set `then`, the next call of Of()
/// calls `then` once, after `source` has returned the state and before Of() returns.
class SourceBefore : public query::RolledHoursSource {
 public:
  explicit SourceBefore(query::RolledHoursSource& source) : source_(source) {}
  query::RolledHours Of(ByteView metric, const RowRange& rows) override {
    query::RolledHours out = source_.Of(metric, rows);
    if (const auto event = std::exchange(then, nullptr)) event();
    return out;
  }
  std::function<void()> then;

 private:
  query::RolledHoursSource& source_;
};

}  // namespace hg::tsd
