#pragma once
// A spool for tests. Its disk fails as a test requests. Instead of HBase, the spool writes to a map
// that has one cell per row.

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/hbase/spool.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg::hbase {

/// Replaces HBase in tests. Each row has only one cell.
class Cluster {
 public:
  Status Write(const SpoolRecord& record) { return WriteRows(record)[0]; }
  std::vector<Status> WriteRows(const SpoolRecord& record) {
    const std::lock_guard lock(mutex_);
    std::vector<Status> statuses(record.rows.size(),
                                 away_ ? Status::Unavailable("away") : Status());
    if (away_) return statuses;
    bool stopped = false;
    for (size_t i = 0; i < statuses.size(); ++i) {
      const RowMutation& row = record.rows[i];
      stopped = stopped || row.key == stops_at_;
      if (stopped) statuses[i] = stopped_;
      const auto answer = answers_.find(row.key);
      if (answer != answers_.end()) statuses[i] = answer->second;
      if (!statuses[i].ok()) continue;
      cells_[row.key] = row.changes[0].value;
      history_.push_back(row.changes[0].value);
    }
    return statuses;
  }
  /// Makes all later writes to the row `key` fail with `status`.
  void Answer(const Bytes& key, const Status& status) {
    const std::lock_guard lock(mutex_);
    answers_[key] = status;
  }
  /// Makes writes to the row `key`, and to the rows after it in the same call, fail with `status`.
  /// If `key` is "", no write fails.
  void AnswerFrom(const Bytes& key, const Status& status) {
    const std::lock_guard lock(mutex_);
    stops_at_ = key;
    stopped_ = status;
  }
  void SetAway(bool away) {
    const std::lock_guard lock(mutex_);
    away_ = away;
  }
  bool away() {
    const std::lock_guard lock(mutex_);
    return away_;
  }
  std::map<Bytes, Bytes> cells() {
    const std::lock_guard lock(mutex_);
    return cells_;
  }
  std::vector<Bytes> history() {
    const std::lock_guard lock(mutex_);
    return history_;
  }

 private:
  std::mutex mutex_;
  bool away_ = false;
  std::map<Bytes, Bytes> cells_;
  std::vector<Bytes> history_;
  std::map<Bytes, Status> answers_;
  Bytes stops_at_;
  Status stopped_;
};

inline SpoolRecord Record(const Bytes& key, const Bytes& value,
                          SpoolRecord::Kind kind = SpoolRecord::Kind::kPuts) {
  return {kind, 0, "tsdb", {{key, {PutCell("t", "q", value)}}}};
}

inline SpoolOptions Options() {
  SpoolOptions options;
  options.folder = "/spool";
  options.tables = {"tsdb"};
  options.retry_ms = 1;
  options.file_bytes = 4096;
  options.sync_on_commit = true;
  return options;
}

/// A disk and a cluster that a spool uses, and functions that open and kill the spool.
struct Bench {
  explicit Bench(uint64_t seed = 1) : disk(seed) {}

  std::unique_ptr<Spool> Open(const SpoolOptions& options = Options()) {
    auto opened = Spool::Open(disk, options, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    (*opened)->Start([this](const SpoolRecord& record) { return cluster.WriteRows(record); });
    return std::move(*opened);
  }
  /// Simulates that the process is killed. Nothing that the spool writes after this call reaches
  /// the disk.
  void Kill(std::unique_ptr<Spool> spool) {
    disk.FailAllCalls();
    spool.reset();
    disk.FailCall(0);
  }
  static void WaitEmpty(const Spool& spool) {
    while (spool.holding()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  FaultyFileSystem disk;
  ManualClock clock{1'700'000'000'000};
  Cluster cluster;
};

inline std::vector<Bytes> Numbers(int count) {
  std::vector<Bytes> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

}  // namespace hg::hbase
