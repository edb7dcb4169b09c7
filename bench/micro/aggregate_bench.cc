// Measures downsampling a series and merging a group: one day of points, one every ten seconds.

#include <benchmark/benchmark.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "query/buckets/downsample.h"
#include "query/buckets/merge.h"

namespace hg {
namespace {

constexpr int64_t kStart = 1'700'006'400;
constexpr int64_t kHours = 24, kHour = 3600, kStep = 10;
constexpr size_t kOfHour = kHour / kStep;

void Downsample(benchmark::State& state, const std::string& text) {
  const auto spec = query::ParseDownsample(text);
  if (!spec.ok()) return state.SkipWithError(spec.status().ToString().c_str());
  const int64_t end = kStart + kHours * kHour;
  const auto window = query::PlanScan(kStart * 1000, end * 1000, spec->interval_ms());
  const query::BucketGrid grid(*spec, window, kStart * 1000, end * 1000);
  std::mt19937_64 random(1);
  std::vector<uint32_t> offsets(kOfHour);
  std::vector<int64_t> values(kOfHour);
  for (size_t i = 0; i < kOfHour; ++i) {
    offsets[i] = static_cast<uint32_t>(i * kStep * 1000);
    values[i] = static_cast<int64_t>(random() % 100);
  }
  for (auto _ : state) {
    query::Downsampler downsampler(&grid);
    for (int64_t hour = 0; hour < kHours; ++hour) {
      downsampler.Add((kStart + hour * kHour) * 1000, offsets, std::span<const int64_t>(values));
    }
    query::PointColumns out;
    if (!downsampler.Finish(&out).ok()) return state.SkipWithError("no buckets");
    benchmark::DoNotOptimize(out.bits.data());
  }
  state.SetItemsProcessed(state.iterations() * kHours * static_cast<int64_t>(kOfHour));
}
BENCHMARK_CAPTURE(Downsample, minutes_max, "1m-max");
BENCHMARK_CAPTURE(Downsample, hours_avg, "1h-avg");
BENCHMARK_CAPTURE(Downsample, hours_p95, "1h-p95");

/// If `aligned`, all series have points at the same instants. Otherwise each has its own instants,
/// and all series are interpolated at the instants of the others.
void Merge(benchmark::State& state, const char* function, bool aligned) {
  const auto many = static_cast<size_t>(state.range(0));
  std::mt19937_64 random(1);
  std::vector<query::PointColumns> series(many);
  for (size_t s = 0; s < many; ++s) {
    series[s].all_double = true;
    for (size_t i = 0; i < kOfHour; ++i) {
      const auto late = static_cast<int64_t>(aligned ? 0 : s);
      series[s].time_ms.push_back((kStart + static_cast<int64_t>(i) * kStep) * 1000 + late);
      series[s].bits.push_back(std::bit_cast<uint64_t>(static_cast<double>(random() % 100)));
    }
  }
  std::vector<const query::PointColumns*> group;
  for (const auto& one : series) group.push_back(&one);
  query::MergeOptions options;
  options.aggregator = query::FindAggregator(function);
  for (auto _ : state) {
    const auto merged = query::MergeSeries(options, group);
    if (!merged.ok()) return state.SkipWithError(merged.status().ToString().c_str());
    benchmark::DoNotOptimize(merged->bits.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(many * kOfHour));
}
BENCHMARK_CAPTURE(Merge, sum_aligned, "sum", true)->Arg(100);
BENCHMARK_CAPTURE(Merge, max_aligned, "max", true)->Arg(100);
BENCHMARK_CAPTURE(Merge, sum_interpolated, "sum", false)->Arg(10);

}  // namespace
}  // namespace hg
