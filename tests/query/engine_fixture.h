#pragma once
// A query engine on a store in memory, for tests.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "query/engine.h"
#include "query/plan/filter.h"
#include "query/plan/validate.h"
#include "storage/codec/histogram.h"
#include "storage/codec/row_key.h"
#include "storage/points/points_over_cells.h"
#include "tests/query/columns.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg::query {

class EngineFixture {
 public:
  explicit EngineFixture(Options options = UtcOptions(), KeyLayout layout = {})
      : points(&store, {.layout = layout}),
        names(store, {}),
        engine(points, names, store, clock, std::move(options)) {
    REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
    REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
    REQUIRE(store.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
  }

  static Options UtcOptions() {
    Options options;
    options.timezone = "UTC";
    return options;
  }

  using Tags = std::vector<std::pair<std::string, std::string>>;

  Bytes Id(UidKind kind, const std::string& name) { return *names.FindOrAssign(kind, name); }

  Bytes TsuidOf(const std::string& metric, const Tags& tags) {
    Bytes metric_id = Id(UidKind::kMetric, metric);
    std::vector<Bytes> pairs;
    for (const auto& [k, v] : tags) {
      Bytes key = Id(UidKind::kTagk, k);
      pairs.push_back(key + Id(UidKind::kTagv, v));
    }
    return codec::MakeTsuid(metric_id, std::move(pairs));
  }

  /// Stores one point. The names of the point get ids when a test uses them for the first time.
  void Put(const std::string& metric, const Tags& tags, int64_t seconds, PointValue value) {
    PointEntry entry =
        MakePointEntry(*points.Register(TsuidOf(metric, tags)), Timestamp{seconds}, value);
    REQUIRE(points.Append({&entry, 1}).ok());
  }
  void Put(const std::string& metric, const Tags& tags, int64_t seconds, int64_t value) {
    Put(metric, tags, seconds, PointValue::Int(value));
  }

  /// Stores one histogram. The histogram has a single bucket, [0, 1), whose count is `count`.
  void PutHistogram(const std::string& metric, const Tags& tags, int64_t seconds, uint64_t count) {
    const auto value = codec::EncodeSimpleHistogram({0, {{0, 1, count}}, 0, 0});
    REQUIRE(value.ok());
    const auto base = static_cast<uint32_t>(seconds - seconds % 3600);
    const Bytes key = codec::MakeRowKey(points.layout(), TsuidOf(metric, tags), base);
    const Bytes qualifier = codec::HistogramQualifier(Timestamp{seconds});
    REQUIRE(
        store.Mutate("tsdb", {{key, {{CellChange::Kind::kPut, "t", qualifier, *value, {}}}}}).ok());
  }

  static SubQuery Ask(const std::string& aggregator, const std::string& metric) {
    SubQuery out;
    out.aggregator = aggregator;
    out.metric = metric;
    return out;
  }

  Result<Answer> Run(const SubQuery& query, int64_t start, int64_t end, bool trim = true,
                     bool delete_rows = false) {
    Request request;
    request.start = std::to_string(start);
    request.end = std::to_string(end);
    request.queries = {query};
    request.delete_rows = delete_rows;
    ASSIGN_OR_RETURN(ValidQuery valid, engine.Validate(request, RequestContext::Unlimited()));
    RunOptions options;
    options.trim = trim;
    return engine.Run(valid, options);
  }

  /// Runs a query. Returns the groups of the result as text, separated by " | ", or the error. The
  /// text of a group is, for example, "host=a,dc=x/owner 10:1 20:2": tags, aggregated tag keys, and
  /// points.
  std::string Text(const SubQuery& query, int64_t start, int64_t end, bool trim = true) {
    Result<Answer> answer = Run(query, start, end, trim);
    if (!answer.ok()) return answer.status().ToString();
    std::string out;
    for (const Group& group : answer->groups) {
      if (!out.empty()) out += " | ";
      for (size_t i = 0; i < group.tags.size(); ++i) {
        out += (i > 0 ? "," : "") + group.tags[i].first + "=" + group.tags[i].second;
      }
      for (const Bytes& tag : group.aggregate_tags) out += "/" + tag;
      out += " " + query::Text(group.points);
    }
    return out;
  }

  ManualClock clock{1'500'010'000'000};
  ModelStore store;
  points::PointsOverCells points;
  uid::Names names;
  Engine engine;
};

}  // namespace hg::query
