// Whole files are dropped unread if all of their rows may be deleted (Points::DropFiles).

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <utility>

#include "storage/codec/row_key.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/engine_rig.h"
#include "tests/storage/engine/tsuid.h"

namespace hg {
namespace {

constexpr uint32_t kHour = 3600;
constexpr uint32_t kDay = 86'400;
constexpr uint32_t kFirst = 19'712 * kDay;  // a midnight: each file holds one day

// A disk that can call a function when the next points file is created.
class HookedDisk : public FaultyFileSystem {
 public:
  using FaultyFileSystem::FaultyFileSystem;
  std::function<void()> on_points_file;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kCreate && path.ends_with(".points")) {
      if (const auto call = std::exchange(on_points_file, nullptr)) call();
    }
    return FaultyFileSystem::Open(path, mode);
  }
};

// An engine without threads, with a clock long after its data.
struct Rig : EngineRig<HookedDisk> {
  explicit Rig(const KeyLayout& layout = {})
      : EngineRig(int64_t{kFirst + 500 * kDay} * 1000, Options(layout)) {}

  static EmbeddedOptions Options(const KeyLayout& layout) {
    EmbeddedOptions options;
    options.layout = layout;
    return options;
  }

  static Bytes Metric(uint64_t metric) {
    Bytes id;
    AppendBig(&id, metric, 3);
    return id;
  }
  [[nodiscard]] Bytes Key(uint64_t metric, uint32_t base) const {
    return codec::MakeRowKey(options.layout, Tsuid(1, metric), base);
  }
  void Write(uint64_t metric, int64_t time, int64_t value = 7, uint64_t host = 1) {
    const auto number = points->Register(Tsuid(host, metric));
    REQUIRE(number.ok());
    const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
    const auto position = points->Append({&entry, 1});
    REQUIRE(position.ok());
    REQUIRE(engine->CommitAndWait(*position).ok());
  }
  // One point per hour.
  void WriteDay(uint64_t metric, uint32_t day, uint64_t host = 1) {
    for (uint32_t hour = 0; hour < 24; ++hour)
      Write(metric, kFirst + day * kDay + hour * kHour, 7, host);
  }
  // Returns the number of dropped parts. Metrics that are not given keep everything.
  uint64_t Drop(const std::map<uint64_t, uint32_t>& ends) {
    const uint64_t before = engine->Stats().dropped_parts;
    REQUIRE(points
                ->DropFiles([&](ByteView metric) {
                  const auto end = ends.find(ReadBig(metric.data(), 3));
                  return end != ends.end() ? end->second : 0;
                })
                .ok());
    return engine->Stats().dropped_parts - before;
  }
  // Deletes the rows of the first metric before `end`.
  Status Delete(uint32_t end) {
    PointScanSpec spec;
    spec.metric = Metric(1);
    spec.rows.end = end;
    return points->DeleteRows(spec);
  }
  [[nodiscard]] size_t Count(uint64_t metric) const { return CountPoints(*points, metric); }
  [[nodiscard]] std::vector<std::string> PointsFiles() {
    std::vector<std::string> found;
    const std::vector<std::string> names = *disk.List("d");
    for (const std::string& name : names)
      if (name.ends_with(".points")) found.push_back("d/" + name);
    return found;
  }
};

TEST_CASE("a file whose rows may all be dropped is removed without reading it, damaged or not") {
  for (const bool merged : {false, true}) {
    CAPTURE(merged);
    Rig rig;
    rig.WriteDay(1, 0);
    rig.WriteDay(1, 100);
    rig.Flush();
    if (merged) REQUIRE(rig.engine->Compact().ok());
    REQUIRE(rig.PointsFiles().size() == 2);
    rig.disk.FlipBit(rig.PointsFiles()[0], 40, 3);
    rig.Open();
    CHECK_FALSE(rig.Delete(kFirst + 90 * kDay).ok());  // the file would be read
    const uint64_t blocks = rig.engine->Stats().blocks_read;
    CHECK(rig.Drop({{1, kFirst + kDay - kHour}}) == 0);
    CHECK(rig.Drop({{1, kFirst + kDay}}) == 1);
    CHECK(rig.engine->Stats().blocks_read == blocks);
    CHECK(rig.PointsFiles().size() == 1);
    CHECK(rig.Count(1) == 24);
    rig.Open();
    CHECK(rig.Count(1) == 24);
  }
}

TEST_CASE("annotations and histograms are dropped together with their file") {
  Rig rig;
  rig.WriteDay(1, 0);
  for (const char* qualifier : {"\1\0\5", "\6\0\5"}) {
    REQUIRE(
        rig.cells->Mutate("tsdb", {{rig.Key(1, kFirst), {PutCell("t", Bytes(qualifier, 3), "x")}}})
            .ok());
  }
  rig.Flush();
  CHECK(rig.Drop({{1, kFirst + kDay}}) == 1);
  CHECK(rig.cells->Get("tsdb", rig.Key(1, kFirst))->empty());
}

TEST_CASE("a file stays while one of its metrics keeps its rows") {
  for (const int salt_width : {0, 1}) {
    CAPTURE(salt_width);
    KeyLayout layout;
    layout.salt_width = salt_width;
    layout.salt_buckets = 3;
    Rig rig(layout);
    for (uint64_t host = 1; host <= 9; ++host) {
      rig.WriteDay(1, 0, host);
      rig.WriteDay(2, 0, host);
    }
    rig.Flush();
    const size_t files = rig.PointsFiles().size();
    CHECK(rig.Drop({{1, kFirst + kDay}}) == 0);
    CHECK(rig.Drop({{1, kFirst + kDay}, {2, kFirst + kHour}}) == 0);
    CHECK(rig.Count(1) == 9 * 24);
    CHECK(rig.Drop({{1, kFirst + kDay}, {2, kFirst + 2 * kDay}}) == files);
    CHECK(rig.Count(1) == 0);
    CHECK(rig.Count(2) == 0);
    CHECK(rig.PointsFiles().empty());
  }
}

TEST_CASE(
    "a metric that appears while DropFiles asks for others keeps files, because its end is "
    "not known") {
  Rig rig;
  rig.WriteDay(1, 0);
  rig.Flush();
  REQUIRE(rig.points
              ->DropFiles([&](ByteView) {
                rig.Write(2, kFirst);
                rig.Flush();
                return kFirst + kDay;
              })
              .ok());
  CHECK(rig.engine->Stats().dropped_parts == 0);
  CHECK(rig.Count(2) == 1);
}

TEST_CASE("metrics of other regions do not keep files") {
  Rig rig;
  for (const uint64_t metric : {1, 2, 3}) rig.WriteDay(metric, 0);
  rig.Flush();
  REQUIRE(rig.cells->Split("tsdb", "", Rig::Metric(2)).ok());
  REQUIRE(rig.engine->Compact().ok());
  CHECK(rig.Drop({{1, kFirst + kDay}, {2, kFirst + kDay}}) == 1);
  CHECK(rig.Count(1) == 0);
  CHECK(rig.Count(2) == 24);
  CHECK(rig.Count(3) == 24);
}

TEST_CASE(
    "if two regions share a file after a split, one may drop its part while the other keeps "
    "its own") {
  Rig rig;
  for (const uint64_t metric : {1, 2}) rig.WriteDay(metric, 0);
  rig.Flush();
  REQUIRE(rig.cells->Split("tsdb", "", Rig::Metric(2)).ok());
  CHECK(rig.Drop({{1, kFirst + kDay}}) == 1);
  CHECK(rig.Count(1) == 0);
  CHECK(rig.Count(2) == 24);
  rig.Open();
  CHECK(rig.Count(2) == 24);
  CHECK(rig.Drop({{2, kFirst + kDay}}) == 1);
  CHECK(rig.PointsFiles().empty());
}

TEST_CASE(
    "data that newer files replaced or deleted does not reappear from older files that stay") {
  Rig rig;
  rig.WriteDay(1, 0);
  rig.Flush();
  rig.Write(1, kFirst, 8);
  REQUIRE(rig.cells->DeleteRow("tsdb", rig.Key(1, kFirst + kHour)).ok());
  rig.Flush();
  const auto first = [&] {
    PointScanSpec spec;
    spec.metric = Rig::Metric(1);
    auto scan = *rig.points->Scan(spec, {});
    RowHour row;
    REQUIRE(*scan->Next(&row));
    return static_cast<int64_t>(row.value[0]);
  };
  CHECK(rig.Drop({{1, kFirst + 2 * kHour}}) == 0);
  CHECK(rig.Count(1) == 23);
  CHECK(first() == 8);
  CHECK(rig.Drop({{1, kFirst + kDay}}) == 2);
  CHECK(rig.Count(1) == 0);
}

TEST_CASE("rows without a series keep their whole file") {
  Rig rig;
  rig.WriteDay(1, 0);
  rig.Write(1, kFirst + 3 * kDay);  // too few rows of its day for a file of their own
  const Bytes odd = Rig::Metric(0) + Bytes("\x65\0\0\0", 4);  // a global annotation
  REQUIRE(rig.cells->Mutate("tsdb", {{odd, {PutCell("t", Bytes("\1\0\0", 3), "{}")}}}).ok());
  rig.Flush();
  CHECK(rig.Drop({{1, kFirst + 9 * kDay}}) == 1);
  CHECK(rig.Count(1) == 1);
  CHECK_FALSE(rig.cells->Get("tsdb", odd)->empty());
}

TEST_CASE("DropFiles leaves points in memory, and DeleteRows deletes them") {
  Rig rig;
  rig.WriteDay(1, 0);
  rig.Flush();
  rig.Write(1, kFirst + 5);
  CHECK(rig.Drop({{1, kFirst + kDay}}) == 1);
  CHECK(rig.Count(1) == 1);
  rig.Open();
  CHECK(rig.Count(1) == 1);
  REQUIRE(rig.Delete(kFirst + kDay).ok());
  CHECK(rig.Count(1) == 0);
}

TEST_CASE("a reader continues when a file is dropped") {
  Rig rig;
  rig.WriteDay(1, 0);
  rig.Flush();
  PointScanSpec spec;
  spec.metric = Rig::Metric(1);
  auto scan = *rig.points->Scan(spec, {});
  RowHour row;
  REQUIRE(*scan->Next(&row));
  CHECK(rig.Drop({{1, kFirst + kDay}}) == 1);
  size_t rows = 1;
  while (*scan->Next(&row)) ++rows;
  CHECK(rows == 24);
  CHECK(rig.PointsFiles().size() == 1);
  scan.reset();
  rig.Flush();
  CHECK(rig.PointsFiles().empty());
}

TEST_CASE("if the disk fails, all files stay or all are dropped") {
  for (uint64_t call = 1;; ++call) {
    CAPTURE(call);
    Rig rig;
    rig.WriteDay(1, 0);
    rig.WriteDay(1, 1);
    rig.Flush();
    rig.disk.FailCall(0);  // restarts the count
    rig.disk.DieAtCall(call);
    const Status status = rig.points->DropFiles([](ByteView) { return kFirst + 2 * kDay; });
    const bool died = rig.disk.failed();
    CHECK(rig.Count(1) == (status.ok() ? 0 : 48));
    rig.points.reset();
    rig.cells.reset();
    rig.engine.reset();
    rig.disk.PowerCut();
    rig.disk.FailCall(0);
    rig.Open();
    const size_t left = rig.Count(1);
    CHECK((left == 0 || left == 48));
    if (status.ok()) CHECK(left == 0);
    if (!died) break;
  }
}

TEST_CASE("files that a merge is reading are left to the merge") {
  Rig rig;
  for (int i = 0; i < 10; ++i) {
    rig.Write(1, kFirst + i * kHour);
    rig.Write(1, kFirst + 20 * kHour, i);
    rig.Flush();
  }
  rig.WriteDay(1, 300);  // a point of another file
  rig.Flush();
  rig.clock.AdvanceMs(3 * int64_t{kHour} * 1000);  // old enough to be merged
  uint64_t went = 0;
  rig.disk.on_points_file = [&] {
    went = rig.Drop({{1, kFirst + kDay}});
    CHECK(rig.Count(1) == 11 + 24);
  };
  REQUIRE(rig.engine->MergePending(engine::Engine::MergePool::kAny).ok());
  CHECK(rig.disk.on_points_file == nullptr);
  CHECK(rig.engine->Stats().merges > 0);
  CHECK(went == 0);
  CHECK(rig.Drop({{1, kFirst + kDay}}) > 0);
  CHECK(rig.Count(1) == 24);
}

}  // namespace
}  // namespace hg
