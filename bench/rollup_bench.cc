// Measures automatic rollups: the time to roll up an hour of some series, from memory and from
// files, and how much longer it takes to write points during a rollup.
//
//   rollup_bench [series=10000] [points=360] [rounds=5] [metrics=10]
//
// `points` is the number of points of each series in an hour. Results are medians of the rounds.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "bench/measuring.h"
#include "storage/engine/embedded.h"
#include "tsd/rollup/rollup_fill.h"

namespace {

using hg::bench::DieUnlessOk;
using hg::bench::ThreadCpuSeconds;

using Clock = std::chrono::steady_clock;

constexpr uint32_t kStart = 1'699'999'200;
constexpr uint32_t kHour = 3600;
constexpr size_t kBatch = 5000;

double Seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

hg::Bytes Metric(uint64_t metric) {
  hg::Bytes id;
  hg::AppendBig(&id, 1 + metric, 3);
  return id;
}

struct Cost {
  double wall_s = 0, cpu_s = 0;
};

class Bench {
 public:
  Bench(uint64_t series, uint64_t points, uint64_t metrics) : points_(points), metrics_(metrics) {
    hg::EmbeddedOptions options;
    options.path = (std::filesystem::temp_directory_path() / "hourglass-rollup-bench").string();
    options.memory_limit_bytes = uint64_t{8} << 30;
    options.log_max_bytes = uint64_t{8} << 30;
    options.tables.push_back({level_.table, {{"t"}}, false});
    folder_ = options.path;
    std::filesystem::remove_all(folder_);
    auto opened = hg::Embedded::Open(options);
    DieUnlessOk(opened.status());
    store_ = std::move(*opened);
    for (uint64_t i = 0; i < series; ++i) {
      hg::Bytes tsuid = Metric(i % metrics);
      for (uint64_t tag = 1; tag <= 2; ++tag) {
        hg::AppendBig(&tsuid, tag, 3);
        hg::AppendBig(&tsuid, tag == 1 ? 1 + i / metrics : 1 + i % 7, 3);
      }
      auto registered = store_->points().Register(tsuid);
      DieUnlessOk(registered.status());
      numbers_.push_back(*registered);
    }
  }
  ~Bench() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Writes all points of an hour, one of each series after the other.
  Cost Append(uint64_t hour) {
    std::mt19937_64 random(hour);
    std::vector<hg::PointEntry> entries;
    Cost cost;
    const auto send = [&] {
      const auto start = Clock::now();
      const double cpu = ThreadCpuSeconds();
      auto position = store_->points().Append(entries);
      while (position.status().code() == hg::StatusCode::kBusy) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        position = store_->points().Append(entries);
      }
      DieUnlessOk(position.status());
      store_->points().Commit(*position, [](hg::Status status) { DieUnlessOk(status); });
      cost.wall_s += Seconds(start);
      cost.cpu_s += ThreadCpuSeconds() - cpu;
      entries.clear();
    };
    for (uint64_t p = 0; p < points_; ++p) {
      const auto at = hg::Timestamp{int64_t(kStart + hour * kHour + p * kHour / points_)};
      for (size_t i = 0; i < numbers_.size(); ++i) {
        const auto value = i % 2 == 0 ? hg::PointValue::Int(int64_t(random() % 100))
                                      : hg::PointValue::Double(double(random() % 10000) / 100);
        entries.push_back(hg::MakePointEntry(numbers_[i], at, value));
        if (entries.size() == kBatch) send();
      }
    }
    if (!entries.empty()) send();
    return cost;
  }

  /// Rolls up an hour. `share` is the part of a core that the rollup may use; 1 = no pauses.
  Cost Roll(uint64_t hour, double share) {
    Cost cost;
    auto start = Clock::now();
    const auto pause = [&]() -> hg::Status {
      const double busy_s = Seconds(start);
      cost.wall_s += busy_s;
      if (share < 1)
        std::this_thread::sleep_for(std::chrono::duration<double>(busy_s * (1 / share - 1)));
      start = Clock::now();
      return over_ ? hg::Status::Unavailable("over") : hg::Status();
    };
    hg::tsd::RollupIds ids{0, 1, 2, 3};
    hg::tsd::RollupFill fill(store_->points(), store_->cells(), ids, {}, pause,
                             hg::RequestContext::Unlimited());
    const double cpu = ThreadCpuSeconds();
    const auto begin = static_cast<uint32_t>(kStart + hour * kHour);
    for (uint64_t metric = 0; metric < metrics_ && !over_; ++metric) {
      hg::tsd::OddHours odd;
      const hg::Status filled = fill.Fill(Metric(metric), {begin, begin + kHour}, {&level_}, &odd);
      if (!over_) DieUnlessOk(filled);
    }
    cost.cpu_s = ThreadCpuSeconds() - cpu;
    return cost;
  }

  void Flush() { DieUnlessOk(store_->cells().Flush()); }
  void EndRolling() { over_ = true; }
  void BeginRolling() { over_ = false; }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] double points_an_hour() const { return double(points_) * double(numbers_.size()); }

 private:
  const hg::codec::RollupLevel level_{
      "1h", "tsdb-1h", "pre", {3600, hg::codec::RollupSpanUnit::kDays, 1, 24}, false, 0};
  const uint64_t points_, metrics_;
  std::string folder_;
  std::unique_ptr<hg::Embedded> store_;
  std::vector<hg::SeriesNumber> numbers_;
  std::atomic<bool> over_{false};
};

void Print(const char* what, const std::vector<Cost>& costs, double per) {
  std::vector<double> wall, cpu;
  for (const Cost& cost : costs) {
    wall.push_back(cost.wall_s);
    cpu.push_back(cost.cpu_s);
  }
  std::printf("%-34s %7.1f ms wall, %7.1f ms of processor, %6.1f ns of it a point\n", what,
              Median(wall) * 1e3, Median(cpu) * 1e3, Median(cpu) / per * 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, uint64_t fallback) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : fallback;
  };
  const uint64_t series = number(1, 10'000);
  const uint64_t rounds = number(3, 5);
  Bench bench(series, number(2, 360), number(4, 10));
  std::vector<Cost> from_memory, from_files, again, alone, beside;
  uint64_t hour = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    bench.Append(hour);
    from_memory.push_back(bench.Roll(hour++, 1));
    bench.Append(hour);
    bench.Flush();
    from_files.push_back(bench.Roll(hour, 1));
    again.push_back(bench.Roll(hour++, 1));
  }
  for (uint64_t round = 0; round < rounds; ++round) {
    alone.push_back(bench.Append(hour++));
    bench.Flush();
    bench.BeginRolling();
    std::thread roller([&bench, hour] {
      while (!bench.over())
        for (uint64_t old = 0; old < hour && !bench.over(); ++old) bench.Roll(old, 0.25);
    });
    beside.push_back(bench.Append(hour++));
    bench.EndRolling();
    roller.join();
    bench.BeginRolling();
    bench.Flush();
  }
  const double per = bench.points_an_hour();
  std::printf("%llu series, an hour of %.0f points\n", (unsigned long long)series, per);
  Print("rolled up from memory", from_memory, per);
  Print("rolled up from files", from_files, per);
  Print("again, nothing having changed", again, per);
  Print("appended, nothing beside", alone, per);
  Print("appended beside rolling (1/4 core)", beside, per);
  return 0;
}
