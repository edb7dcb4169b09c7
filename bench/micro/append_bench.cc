// Measures storing points of known series in memory and in the log (durability "logged"). The
// argument is the number of points per batch.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage/engine/embedded.h"

namespace hg {
namespace {

constexpr uint64_t kSeries = 10'000;
constexpr int64_t kFirstTime = 1'700'006'400;

void Append(benchmark::State& state) {
  const auto batch = static_cast<size_t>(state.range(0));
  std::string folder =
      (std::filesystem::temp_directory_path() / "hourglass-append-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no folder can be made");
  {
    EmbeddedOptions options;
    options.path = folder;
    options.memory_limit_bytes = uint64_t{8} << 30;
    options.log_max_bytes = uint64_t{8} << 30;
    auto store = Embedded::Open(options);
    if (!store.ok()) return state.SkipWithError(store.status().ToString().c_str());
    std::vector<SeriesNumber> numbers;
    for (uint64_t i = 0; i < kSeries; ++i) {
      Bytes tsuid;
      for (const uint64_t id : {uint64_t{1}, uint64_t{1}, i + 1}) AppendBig(&tsuid, id, 3);
      const auto registered = (*store)->points().Register(tsuid);
      if (!registered.ok()) return state.SkipWithError(registered.status().ToString().c_str());
      numbers.push_back(*registered);
    }
    std::vector<PointEntry> entries(batch);
    uint64_t point = 0;
    for (auto _ : state) {
      state.PauseTiming();
      for (PointEntry& entry : entries) {
        const Timestamp time{kFirstTime + static_cast<int64_t>(point / kSeries)};
        entry = MakePointEntry(numbers[point % kSeries], time,
                               PointValue::Int(static_cast<int64_t>(point % 100)));
        ++point;
      }
      state.ResumeTiming();
      const auto position = (*store)->points().Append(entries);
      if (!position.ok()) {
        state.SkipWithError(position.status().ToString().c_str());
        break;
      }
      (*store)->points().Commit(*position, [](const Status&) {});
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(batch));
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(Append)->Arg(50)->Arg(5'000);

}  // namespace
}  // namespace hg
