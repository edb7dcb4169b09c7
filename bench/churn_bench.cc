// Replaces all series every hour, like containers that are started and stopped, and prints for each
// day the memory and the time of a query, on some days also the time of a start. Days pass quickly,
// because this program sets the store's clock.
//
//   churn_bench [--series 10000] [--days 30] [--keep] FOLDER
//
// The store keeps points for one day (a TTL), or all points with --keep. Every six hours it
// flushes, merges, searches for series without rows, and moves series to mapped files. Each line of
// the output describes the end of a day:
//
//   day 1 series 240000 registry 24000000 mapped 8000000 names 8000000 files 100000 cache 20000000
//   unflushed 0 anonymous 90000000 query_us 900
//
// Sizes are in bytes. `mapped` is the size of the files, which take no anonymous memory. With
// --keep, `old_query_us` follows: the time of a query of the first hour of the first day. On some
// days, `start_s` follows: the seconds to open a copy of the folder.

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench/measuring.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded_points.h"
#include "storage/engine/embedded_store.h"
#include "storage/engine/engine.h"
#include "tsd/heap.h"
#include "uid/names.h"

namespace {

using hg::bench::Die;
using hg::bench::DieUnlessOk;
using Clock = std::chrono::steady_clock;

constexpr int64_t kStartS = 1'700'006'400;  // the start of a day in UTC
constexpr int64_t kHourS = 3600, kHoursOfDay = 24, kDayS = kHourS * kHoursOfDay;
constexpr int64_t kStepS = 900;        // between two points of a series
constexpr int64_t kFlushHours = 6;     // between two flushes
constexpr int kDaysOfStart = 5;        // between two days on which a start is measured
constexpr int kQueries = 9;            // repetitions of a query
constexpr uint64_t kMemory = 1 << 30;  // tsd.memory.limit of the daemon

class SetClock final : public hg::Clock {
 public:
  [[nodiscard]] int64_t NowMs() const override { return now_ms_; }
  [[nodiscard]] int64_t MonotonicNs() const override { return now_ms_ * 1'000'000; }
  void Set(int64_t seconds) { now_ms_ = seconds * 1000; }

 private:
  std::atomic<int64_t> now_ms_{kStartS * 1000};
};

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Returns the anonymous memory of the process (memory that no file backs), in bytes.
uint64_t AnonymousBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "RssAnon:") continue;
    uint64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes << 10;
  }
  Die("/proc/self/status has no RssAnon");
}

struct Store {
  Store(const std::string& folder, const hg::Clock& clock,
        std::shared_ptr<const std::atomic<uint64_t>> name_bytes = nullptr) {
    hg::EmbeddedOptions options;
    options.path = folder;
    options.background = false;
    options.durability = hg::Durability::kBuffered;  // names are assigned one by one here
    options.memory_limit_bytes = kMemory;
    options.name_bytes = std::move(name_bytes);
    auto opened = hg::engine::Engine::Open(options, hg::PosixFileSystem(), clock);
    DieUnlessOk(opened.status());
    engine = std::move(*opened);
    points = std::make_unique<hg::engine::EmbeddedPoints>(*engine);
    cells = std::make_unique<hg::engine::EmbeddedStore>(*engine);
  }

  std::unique_ptr<hg::engine::Engine> engine;
  std::unique_ptr<hg::engine::EmbeddedPoints> points;
  std::unique_ptr<hg::engine::EmbeddedStore> cells;
};

class Churn {
 public:
  Churn(std::string folder, uint64_t series, bool keeps)
      : folder_(std::move(folder)),
        series_(series),
        keeps_(keeps),
        store_(folder_, clock_, name_bytes_) {
    if (!keeps_) {
      hg::TableDescriptor table = *store_.cells->DescribeTable("tsdb");
      table.families.front().ttl_s = kDayS;
      DieUnlessOk(store_.cells->AlterTable(table));
    }
    hg::uid::NamesOptions options;
    options.cache.bytes_max = kMemory / 32;  // as in the daemon
    options.cache.charged = name_bytes_;
    names_ = std::make_unique<hg::uid::Names>(*store_.cells, std::move(options));
    metric_ = IdOf(hg::UidKind::kMetric, "container.cpu");
    pod_ = IdOf(hg::UidKind::kTagk, "pod");
  }

  void RunDay(int day, bool measures_start) {
    for (int64_t hour = 0; hour < kHoursOfDay; ++hour) {
      WriteHour(day, hour);
      if ((hour + 1) % kFlushHours != 0) continue;
      DieUnlessOk(store_.engine->Flush());
      // Without a TTL, a merge of all files would rewrite all days.
      DieUnlessOk(keeps_ ? store_.engine->MergePending(hg::engine::Engine::MergePool::kAny)
                         : store_.cells->CompactTable("tsdb", nullptr));
      DieUnlessOk(store_.engine->SweepSeries());
    }
    if (measures_start)
      DieUnlessOk(store_.cells->Compact(nullptr));  // also merges the table of ids
    const hg::EmbeddedStats stats = store_.engine->Stats();
    // Free memory that malloc keeps for later is not memory of the store.
    malloc_trim(0);
    std::printf(
        "day %d series %llu registry %llu mapped %llu names %llu files %llu cache %llu "
        "unflushed %llu anonymous %llu query_us %.0f",
        day, (unsigned long long)stats.series, (unsigned long long)stats.registry_bytes,
        (unsigned long long)stats.registry_mapped_bytes, (unsigned long long)stats.name_bytes,
        (unsigned long long)stats.file_memory_bytes, (unsigned long long)stats.cache_bytes,
        (unsigned long long)stats.memory_bytes, (unsigned long long)AnonymousBytes(),
        QueryUs(now_s_ - kHourS));
    if (keeps_) std::printf(" old_query_us %.0f", QueryUs(kStartS));
    if (measures_start) std::printf(" start_s %.4f", StartSeconds());
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  hg::Bytes IdOf(hg::UidKind kind, const std::string& name) {
    auto id = names_->FindOrAssign(kind, name);
    DieUnlessOk(id.status());
    return std::move(*id);
  }

  void WriteHour(int day, int64_t hour) {
    now_s_ += kHourS;
    clock_.Set(now_s_);
    std::vector<hg::PointEntry> batch;
    for (uint64_t i = 0; i < series_; ++i) {
      const std::string name =
          "pod-" + std::to_string(day) + "-" + std::to_string(hour) + "-" + std::to_string(i);
      const hg::Bytes tsuid =
          hg::codec::MakeTsuid(metric_, {pod_ + IdOf(hg::UidKind::kTagv, name)});
      auto number = store_.points->Register(tsuid);
      DieUnlessOk(number.status());
      for (int64_t at = 0; at < kHourS; at += kStepS) {
        batch.push_back(hg::MakePointEntry(*number, hg::Timestamp{now_s_ - kHourS + at},
                                           hg::PointValue::Int(static_cast<int64_t>(i % 100))));
      }
    }
    DieUnlessOk(store_.points->Append(batch).status());
  }

  // Returns the median time of a query for the hour that begins at `begin_s`, in microseconds. The
  // series of this hour have points in no other hour.
  double QueryUs(int64_t begin_s) {
    std::vector<double> all;
    for (int i = 0; i < kQueries; ++i) {
      const auto begin = Clock::now();
      hg::PointScanSpec spec;
      spec.metric = metric_;
      spec.rows = {static_cast<uint32_t>(begin_s), static_cast<uint32_t>(begin_s + kHourS)};
      auto scan = store_.points->Scan(spec, {});
      DieUnlessOk(scan.status());
      uint64_t rows = 0;
      for (hg::RowHour row;; ++rows) {
        auto more = (*scan)->Next(&row);
        DieUnlessOk(more.status());
        if (!*more) break;
      }
      if (rows != series_) Die("a query returned " + std::to_string(rows) + " series");
      all.push_back(SecondsSince(begin) * 1e6);
    }
    std::nth_element(all.begin(), all.begin() + kQueries / 2, all.end());
    return all[kQueries / 2];
  }

  double StartSeconds() {
    const std::string copy = folder_ + ".copy";
    std::filesystem::remove_all(copy);
    std::filesystem::copy(folder_, copy, std::filesystem::copy_options::recursive);
    const auto begin = Clock::now();
    { const Store started(copy, clock_); }
    const double seconds = SecondsSince(begin);
    std::filesystem::remove_all(copy);
    return seconds;
  }

  const std::string folder_;
  const uint64_t series_;
  const bool keeps_;
  SetClock clock_;
  int64_t now_s_ = kStartS;
  const std::shared_ptr<std::atomic<uint64_t>> name_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  Store store_;
  std::unique_ptr<hg::uid::Names> names_;
  hg::Bytes metric_, pod_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  uint64_t series = 10'000;
  int days = 30;
  bool keeps = false;
  CLI::App app("Replaces all series every hour and prints how memory develops.");
  app.add_option("FOLDER", folder, "new data directory")->required()->check(CLI::NonexistentPath);
  app.add_option("--series", series, "active series")->check(CLI::Range(1, 1'000'000));
  app.add_option("--days", days, "days of compressed time")->check(CLI::Range(1, 60));
  app.add_flag("--keep", keeps, "keep all points instead of one day");
  CLI11_PARSE(app, argc, argv);
  const hg::tsd::Heap heap(kMemory);
  Churn churn(folder, series, keeps);
  for (int day = 1; day <= days; ++day) {
    churn.RunDay(day, day == 1 || day % kDaysOfStart == 0 || day == days);
  }
  return 0;
}
