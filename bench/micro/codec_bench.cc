// Measures encoding and decoding a row-hour with 360 points, one every ten seconds.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "storage/points/row_codec.h"
#include "storage/points/split_row.h"

namespace hg {
namespace {

constexpr uint32_t kPoints = 360;

enum class Kind { kInts, kTwoDecimals, kDoubles };

/// A random walk between 0 and 100.
std::vector<points::PartPoint> RandomRow(Kind kind) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> move;
  std::vector<points::PartPoint> row;
  double value = 50;
  for (uint32_t i = 0; i < kPoints; ++i) {
    value = std::clamp(value + move(random), 0.0, 100.0);
    const PointValue stored = kind == Kind::kInts ? PointValue::Int(std::lround(value))
                              : kind == Kind::kTwoDecimals
                                  ? PointValue::Double(std::round(value * 100) / 100)
                                  : PointValue::Double(value);
    row.push_back({codec::Qualifier::Seconds(i * 10, stored.flags), 0, stored.bits});
  }
  return row;
}

points::RowTraits Traits() {
  points::RowTraits traits;
  traits.form = points::RowForm::kAuto;
  return traits;
}

Bytes Encoded(Kind kind, bool merged) {
  Bytes flushed;
  points::EncodeRow(RandomRow(kind), Traits(), &flushed);
  if (!merged) return flushed;
  Bytes split;
  return points::SplitRow(flushed, &split) ? split : Bytes();
}

void EncodeRow(benchmark::State& state, Kind kind) {
  const auto row = RandomRow(kind);
  Bytes out;
  for (auto _ : state) {
    out.clear();
    points::EncodeRow(row, Traits(), &out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kPoints);
  state.counters["bytes"] = static_cast<double>(out.size());
}
BENCHMARK_CAPTURE(EncodeRow, integers, Kind::kInts);
BENCHMARK_CAPTURE(EncodeRow, two_decimals, Kind::kTwoDecimals);
BENCHMARK_CAPTURE(EncodeRow, doubles, Kind::kDoubles);

void SplitRow(benchmark::State& state, Kind kind) {
  const Bytes flushed = Encoded(kind, false);
  Bytes out;
  for (auto _ : state) {
    out.clear();
    if (!points::SplitRow(flushed, &out)) return state.SkipWithError("no row");
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kPoints);
}
BENCHMARK_CAPTURE(SplitRow, integers, Kind::kInts);
BENCHMARK_CAPTURE(SplitRow, two_decimals, Kind::kTwoDecimals);

void DecodeColumns(benchmark::State& state, Kind kind, bool merged) {
  const Bytes encoded = Encoded(kind, merged);
  points::RowColumns columns;
  for (auto _ : state) {
    columns.Clear();
    if (!points::AppendColumns(encoded, &columns).ok() || columns.size() != kPoints) {
      return state.SkipWithError("no row");
    }
    benchmark::DoNotOptimize(columns.value.data());
  }
  state.SetItemsProcessed(state.iterations() * kPoints);
}
BENCHMARK_CAPTURE(DecodeColumns, flushed_integers, Kind::kInts, false);
BENCHMARK_CAPTURE(DecodeColumns, merged_integers, Kind::kInts, true);
BENCHMARK_CAPTURE(DecodeColumns, merged_two_decimals, Kind::kTwoDecimals, true);
BENCHMARK_CAPTURE(DecodeColumns, merged_doubles, Kind::kDoubles, true);

void ReadStatistics(benchmark::State& state) {
  const Bytes encoded = Encoded(Kind::kInts, true);
  for (auto _ : state) {
    const auto statistics = points::ReadRowStatistics(encoded);
    if (!statistics.ok()) return state.SkipWithError("no row");
    benchmark::DoNotOptimize(statistics);
  }
}
BENCHMARK(ReadStatistics);

}  // namespace
}  // namespace hg
