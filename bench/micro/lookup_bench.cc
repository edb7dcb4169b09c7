// Measures finding the series of a point by its raw series key. The argument is the number of
// series. The points are not stored.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "storage/points/points_over_cells.h"
#include "tests/support/model_store.h"
#include "tsd/ingest/ingest.h"
#include "uid/names.h"

namespace hg {
namespace {

constexpr size_t kBatch = 1000;
constexpr int64_t kTime = 1'700'000'000;

class KeepsNothing : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    benchmark::DoNotOptimize(batch.data());
    return LogPosition{0};
  }
};

void FindKeyed(benchmark::State& state) {
  const auto series = static_cast<size_t>(state.range(0));
  ModelStore store;
  bool ready = store.CreateTable({"tsdb", {{"t"}}, true}).ok() &&
               store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok();
  KeepsNothing points(&store, {});
  uid::Names names(store, {});
  tsd::IngestOptions options;
  options.auto_create_metrics = true;
  tsd::Ingest ingest(points, names, options);

  std::vector<std::string> hosts, raw_keys;
  for (size_t i = 0; i < series; ++i) {
    hosts.push_back("host_" + std::to_string(i));
    raw_keys.push_back(R"({"hostname":")" + hosts.back() + R"(","region":"eu-west-1"})");
  }
  std::vector<KeyedPoint> keyed;
  for (size_t i = 0; i < series; ++i) {
    const TagText tags[] = {{"hostname", hosts[i]}, {"region", "eu-west-1"}};
    NamedPoint point;
    point.metric = "cpu.usage_user";
    point.tags = tags;
    point.time.raw = kTime;
    point.value = PointValue::Int(1);
    point.raw_key = {Dialect::kJson, point.metric, raw_keys[i]};
    std::vector<Status> verdicts;
    ingest.AppendNamed({&point, 1}, WriteContext::Unlimited(), &verdicts);
    ready = ready && verdicts[0].ok();
    keyed.push_back({point.raw_key, point.time, point.value});
  }
  if (!ready) return state.SkipWithError("the series cannot be made");
  size_t at = 0;
  for (auto _ : state) {
    const auto appended = ingest.AppendKeyed(std::span<const KeyedPoint>(keyed).subspan(at, kBatch),
                                             WriteContext::Unlimited());
    if (!appended.ok() || !appended->known) return state.SkipWithError("a raw key is not known");
    at = (at + kBatch) % series;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(FindKeyed)->Arg(1'000)->Arg(20'000);

}  // namespace
}  // namespace hg
