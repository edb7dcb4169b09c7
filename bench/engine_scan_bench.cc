// Measures the cost of a scan in ns of CPU time per point. The same points are in memory, then in
// files, then in both.
//
//   engine_scan_bench [series=1000] [hours=24] [step_s=10] [rounds=5]
//
// Points arrive as agents send them: all series at each instant. Even series have integers, odd
// series numbers with two decimals.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bench/measuring.h"
#include "storage/engine/embedded.h"

namespace {

using hg::bench::DieUnlessOk;
using hg::bench::ThreadCpuSeconds;

constexpr uint64_t kStart = 1'700'006'400;

hg::Bytes Tsuid(uint64_t series) {
  hg::Bytes tsuid;
  hg::AppendBig(&tsuid, 1, 3);
  hg::AppendBig(&tsuid, 1, 3);
  hg::AppendBig(&tsuid, 1 + series, 3);
  return tsuid;
}

class Bench {
 public:
  Bench(hg::Embedded* store, uint64_t series, uint64_t step)
      : store_(store), step_(step), numbers_(series) {
    for (uint64_t i = 0; i < series; ++i) {
      auto registered = store->points().Register(Tsuid(i));
      DieUnlessOk(registered.status());
      numbers_[i] = *registered;
    }
  }

  void Write(uint64_t from_s, uint64_t until_s) {
    std::vector<hg::PointEntry> entries;
    hg::LogPosition position = 0;
    for (uint64_t t = from_s; t < until_s; t += step_) {
      entries.clear();
      for (uint64_t i = 0; i < numbers_.size(); ++i) {
        const auto value = i % 2 == 0 ? hg::PointValue::Int(int64_t(random_() % 100))
                                      : hg::PointValue::Double(double(random_() % 10000) / 100);
        entries.push_back(
            hg::MakePointEntry(numbers_[i], hg::Timestamp{int64_t(kStart + t)}, value));
      }
      auto appended = store_->points().Append(entries);
      DieUnlessOk(appended.status());
      position = *appended;
    }
    store_->points().Commit(position, [](hg::Status status) { DieUnlessOk(status); });
  }

  // Scans all points `rounds` times and prints the median cost of a scan.
  void Scan(const char* where, uint64_t hours, uint64_t rounds) {
    std::vector<double> costs;
    uint64_t points = 0;
    uint64_t sum = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
      hg::PointScanSpec spec;
      spec.metric = Tsuid(0).substr(0, 3);
      spec.rows = {uint32_t(kStart), uint32_t(kStart + hours * 3600)};
      spec.objects = true;
      points = 0;
      const double from = ThreadCpuSeconds();
      auto scan = store_->points().Scan(spec, {});
      DieUnlessOk(scan.status());
      hg::RowHour row;
      for (;;) {
        auto more = (*scan)->Next(&row);
        DieUnlessOk(more.status());
        if (!*more) break;
        points += row.value.size();
        for (const uint64_t value : row.value) sum += value;
      }
      costs.push_back((ThreadCpuSeconds() - from) / double(points) * 1e9);
    }
    std::sort(costs.begin(), costs.end());
    std::printf("%-28s %6.1f ns a point (%llu points, sum %llx)\n", where, costs[costs.size() / 2],
                (unsigned long long)points, (unsigned long long)sum);
  }

 private:
  hg::Embedded* store_;
  uint64_t step_;
  std::vector<hg::SeriesNumber> numbers_;
  std::mt19937_64 random_{7};
};

}  // namespace

int main(int argc, char** argv) {
  auto number = [&](int i, uint64_t fallback) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : fallback;
  };
  const uint64_t series = number(1, 1000);
  const uint64_t hours = number(2, 24);
  const uint64_t step = number(3, 10);
  const uint64_t rounds = number(4, 5);

  hg::EmbeddedOptions options;
  options.path = (std::filesystem::temp_directory_path() / "hourglass-scan-bench").string();
  options.memory_limit_bytes = uint64_t{8} << 30;
  options.log_max_bytes = uint64_t{8} << 30;
  std::filesystem::remove_all(options.path);
  auto opened = hg::Embedded::Open(options);
  DieUnlessOk(opened.status());
  auto store = std::move(*opened);
  {
    Bench bench(store.get(), series, step);
    // The last flush is in the middle of an hour, so the rows of this hour are in memory and in a
    // file.
    const uint64_t half = hours / 2 * 3600 + 1800;
    bench.Write(0, half);
    bench.Scan("the first half, in memory", hours / 2, rounds);
    DieUnlessOk(store->cells().Flush());
    bench.Scan("the first half, in files", hours / 2, rounds);
    DieUnlessOk(store->cells().Compact());
    bench.Scan("the first half, merged", hours / 2, rounds);
    bench.Write(half, hours * 3600);
    bench.Scan("all, half in files", hours, rounds);
  }
  store.reset();
  std::filesystem::remove_all(options.path);
  return 0;
}
