#pragma once
// Simulates several processes, one after another, that write to one store. The store numbers its
// series. A process adds raw series keys to its table when it writes points (it learns them). The
// table is lost when the process ends, and the next process reads the keys from the store at its
// start (it recalls them). Tests check these steps.

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "storage/base/thread_annotations.h"
#include "storage/points/points.h"
#include "storage/points/points_over_cells.h"
#include "tests/support/model_store.h"
#include "tsd/ingest/ingest.h"
#include "tsd/ingest/tag_formats.h"
#include "uid/names.h"

namespace hg::tsd {

inline const std::atomic<bool> kGoOn{false};

/// A point store that numbers its series and can return the TSUID of a series number.
class NumberedPoints : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;

  Result<SeriesNumber> Register(ByteView tsuid) override {
    Result<SeriesNumber> number = PointsOverCells::Register(tsuid);
    REQUIRE(number.ok());
    const MutexLock lock(mutex_);
    REQUIRE(*number <= tsuids_.size());
    if (*number == tsuids_.size()) tsuids_.emplace_back(tsuid);
    return number;
  }
  [[nodiscard]] SeriesNumber series_count() const override {
    if (asked) asked();
    const MutexLock lock(mutex_);
    return static_cast<SeriesNumber>(tsuids_.size());
  }
  [[nodiscard]] Bytes TsuidOf(SeriesNumber number) const override {
    const MutexLock lock(mutex_);
    return forgotten.contains(number) ? Bytes() : tsuids_[number];
  }

  std::function<void()> asked;
  /// The numbers of the series that the store has forgotten. Set this member only while no thread
  /// uses the store.
  std::set<SeriesNumber> forgotten;

 private:
  /// Guards tsuids_, because one thread may recall series while another thread registers series.
  mutable Mutex mutex_;
  /// The TSUID of each series number. The elements never move in memory.
  std::deque<Bytes> tsuids_ GUARDED_BY(mutex_);
};

/// A cell store that counts its scans.
struct ScannedStore : ModelStore {
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override {
    ++scans;
    return ModelStore::Scan(spec);
  }
  size_t scans = 0;
};

/// A store, and the write path of the process that uses it now. Restart replaces the write path.
struct Process {
  Process() {
    REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
    REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
    Start();
  }

  /// Simulates a restart. The new process knows only the tag formats of the previous process.
  void Restart() {
    const Bytes formats = ingest->formats().Encode();
    Start();
    REQUIRE(ingest->formats().Decode(formats));
  }
  void Start() {
    ingest.reset();
    names = std::make_unique<uid::Names>(store, uid::NamesOptions{});
    IngestOptions options;
    options.auto_create_metrics = true;
    options.max_tags = max_tags;
    ingest = std::make_unique<Ingest>(points, *names, options);
  }
  Result<bool> Recall() { return ingest->RecallRawKeys(kGoOn); }

  static KeyedPoint Point(const RawKey& raw_key) {
    KeyedPoint point;
    point.series = raw_key;
    point.time.raw = 1700000000;
    point.value = PointValue::Int(1);
    return point;
  }
  void Learn(const RawKey& raw_key) {
    const KeyedPoint point = Point(raw_key);
    REQUIRE(ingest->AppendLearning({&point, 1}, WriteContext::Unlimited()).stored == 1);
  }
  bool Knows(const RawKey& raw_key) {
    const KeyedPoint point = Point(raw_key);
    const auto appended = ingest->AppendKeyed({&point, 1}, WriteContext::Unlimited());
    REQUIRE(appended.ok());
    return appended->known;
  }

  int max_tags = 8;
  ScannedStore store;
  NumberedPoints points{&store, {}};
  std::unique_ptr<uid::Names> names;
  std::unique_ptr<Ingest> ingest;
};

}  // namespace hg::tsd
