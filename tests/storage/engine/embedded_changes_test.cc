// Listeners are informed when old rows change (storage/points/watched_points.h).

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "storage/codec/row_key.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/open_embedded.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1'700'002'800;
constexpr uint32_t kHorizon = kBase + 2 * kRowSpan;

/// Records its calls: "before 1+0" means metric 1 and the hour of kBase.
class Recorder : public ChangeListener {
 public:
  explicit Recorder(std::vector<std::string>* heard) : heard_(*heard) {}
  Status BeforeChange(const ChangedRows& rows) override {
    Say("before " + Name(rows));
    if (before) before();
    return refuses ? Status::Unavailable("the recorder refuses") : Status();
  }
  void AfterChange(const ChangedRows& rows) override {
    Say("after " + Name(rows));
    if (look) look();
  }
  void AfterAlteration() override { Say("altered"); }

  bool refuses = false;
  std::function<void()> before, look;

 private:
  void Say(std::string what) {
    std::lock_guard lock(mutex_);
    heard_.push_back(std::move(what));
  }
  static std::string Name(const ChangedRows& rows) {
    const int64_t hours = (int64_t{rows.base} - kBase) / kRowSpan;
    return std::to_string(ReadBig(rows.metric.data(), 3)) + (hours < 0 ? "" : "+") +
           std::to_string(hours);
  }
  std::mutex mutex_;
  std::vector<std::string>& heard_;  // guarded by mutex_
};

using Heard = std::vector<std::string>;

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{(int64_t{kHorizon} + 5000) * 1000};
  std::unique_ptr<Embedded> store;
  Heard heard;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>(&heard);

  Rig() {
    store = OpenEmbedded(disk, clock, {});
    store->watched().Listen(recorder);
    store->watched().RaiseHorizon(kHorizon);
  }
  PointEntry Entry(uint64_t metric, int64_t time_s, uint64_t host = 1) {
    return MakePointEntry(*store->points().Register(Tsuid(host, metric)), Timestamp{time_s},
                          PointValue::Int(1));
  }
  Status Append(const std::vector<PointEntry>& batch) {
    return store->points().Append(batch).status();
  }
  Bytes Key(uint64_t metric, uint32_t base) {
    return codec::MakeRowKey(store->points().layout(), Tsuid(1, metric), base);
  }
  Heard Take() { return std::exchange(heard, {}); }
};

const Heard kFirstHour = {"before 1+0", "after 1+0"};

}  // namespace

TEST_CASE_FIXTURE(Rig,
                  "points of old rows are reported, once for each metric and hour of a batch") {
  CHECK(Append({Entry(1, kHorizon), Entry(1, kHorizon + 7000)}).ok());
  CHECK(Take().empty());
  CHECK(Append({Entry(1, kBase + 10)}).ok());
  CHECK(Take() == kFirstHour);
  std::vector<PointEntry> batch;
  for (int i = 0; i < 5000; ++i) {
    batch.push_back(Entry(1 + i % 2, kBase + i, 1 + i % 7));  // two hours
    batch.push_back(Entry(3, kHorizon + i));
  }
  CHECK(Append(batch).ok());
  Heard twice = Take();
  REQUIRE(twice.size() == 8);
  for (size_t i = 0; i < twice.size(); ++i) CHECK(twice[i].starts_with(i < 4 ? "before" : "after"));
  std::sort(twice.begin(), twice.end());
  CHECK(twice == Heard{"after 1+0", "after 1+1", "after 2+0", "after 2+1", "before 1+0",
                       "before 1+1", "before 2+0", "before 2+1"});
}

TEST_CASE_FIXTURE(Rig, "readers see a change when it is reported") {
  size_t seen = 0;
  recorder->look = [&] { seen = CountPoints(*store); };
  CHECK(Append({Entry(1, kBase + 10)}).ok());
  CHECK(seen == 1);
  const CellChange clear{CellChange::Kind::kDeleteFamily, "t", {}, {}, {}};
  CHECK(store->cells().Mutate("tsdb", {{Key(1, kBase), {clear}}}).ok());
  CHECK(seen == 0);
}

TEST_CASE_FIXTURE(Rig, "a listener that refuses a change fails the write, and nothing is written") {
  Heard others;
  store->watched().Listen(std::make_shared<Recorder>(&others));
  recorder->refuses = true;
  CHECK(Append({Entry(1, kBase + 10)}).code() == StatusCode::kUnavailable);
  CHECK(Take() == Heard{"before 1+0"});
  CHECK(others.empty());
  CHECK(Append({Entry(2, kHorizon)}).ok());
  recorder->refuses = false;
  CHECK(CountPoints(*store) == 0);
  CHECK(Append({Entry(1, kBase + 10)}).ok());
  CHECK(others == kFirstHour);
  CHECK(Take() == kFirstHour);
}

TEST_CASE_FIXTURE(Rig, "changes of old rows by cells are reported") {
  Store& cells = store->cells();
  const CellChange point = PutCell("t", Bytes("\0\0", 2), Bytes("\5", 1));
  CHECK(cells.Mutate("tsdb", {{Key(1, kHorizon), {point}}}).ok());
  CHECK(Take().empty());
  CHECK(cells.Mutate("tsdb", {{Key(1, kBase), {point}}}).ok());
  CHECK(Take() == kFirstHour);
  CHECK(cells.Mutate("tsdb", {{Key(1, kBase), {PutCell("t", Bytes("\1\0\0", 3), "{}")}}}).ok());
  CHECK(Take() == kFirstHour);
  CHECK(cells.Append("tsdb", Key(1, kBase), "t", Bytes("\5\0\0", 3), Bytes("\0\x10\5", 3)).ok());
  CHECK(Take() == kFirstHour);
  CHECK(cells.CompareAndMutate("t", "q", std::nullopt, "tsdb", {Key(1, kBase), {point}}).ok());
  CHECK(Take() == kFirstHour);
  CHECK(cells.DeleteRow("tsdb", Key(1, kBase)).ok());
  CHECK(Take() == kFirstHour);
  CHECK(cells.Mutate("tsdb-uid", {{"name", {PutCell("id", "metrics", "x")}}}).ok());
  CHECK(Take().empty());
}

TEST_CASE_FIXTURE(Rig, "a row with an irregular key is reported as one of its metric and hour") {
  const CellChange cell = PutCell("t", "q", "v");
  const auto put = [&](const Bytes& key) {
    CHECK(store->cells().Mutate("tsdb", {{key, {cell}}}).ok());
    return Take();
  };
  CHECK(put(Key(1, kBase) + "x") == kFirstHour);
  CHECK(put(Key(1, kBase).substr(0, 7)) == kFirstHour);
  CHECK(put(Bytes("\0\0\1", 3)).at(0).starts_with("before 1-"));
  CHECK(put(Bytes("\0\0", 2)).at(0).starts_with("before 0-"));
}

// Times after 2^32 s wrap around.
TEST_CASE_FIXTURE(Rig, "a row that does not begin at a full hour is reported as its two hours") {
  const int64_t wrapped_s = (INT64_C(1) << 32) + kBase + kRowSpan;
  const PointEntry entry = Entry(1, wrapped_s * 1000);
  REQUIRE(entry.base > kBase);
  REQUIRE(entry.base < kBase + kRowSpan);
  const Heard both = {"before 1+0", "before 1+1", "after 1+0", "after 1+1"};
  CHECK(Append({entry}).ok());
  CHECK(Take() == both);
  const CellChange clear{CellChange::Kind::kDeleteFamily, "t", {}, {}, {}};
  CHECK(store->cells().Mutate("tsdb", {{Key(1, entry.base), {clear}}}).ok());
  CHECK(Take() == both);
}

TEST_CASE_FIXTURE(Rig, "completely deleted rows are reported") {
  CHECK(Append({Entry(1, kBase), Entry(1, kBase, 2), Entry(1, kHorizon), Entry(2, kBase)}).ok());
  Take();
  PointScanSpec spec;
  spec.metric = Tsuid().substr(0, 3);
  spec.rows = {0, UINT32_MAX};
  CHECK(store->points().DeleteRows(spec).ok());
  CHECK(Take() == Heard{"before 1+0", "after 1+0", "before 1+0", "after 1+0"});
}

TEST_CASE_FIXTURE(Rig, "listeners are informed of a new TTL, and not of flushes and merges") {
  CHECK(Append({Entry(1, kBase)}).ok());
  Take();
  CHECK(store->cells().Flush().ok());
  CHECK(store->cells().Compact().ok());
  CHECK(Take().empty());
  CHECK_FALSE(store->watched().RowsExpire());
  TableDescriptor table = *store->cells().DescribeTable("tsdb");
  table.families[0].ttl_s = 7200;
  CHECK(store->cells().AlterTable(table).ok());
  CHECK(Take() == Heard{"altered"});
  CHECK(store->watched().RowsExpire());
}

TEST_CASE_FIXTURE(Rig, "dropped files are reported as one alteration") {
  CHECK(Append({Entry(1, kBase), Entry(2, kBase)}).ok());
  CHECK(store->cells().Flush().ok());
  Take();
  CHECK(store->points().DropFiles([](ByteView) { return 0; }).ok());
  CHECK(Take().empty());
  CHECK(store->points().DropFiles([](ByteView) { return kHorizon; }).ok());
  CHECK(Take() == Heard{"altered"});
  CHECK(CountPoints(*store) == 0);
}

TEST_CASE_FIXTURE(Rig, "a change that depends on stored data does not restore a dropped file") {
  const auto append = [&](const Bytes& value) {
    return store->cells().Append("tsdb", Key(1, kBase), "t", Bytes("\1\0\0", 3), value);
  };
  CHECK(append("old").ok());
  CHECK(store->cells().Flush().ok());
  recorder->before = [&] {
    CHECK(store->points().DropFiles([](ByteView) { return kHorizon; }).ok());
  };
  CHECK(append("new").ok());
  const auto row = store->cells().Get("tsdb", Key(1, kBase));
  REQUIRE(row->cells.size() == 1);
  CHECK(row->cells[0].value == "new");
}

TEST_CASE_FIXTURE(Rig, "A listener may append points of its own while it is called") {
  std::vector<PointEntry> young, old;
  for (int64_t second = 0; second < 100; ++second) {
    young.push_back(Entry(2, kHorizon + second));
    old.push_back(Entry(1, kBase + 2 * second));
  }
  recorder->before = [&] { CHECK(Append(young).ok()); };
  CHECK(Append(old).ok());
  REQUIRE(store->cells().Sync().ok());
  // After a restart, the points of both appends are replayed from the log.
  store.reset();
  store = OpenEmbedded(disk, clock, {});
  CHECK(CountPoints(store->points(), 1) == 100);
  CHECK(CountPoints(store->points(), 2) == 100);
}

TEST_CASE_FIXTURE(Rig, "RaiseHorizon does not lower the horizon") {
  store->watched().RaiseHorizon(kBase);
  CHECK(store->watched().horizon() == kHorizon);
}

// The horizon rises over hours that are being written. A scan of an hour after that has all of its
// points, or the listener is called.
TEST_CASE_FIXTURE(Rig, "no point is missed while the horizon rises") {
  constexpr uint32_t kHours = 100, kWriters = 2;
  class Counter : public ChangeListener {
   public:
    void AfterChange(const ChangedRows& rows) override {
      if (rows.base >= kHorizon) ++told[(rows.base - kHorizon) / kRowSpan];
    }
    std::vector<std::atomic<uint64_t>> told = std::vector<std::atomic<uint64_t>>(kHours);
  };
  const auto counter = std::make_shared<Counter>();
  store->watched().Listen(counter);
  std::atomic<uint32_t> hour{0};
  std::atomic<uint64_t> appended{0};
  const auto count = [&](uint32_t at) {
    PointScanSpec spec;
    spec.metric = Tsuid(1, 9).substr(0, 3);
    spec.rows = {kHorizon + at * kRowSpan, kHorizon + (at + 1) * kRowSpan};
    auto scan = store->points().Scan(spec, {});
    REQUIRE(scan.ok());
    size_t points = 0;
    for (RowHour row; *(*scan)->Next(&row);) points += row.value.size();
    return points;
  };
  std::vector<std::thread> writers;
  for (uint32_t w = 0; w < kWriters; ++w) {
    const SeriesNumber series = *store->points().Register(Tsuid(w + 1, 9));
    writers.emplace_back([&, w, series] {
      for (int64_t i = 0; hour < kHours; ++i) {
        const uint32_t at = std::min(hour.load(), kHours - 1);
        const int64_t time_s = int64_t{kHorizon} + at * kRowSpan + i % kRowSpan;
        const PointEntry entry = MakePointEntry(series, Timestamp{time_s}, PointValue::Int(w));
        if (store->points().Append({&entry, 1}).ok()) ++appended;
      }
    });
  }
  std::vector<uint64_t> told(kHours);
  std::vector<size_t> points(kHours);
  for (uint32_t at = 0; at < kHours; ++at) {
    for (const uint64_t before = appended; appended == before;) std::this_thread::yield();
    store->watched().RaiseHorizon(kHorizon + (at + 1) * kRowSpan);
    told[at] = counter->told[at];
    points[at] = count(at);
    hour = at + 1;
  }
  for (std::thread& writer : writers) writer.join();
  for (uint32_t at = 0; at < kHours; ++at) {
    if (counter->told[at] == told[at]) CHECK(count(at) == points[at]);
  }
}

}  // namespace hg
