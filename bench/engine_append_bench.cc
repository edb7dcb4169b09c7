// Measures the cost of Append: ns per point on the calling thread, including the log, and bytes of
// memory per series.
//
//   engine_append_bench [series=10000] [batch=5000] [points_per_series=60] [threads=1]
//       [durability=logged] [step_s=60] [memory_mib=8192]

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/measuring.h"
#include "storage/engine/embedded.h"

namespace {

using hg::bench::DieUnlessOk;
using hg::bench::ThreadCpuSeconds;

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

hg::Bytes Tsuid(uint64_t series) {
  // Each host has ten metrics and four tags. One of the tags is the name of the host.
  hg::Bytes tsuid;
  hg::AppendBig(&tsuid, 1 + series % 10, 3);
  for (uint64_t tag = 1; tag <= 4; ++tag) {
    hg::AppendBig(&tsuid, tag, 3);
    hg::AppendBig(&tsuid, tag == 1 ? 1 + series / 10 : 1 + series % (10 * tag), 3);
  }
  return tsuid;
}

}  // namespace

int main(int argc, char** argv) {
  auto number = [&](int i, uint64_t fallback) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : fallback;
  };
  const uint64_t series = number(1, 10000);
  const uint64_t batch = number(2, 5000);
  const uint64_t points = number(3, 60);
  const uint64_t threads = number(4, 1);
  const std::string level = argc > 5 ? argv[5] : "logged";
  const uint64_t step = number(6, 60);
  const uint64_t memory_mib = number(7, 8192);

  hg::EmbeddedOptions options;
  options.path = (std::filesystem::temp_directory_path() / "hourglass-engine-bench").string();
  options.memory_limit_bytes = memory_mib << 20;
  options.log_max_bytes = uint64_t{8} << 30;
  options.durability = level == "none"       ? hg::Durability::kNone
                       : level == "buffered" ? hg::Durability::kBuffered
                       : level == "synced"   ? hg::Durability::kSynced
                                             : hg::Durability::kLogged;
  std::filesystem::remove_all(options.path);
  auto opened = hg::Embedded::Open(options);
  DieUnlessOk(opened.status());
  auto store = std::move(*opened);

  std::vector<hg::SeriesNumber> numbers(series);
  auto start = Clock::now();
  for (uint64_t i = 0; i < series; ++i) {
    auto registered = store->points().Register(Tsuid(i));
    DieUnlessOk(registered.status());
    numbers[i] = *registered;
  }
  const uint64_t registry_bytes = store->Stats().registry_bytes;
  std::printf("register: %.0f ns a series, %.1f B a series\n",
              Seconds(start) / double(series) * 1e9, double(registry_bytes) / double(series));

  // Batches are created before the measurement starts. Each thread has its share of the series.
  std::vector<double> busy(threads, 0);
  std::vector<std::thread> workers;
  std::atomic<uint64_t> refused{0};
  start = Clock::now();
  for (uint64_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::vector<hg::PointEntry> entries;
      auto send = [&] {
        const double from = ThreadCpuSeconds();
        auto position = store->points().Append(entries);
        while (position.status().code() == hg::StatusCode::kBusy) {
          ++refused;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          position = store->points().Append(entries);
        }
        DieUnlessOk(position.status());
        store->points().Commit(*position, [](hg::Status status) { DieUnlessOk(status); });
        busy[t] += ThreadCpuSeconds() - from;
        entries.clear();
      };
      for (uint64_t p = 0; p < points; ++p) {
        for (uint64_t i = t; i < series; i += threads) {
          const auto value = i % 2 == 0 ? hg::PointValue::Int(int64_t(random() % 100))
                                        : hg::PointValue::Double(double(random() % 10000) / 100);
          entries.push_back(
              hg::MakePointEntry(numbers[i], hg::Timestamp{int64_t(1700000400 + p * step)}, value));
          if (entries.size() == batch) send();
        }
      }
      if (!entries.empty()) send();
    });
  }
  for (auto& worker : workers) worker.join();
  const double wall = Seconds(start);
  double sum = 0;
  for (const double b : busy) sum += b;
  const double total = double(series) * double(points);
  const auto stats = store->Stats();
  std::printf("append %s: %.1f ns of processor a point; %.2f M points/s with making the batches\n",
              level.c_str(), sum / total * 1e9, total / wall / 1e6);
  std::printf("memory: %.1f B a series, %.2f B a point\n",
              double(stats.memory_bytes) / double(series), double(stats.memory_bytes) / total);
  std::printf("refused %llu times; %llu flushes, %llu merges, %llu files; %s\n",
              (unsigned long long)refused.load(), (unsigned long long)stats.flushes,
              (unsigned long long)stats.merges, (unsigned long long)stats.file_count,
              stats.background_error.c_str());
  start = Clock::now();
  DieUnlessOk(store->cells().Sync());
  DieUnlessOk(store->Close());
  store.reset();
  start = Clock::now();
  auto reopened = hg::Embedded::Open(options);
  DieUnlessOk(reopened.status());
  std::printf("reopen from the log: %.2f s, %.1f ns a point\n", Seconds(start),
              Seconds(start) / total * 1e9);
  start = Clock::now();
  DieUnlessOk((*reopened)->cells().Flush());
  std::printf("flush: %.1f ns a point, %.2f B a point in files\n", Seconds(start) / total * 1e9,
              double((*reopened)->Stats().file_bytes) / total);
  reopened->reset();
  start = Clock::now();
  auto again = hg::Embedded::Open(options);
  DieUnlessOk(again.status());
  std::printf("reopen from files: %.2f s\n", Seconds(start));
  again->reset();
  std::filesystem::remove_all(options.path);
  return 0;
}
