// Observers of the store (region-store.md X1).

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/open_embedded.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kTime = 1'700'002'800;

// An observer that records its name at each call.
class Recorder : public StoreObserver {
 public:
  Recorder(std::string name, int priority, std::vector<std::string>* heard)
      : name_(std::move(name)), priority_(priority), heard_(*heard) {}
  [[nodiscard]] int priority() const override { return priority_; }
  [[nodiscard]] bool guards_writes() const override { return true; }
  Status BeforeSeries(ByteView) override { return Say("series"); }
  Status BeforePoints(std::span<const PointEntry> batch) override {
    return Say("points " + std::to_string(batch.size()));
  }
  Status BeforeRow(const std::string& table, ByteView key,
                   std::span<const CellChange> changes) override {
    return Say(table + " " + Bytes(key) + " " + std::to_string(changes.size()));
  }
  void AfterWork(const StoreWork& work) override {
    (void)Say(work.kind == StoreWork::Kind::kFlush ? "flush" : "merge " + work.table);
  }

 private:
  Status Say(const std::string& what) {
    heard_.push_back(name_ + ": " + what);
    return {};
  }
  const std::string name_;
  const int priority_;
  std::vector<std::string>& heard_;
};

// An observer that refuses every write while it is closed, like a read-only store.
class Gate : public StoreObserver {
 public:
  [[nodiscard]] bool guards_writes() const override { return true; }
  Status BeforeSeries(ByteView) override { return Answer(); }
  Status BeforePoints(std::span<const PointEntry>) override { return Answer(); }
  Status BeforeRow(const std::string&, ByteView, std::span<const CellChange>) override {
    return Answer();
  }
  bool closed = false;

 private:
  [[nodiscard]] Status Answer() const {
    return closed ? Status::Unavailable("the gate is closed") : Status();
  }
};

class Thrower : public StoreObserver {
 public:
  [[nodiscard]] bool guards_writes() const override { return true; }
  Status BeforePoints(std::span<const PointEntry>) override { throw std::runtime_error("no"); }
  Status BeforeRow(const std::string&, ByteView, std::span<const CellChange>) override { throw 7; }
  void AfterWork(const StoreWork&) override { throw std::runtime_error("no"); }
};

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{kTime * 1000};
  std::unique_ptr<Embedded> store;

  explicit Rig(StoreObservers observers) {
    EmbeddedOptions options;
    options.observers = std::move(observers);
    store = OpenEmbedded(disk, clock, std::move(options));
  }
  Status Append() {
    const auto number = store->points().Register(Tsuid());
    if (!number.ok()) return number.status();
    const PointEntry entry = MakePointEntry(*number, Timestamp{kTime}, PointValue::Int(1));
    return store->points().Append({&entry, 1}).status();
  }
  Status Put(const Bytes& key) {
    return store->cells().Mutate("tsdb-uid", {{key, {PutCell("id", "q", "v")}}});
  }
};

TEST_CASE("observers are called in the order of their priorities and informed of work on files") {
  std::vector<std::string> heard;
  Rig rig({std::make_shared<Recorder>("user", 9, &heard),
           std::make_shared<Recorder>("first", 0, &heard)});
  REQUIRE(rig.Append().ok());
  REQUIRE(rig.Put("k").ok());
  REQUIRE(rig.store->cells().Increment("tsdb-uid", "n", "id", "q", 1).ok());
  REQUIRE(rig.store->cells().Flush().ok());
  REQUIRE(rig.store->cells().CompactTable("tsdb-uid").ok());
  const std::vector<std::string> events = {"series",       "points 1", "tsdb-uid k 1",
                                           "tsdb-uid n 0", "flush",    "merge tsdb-uid"};
  std::vector<std::string> expected;
  for (const std::string& event : events) {
    expected.push_back("first: " + event);
    expected.push_back("user: " + event);
  }
  CHECK(heard == expected);
}

TEST_CASE("a write that an observer refuses leaves no trace") {
  const auto gate = std::make_shared<Gate>();
  std::vector<std::string> heard;
  Rig rig({gate, std::make_shared<Recorder>("behind", (1 << 30) + 1, &heard)});
  gate->closed = true;
  const uint64_t log = rig.store->Stats().log_bytes;
  CHECK(rig.Append().message() == "the gate is closed");
  CHECK(rig.Put("k").code() == StatusCode::kUnavailable);
  CHECK_FALSE(rig.store->cells().Increment("tsdb-uid", "n", "id", "q", 1).ok());
  CHECK_FALSE(rig.store->cells().Append("tsdb-uid", "n", "id", "q", "v").ok());
  CHECK_FALSE(rig.store->cells().DeleteRow("tsdb-uid", "k").ok());
  CHECK(heard.empty());
  CHECK(rig.store->Stats().log_bytes == log);
  CHECK(rig.store->Stats().series == 0);
  gate->closed = false;
  CHECK(CountPoints(*rig.store) == 0);
  CHECK(rig.store->cells().Get("tsdb-uid", "k")->empty());
  REQUIRE(rig.Append().ok());
  gate->closed = true;
  CHECK_FALSE(rig.Append().ok());
  CHECK(rig.store->cells().Flush().ok());
  CHECK(CountPoints(*rig.store) == 1);
  CHECK(rig.store->Stats().observer_failures == 0);
}

TEST_CASE("an observer that throws fails the write that it was called for, and nothing else") {
  Rig rig({std::make_shared<Thrower>()});
  CHECK(rig.Append().message() == "an observer of the store failed: no");
  CHECK(rig.Put("k").message() == "an observer of the store failed");
  CHECK(rig.store->Stats().observer_failures == 2);
  // Series were not refused. Their table is flushed and merged, whatever the observers throw.
  CHECK(rig.store->Stats().series == 1);
  CHECK(rig.store->cells().Flush().ok());
  CHECK(rig.store->cells().Compact().ok());
  CHECK(rig.store->Stats().observer_failures == 4);
  CHECK(rig.store->Stats().flushes == 1);
  CHECK(rig.store->Stats().merges == 1);
  CHECK(CountPoints(*rig.store) == 0);
}

TEST_CASE("the store counts its work with its own observer") {
  Rig rig({});
  REQUIRE(rig.Append().ok());
  REQUIRE(rig.store->cells().Flush().ok());
  const EmbeddedStats flushed = rig.store->Stats();
  CHECK(flushed.flushes == 1);
  CHECK(flushed.flushed_bytes == flushed.file_bytes);
  REQUIRE(rig.store->cells().Compact().ok());
  const EmbeddedStats merged = rig.store->Stats();
  CHECK(merged.merges == 2);  // the table of series and the one of points
  CHECK(merged.merge_read_bytes == flushed.file_bytes);
  CHECK(merged.merged_bytes == merged.file_bytes);
}

TEST_CASE("files read and written by a merge are dropped from the page cache") {
  Rig rig({});
  REQUIRE(rig.Append().ok());
  REQUIRE(rig.store->cells().Flush().ok());
  CHECK(rig.store->Stats().forgotten_bytes == 0);
  REQUIRE(rig.store->cells().Compact().ok());
  const EmbeddedStats stats = rig.store->Stats();
  // Counts blocks only, because indexes and trailers are read when files are opened.
  CHECK(stats.forgotten_bytes > 0);
  CHECK(stats.forgotten_bytes < stats.merge_read_bytes + stats.merged_bytes);
}

}  // namespace
}  // namespace hg
