// Which series have rows in a range of time: from memory, from the day indexes of files, and from
// files without a day index.

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <roaring/roaring.hh>
#include <set>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/engine/day_index.h"
#include "storage/engine/offline_repair.h"
#include "storage/engine/readable_rows.h"
#include "tests/storage/engine/engine_rig.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/fake_watch.h"

namespace hg {
namespace {

constexpr uint32_t kHour = 3600, kDay = 86'400;
constexpr uint32_t kFirst = 19'675 * kDay;  // the first moment of a day

using Set = std::set<Bytes>;

Bytes Metric(uint64_t metric) { return Tsuid(1, metric).substr(0, 3); }

RowRange Hours(uint32_t begin, uint32_t end) { return {begin, end}; }
RowRange Day(uint32_t number) { return {kFirst + number * kDay, kFirst + (number + 1) * kDay}; }

struct Rig : EngineRig<> {
  Rig() : EngineRig(int64_t{kFirst} * 1000, {}) {}
  void Append(uint64_t host, int64_t time, uint64_t metric = 1) {
    const auto number = points->Register(Tsuid(host, metric));
    REQUIRE(number.ok());
    const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(1));
    REQUIRE(points->Append({&entry, 1}).ok());
  }
  Status List(const RowRange& rows, Set* found, ByteView metric = {},
              RequestContext* watch = nullptr) const {
    found->clear();
    return points->ListSeriesWithin(metric, {}, rows, watch, [&](ByteView tsuid) {
      CHECK(found->emplace(tsuid).second);
      return true;
    });
  }
  [[nodiscard]] Set Within(const RowRange& rows, ByteView metric = {}) const {
    Set found;
    const Status status = List(rows, &found, metric);
    INFO(status.ToString());
    REQUIRE(status.ok());
    return found;
  }
  /// Searches for series without rows, and checks that the others stay.
  void SweepAndKeep(size_t series) const {
    const Status status = engine->SweepSeries();
    INFO(status.ToString());
    CHECK(status.ok());
    CHECK(engine->Stats().series == series);
  }
  [[nodiscard]] lsm::Manifest Manifest() { return *lsm::LoadManifest(disk, "d"); }
  /// The paths of the points files.
  std::vector<std::string> PointsFiles() {
    std::vector<std::string> paths;
    for (const lsm::PartEntry& part : Manifest().parts) {
      if (part.points_bytes > 0) paths.push_back(engine::Part::PointsPath("d", part.number));
    }
    return paths;
  }
  /// Flips a bit in the day index of a file and returns where the day index begins.
  uint64_t DamageDayIndex(const std::string& path) {
    Close();
    const auto file = lsm::BlockFile::Open(disk, path);
    REQUIRE(file.ok());
    REQUIRE((*file)->has_meta());
    const Bytes index = **(*file)->ReadMeta(lsm::CacheUse::kPast, nullptr);
    const uint64_t at = ReadWholeFile(disk, path)->find(index);
    disk.FlipBit(path, at + index.size() / 2, 3);
    Open();
    return at;
  }
  /// Writes all parts of points anew without day indexes, as earlier versions of the program did.
  void DropDayIndexes() {
    Close();
    lsm::Manifest manifest = Manifest();
    for (lsm::PartEntry& part : manifest.parts) {
      if (part.points_bytes == 0) continue;
      const auto files =
          *engine::PartFiles::Open(disk, "d", part, {}, std::make_shared<std::atomic<uint64_t>>(0));
      lsm::PartEntry fresh = part;
      fresh.number = manifest.next_number++;
      REQUIRE(*engine::RewriteReadable(disk, "d", manifest.layout, files->cells().get(),
                                       files->points().get(), &fresh));
      part.TakeFilesOf(fresh);
    }
    REQUIRE(lsm::SaveManifest(disk, "d", manifest).ok());
    Open();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Rig, "a delete of many rows of one series ends with its request") {
  for (uint32_t hour = 0; hour < 200; ++hour) Append(1, kFirst + hour * kHour);
  PointScanSpec spec;
  spec.metric = Metric(1);
  FakeWatch watch;
  watch.steps_max = 1000;
  spec.watch = &watch;
  CHECK(points->DeleteRows(spec).code() == StatusCode::kDeadlineExceeded);
  watch.steps_max = UINT64_MAX;
  CHECK(points->DeleteRows(spec).ok());
}

TEST_CASE("series in memory are found exactly, by the hours of their rows") {
  Rig rig;
  rig.Append(1, kFirst);
  rig.Append(2, kFirst + 2 * kHour);
  rig.Append(3, kFirst + kDay);
  rig.Append(1, kFirst + 3 * kDay);
  CHECK(rig.Within(Hours(kFirst, kFirst + kHour)) == Set{Tsuid(1)});
  CHECK(rig.Within(Hours(kFirst + kHour, kFirst + 2 * kHour)).empty());
  CHECK(rig.Within(Hours(kFirst + kHour, kFirst + 3 * kHour)) == Set{Tsuid(2)});
  CHECK(rig.Within(Day(0)) == Set{Tsuid(1), Tsuid(2)});
  CHECK(rig.Within({}) == Set{Tsuid(1), Tsuid(2), Tsuid(3)});
  CHECK(rig.Within(Hours(kFirst, kFirst)).empty());
  CHECK(rig.Within({kFirst + 3 * kDay, uint64_t{1} << 32}) == Set{Tsuid(1)});
}

TEST_CASE("series in files are found by the days of their rows, after flush, merge and restart") {
  Rig rig;
  rig.Append(1, kFirst);
  rig.Append(2, kFirst + kDay - 1);  // the last second of the day
  rig.Append(3, kFirst + kDay);      // the first second of the next day
  rig.Append(1, kFirst + 5 * kDay);
  rig.Append(7, kFirst, 2);
  const auto check = [&] {
    CHECK(rig.Within(Day(0)) == Set{Tsuid(1), Tsuid(2), Tsuid(7, 2)});
    CHECK(rig.Within(Day(0), Metric(1)) == Set{Tsuid(1), Tsuid(2)});
    CHECK(rig.Within(Day(1)) == Set{Tsuid(3)});
    CHECK(rig.Within(Day(2)).empty());
    CHECK(rig.Within(Day(5)) == Set{Tsuid(1)});
    CHECK(rig.Within(Day(5), Metric(2)).empty());
    CHECK(rig.Within(Day(6)).empty());
    CHECK(rig.Within(Hours(kFirst - kDay, kFirst)).empty());
    // The last hour of a day, just before the next day.
    const Set early = rig.Within(Hours(kFirst + kDay - kHour, kFirst + kDay));
    CHECK(early.contains(Tsuid(2)));
    CHECK(!early.contains(Tsuid(3)));
    CHECK(rig.Within(Hours(kFirst + kDay, kFirst + kDay + kHour)) == Set{Tsuid(3)});
    CHECK(rig.Within(Hours(kFirst + kDay - kHour, kFirst + kDay + kHour)).size() >= 2);
  };
  check();
  rig.Flush();
  check();
  rig.Open();
  check();
  rig.Merge();
  check();
  rig.clock.AdvanceMs(int64_t{90} * kDay * 1000);
  rig.Merge();  // files of several days
  check();
  rig.Open();
  check();
  rig.Append(3, kFirst + 2 * kDay);
  CHECK(rig.Within(Day(2)) == Set{Tsuid(3)});
  CHECK(rig.Within(Hours(kFirst, kFirst + 3 * kDay)).size() == 4);
}

// The exact series of the range must be found, and no series without rows in its days.
TEST_CASE("the series with rows in random time ranges are found, whatever is in files") {
  std::mt19937 random(7);
  Rig rig;
  std::map<Bytes, std::set<uint32_t>> hours;  // by TSUID
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 40; ++i) {
      const uint64_t host = 1 + random() % 50, metric = 1 + random() % 3;
      const uint32_t base = kFirst + random() % (40 * 24) * kHour;
      rig.Append(host, base + random() % kHour, metric);
      hours[Tsuid(host, metric)].insert(base);
    }
    switch (random() % 5) {
      case 0:
        rig.Flush();
        break;
      case 1:
        rig.Merge();
        break;
      case 2:
        rig.Open();
        break;
      case 3:
        rig.clock.AdvanceMs(int64_t{kDay} * 1000);
        break;
    }
    for (int i = 0; i < 5; ++i) {
      const uint32_t begin = kFirst + random() % (41 * 24) * kHour;
      const uint32_t end = begin + (1 + random() % 60) * kHour;
      const uint64_t metric = random() % 4;
      Set exact, of_days;
      for (const auto& [tsuid, bases] : hours) {
        if (metric > 0 && !tsuid.starts_with(Metric(metric))) continue;
        const auto any = [&](uint32_t from, uint32_t to) {
          const auto at = bases.lower_bound(from);
          return at != bases.end() && *at < to;
        };
        if (any(begin, end)) exact.insert(tsuid);
        if (any(begin / kDay * kDay, (end - 1) / kDay * kDay + kDay)) of_days.insert(tsuid);
      }
      const Set found = rig.Within(Hours(begin, end), metric > 0 ? Metric(metric) : Bytes());
      CHECK(std::includes(found.begin(), found.end(), exact.begin(), exact.end()));
      CHECK(std::includes(of_days.begin(), of_days.end(), found.begin(), found.end()));
    }
  }
}

TEST_CASE("a series with only cells, such as annotations or appended points, is found by its day") {
  Rig rig;
  const auto put = [&](uint64_t host, uint32_t base, const Bytes& qualifier) {
    REQUIRE(rig.points->Register(Tsuid(host)).ok());
    const Bytes key = codec::MakeRowKey(rig.points->layout(), Tsuid(host), base);
    REQUIRE(rig.cells->Mutate("tsdb", {{key, {PutCell("t", qualifier, "{}")}}}).ok());
  };
  put(1, kFirst, Bytes("\1\0\0", 3));
  put(2, kFirst + kDay, Bytes("\1\0\0", 3));
  rig.Append(3, kFirst + 2 * kDay);
  const auto check = [&] {
    for (uint32_t day = 0; day < 3; ++day) {
      CHECK(rig.Within(Day(day)) == Set{Tsuid(day + 1)});
      CHECK(rig.Within(Day(day), Metric(1)) == Set{Tsuid(day + 1)});
    }
  };
  check();
  rig.Flush();
  check();
  rig.Merge();
  check();
  rig.Open();
  check();
}

TEST_CASE("the regions of a split find the series in the files that they share") {
  Rig rig;
  for (uint64_t metric = 1; metric <= 4; ++metric) rig.Append(1, kFirst + metric * kDay, metric);
  rig.Flush();
  REQUIRE(rig.cells->Split("tsdb", "", Metric(3)).ok());
  const auto check = [&] {
    for (uint64_t metric = 1; metric <= 4; ++metric) {
      const auto day = static_cast<uint32_t>(metric);
      CHECK(rig.Within(Day(day)) == Set{Tsuid(1, metric)});
      CHECK(rig.Within(Day(day), Metric(metric)) == Set{Tsuid(1, metric)});
      CHECK(rig.Within(Day(day), Metric(5 - metric)).empty());
    }
  };
  check();
  rig.SweepAndKeep(4);
  rig.Merge();
  check();
  rig.SweepAndKeep(4);
}

TEST_CASE("a series whose points were deleted is listed until the merge") {
  Rig rig;
  rig.Append(1, kFirst);
  rig.Append(2, kFirst + kDay);
  rig.Flush();
  PointScanSpec spec;
  spec.metric = Metric(1);
  spec.rows = Day(0);
  REQUIRE(rig.points->DeleteRows(spec).ok());
  CHECK(rig.Within(Day(0)) == Set{Tsuid(1)});
  rig.Merge();
  CHECK(rig.Within(Day(0)).empty());
  CHECK(rig.Within(Day(1)) == Set{Tsuid(2)});
}

TEST_CASE("a series whose points have all expired is not listed, even before the merge") {
  Rig rig;
  TableDescriptor table = *rig.cells->DescribeTable("tsdb");
  table.families.front().ttl_s = kDay;
  REQUIRE(rig.cells->AlterTable(table).ok());
  rig.Append(1, kFirst);
  rig.Flush();
  rig.clock.AdvanceMs(int64_t{2} * kDay * 1000);
  rig.Append(2, kFirst + 2 * kDay);
  CHECK(rig.Within({}) == Set{Tsuid(2)});
  CHECK(rig.Within(Day(0)).empty());
}

TEST_CASE("series of a file without a day index count as present in all its hours, until a merge") {
  Rig rig;
  rig.Append(1, kFirst);
  rig.Append(2, kFirst + 3 * kDay);
  rig.Append(3, kFirst + 9 * kDay, 2);
  rig.Flush();
  const Set all = {Tsuid(1), Tsuid(2), Tsuid(3, 2)};
  rig.DropDayIndexes();
  rig.SweepAndKeep(3);
  CHECK(rig.Within(Day(0)) == all);
  CHECK(rig.Within(Day(0), Metric(1)) == Set{Tsuid(1), Tsuid(2)});
  CHECK(rig.Within(Day(11)).empty());  // no file has rows there
  rig.Append(1, kFirst + 11 * kDay);
  CHECK(rig.Within(Day(11)) == Set{Tsuid(1)});
  rig.Flush();
  CHECK(rig.Within(Day(11)) == Set{Tsuid(1)});
  rig.Merge();
  CHECK(rig.Within(Day(0)) == Set{Tsuid(1)});
  CHECK(rig.Within(Day(3)) == Set{Tsuid(2)});
}

TEST_CASE("a damaged day index is an error of a lookup, is found by the check, and is repaired") {
  Rig rig;
  rig.Append(1, kFirst);
  rig.Append(2, kFirst + kHour);
  rig.Flush();
  REQUIRE(rig.engine->Check()->damages.empty());
  const std::string path = rig.PointsFiles().front();
  const uint64_t at = rig.DamageDayIndex(path);
  const std::string where = path + " at " + std::to_string(at);
  Set found;
  const Status status = rig.List(Day(0), &found);
  CHECK(status.code() == StatusCode::kCorruption);
  CHECK(status.message().find(where) != std::string_view::npos);
  // Other reads do not need the day index.
  const auto report = rig.engine->Check();
  REQUIRE(report.ok());
  REQUIRE(report->damages.size() == 1);
  CHECK(report->damages.front().file == path);
  CHECK(report->damages.front().offset == at);
  rig.SweepAndKeep(2);
  REQUIRE(rig.engine->Repair().ok());
  rig.SweepAndKeep(2);
  CHECK(rig.engine->Check()->damages.empty());
  CHECK(rig.Within(Day(0)) == Set{Tsuid(1), Tsuid(2)});
  rig.Merge();
  CHECK(rig.Within(Day(0)) == Set{Tsuid(1), Tsuid(2)});
}

// Damages the list of series and repairs the store, which numbers the series in the order of
// TSUIDs.
void NumberSeriesAnew(Rig* rig) {
  std::string series;
  for (const lsm::PartEntry& part : rig->Manifest().parts) {
    if (part.table == engine::kSeriesTable) series = engine::Part::CellsPath("d", part.number);
  }
  rig->Close();
  rig->disk.FlipBit(series, 5, 1);
  REQUIRE(engine::RepairDirectory(rig->disk, "d").ok());
  rig->Open();
}

TEST_CASE("after a repair that numbers the series anew, old day indexes are not used") {
  Rig rig;
  for (uint64_t host = 9; host >= 1; --host) rig.Append(host, kFirst + host * kDay);
  rig.Flush();
  NumberSeriesAnew(&rig);
  rig.SweepAndKeep(9);
  for (uint32_t day = 1; day <= 9; ++day) CHECK(rig.Within(Day(day)).contains(Tsuid(day)));
  rig.Append(1, kFirst + kDay);
  rig.Merge();
  for (uint32_t day = 1; day <= 9; ++day) CHECK(rig.Within(Day(day)).contains(Tsuid(day)));
}

TEST_CASE("after a repair that gives the same series other numbers, day indexes are not used") {
  Rig rig;
  // A flush gives four days their own files. The others share one, whose series are the first five.
  for (const uint64_t host : {5, 4, 3, 2, 1, 6, 7, 8, 9}) rig.Append(host, kFirst + host * kDay);
  rig.Flush();
  NumberSeriesAnew(&rig);
  rig.SweepAndKeep(9);
  for (uint32_t day = 1; day <= 9; ++day) CHECK(rig.Within(Day(day)).contains(Tsuid(day)));
}

TEST_CASE("a series stays while it has a row with a time that is no hour, which no index names") {
  Rig rig;
  rig.Append(1, kFirst);
  rig.Append(2, kFirst);
  const Bytes key = codec::MakeRowKey(rig.points->layout(), Tsuid(1), kFirst + 1);
  REQUIRE(rig.cells->Mutate("tsdb", {{key, {PutCell("t", Bytes("\1\0\0", 3), "{}")}}}).ok());
  rig.Flush();
  PointScanSpec spec;
  spec.metric = Metric(1);
  spec.rows = {kFirst, kFirst + 1};
  REQUIRE(rig.points->DeleteRows(spec).ok());
  rig.Merge();
  rig.SweepAndKeep(1);
  CHECK(rig.points->TsuidOf(*rig.points->Register(Tsuid(1))) == Tsuid(1));
}

TEST_CASE("a lookup reads no rows, reports its work, and waits for the disk only where it may") {
  Rig rig;
  constexpr uint64_t kSeries = 6000;
  for (uint64_t host = 1; host <= kSeries; ++host) rig.Append(host, kFirst + host % 2 * kDay);
  rig.Flush();
  Set found;
  FakeWatch loop;
  loop.StayOnLoop();
  CHECK(rig.List(Day(0), &found, {}, &loop).code() == StatusCode::kBusy);
  const uint64_t blocks = rig.engine->Stats().blocks_read;
  FakeWatch watch;
  REQUIRE(rig.List(Day(0), &found, {}, &watch).ok());
  CHECK(found.size() == kSeries / 2);
  CHECK(rig.engine->Stats().blocks_read == blocks);
  CHECK(watch.steps >= kSeries / 2);
  CHECK(watch.bytes == 0);
  CHECK(watch.bytes_most > 0);
  FakeWatch short_of_steps;
  short_of_steps.steps_max = 100;
  CHECK(rig.List(Day(0), &found, {}, &short_of_steps).code() == StatusCode::kDeadlineExceeded);
  FakeWatch short_of_memory;
  short_of_memory.bytes_max = 1000;
  CHECK(rig.List(Day(0), &found, {}, &short_of_memory).code() == StatusCode::kLimitExceeded);
}

TEST_CASE("the memory of a day index is charged while it is read") {
  Rig rig;
  // A day index takes the most space if it has every other series number.
  for (uint64_t host = 1; host <= 4000; ++host) rig.Append(host, kFirst);
  for (uint64_t day = 1; day < 64; ++day) {
    for (uint64_t host = 1; host <= 4000; host += 2)
      rig.Append(host + day % 2, kFirst + day * kDay);
  }
  rig.Merge();
  int64_t largest = 0;
  for (const std::string& path : rig.PointsFiles()) {
    const auto file = lsm::BlockFile::Open(rig.disk, path);
    REQUIRE(file.ok());
    largest = std::max(largest, static_cast<int64_t>((*file)->meta_bytes()));
  }
  REQUIRE(largest > 100'000);  // more than the smallest charge
  Set found;
  FakeWatch watch;
  REQUIRE(rig.List({}, &found, {}, &watch).ok());
  CHECK(found.size() == 4000);
  CHECK(watch.bytes_most >= 2 * largest);
  CHECK(watch.bytes == 0);
  FakeWatch short_of_memory;
  short_of_memory.bytes_max = largest;
  CHECK(rig.List({}, &found, {}, &short_of_memory).code() == StatusCode::kLimitExceeded);
}

TEST_CASE(
    "a scan of many series skips those without rows in its range, with or without the index") {
  Rig rig;
  constexpr uint64_t kOld = 6000, kLive = 10;
  for (uint64_t host = 1; host <= kOld; ++host) rig.Append(host, kFirst);
  rig.Flush();
  for (uint64_t host = kOld + 1; host <= kOld + kLive; ++host) rig.Append(host, kFirst + kDay);
  rig.Append(7, kFirst + kDay);
  const auto count = [&](const RowRange& rows, FakeWatch* watch) {
    PointScanSpec spec;
    spec.metric = Metric(1);
    spec.rows = rows;
    spec.watch = watch;
    const auto scan = rig.points->Scan(spec, {});
    INFO(scan.status().ToString());
    REQUIRE(scan.ok());
    size_t found = 0;
    for (RowHour row;; ++found) {
      const auto more = (*scan)->Next(&row);
      REQUIRE(more.ok());
      if (!*more) return found;
    }
  };
  const auto check = [&](bool indexed) {
    FakeWatch late, early;
    CHECK(count(Hours(kFirst + kDay, kFirst + kDay + kHour), &late) == kLive + 1);
    CHECK((late.steps < 8 * kOld) == indexed);
    CHECK(count(Day(0), &early) == kOld);
    CHECK(early.steps > 64 * kOld);
  };
  check(true);
  rig.Flush();
  check(true);
  rig.Merge();
  check(true);
  rig.DropDayIndexes();
  check(false);
  rig.Merge();
  check(true);
  for (const std::string& path : rig.PointsFiles()) (void)rig.DamageDayIndex(path);
  check(false);
}

TEST_CASE("the day index takes less than a hundredth of a part, a bit for each series and day") {
  Rig rig;
  constexpr uint64_t kSeries = 3000;
  for (uint64_t host = 1; host <= kSeries; ++host) {
    if (host % 3 == 0) continue;  // holes, so that the numbers are not consecutive
    for (uint32_t hour = 0; hour < 24; ++hour) {
      for (uint32_t minute = 0; minute < 60; minute += 10) {
        rig.Append(host, kFirst + hour * kHour + minute * 60 + host % 60);
      }
    }
  }
  rig.Append(kSeries + 1, kFirst);
  rig.Merge();
  REQUIRE(rig.PointsFiles().size() == 1);
  const auto file = lsm::BlockFile::Open(rig.disk, rig.PointsFiles().front());
  REQUIRE(file.ok());
  REQUIRE((*file)->has_meta());
  const size_t bytes = (*(*file)->ReadMeta(lsm::CacheUse::kPast, nullptr))->size();
  CHECK(bytes < kSeries / 8 + 64);
  CHECK(bytes * 100 < (*file)->bytes());
}

TEST_CASE("bytes that are no day index are refused") {
  engine::Registry registry(KeyLayout{});
  for (uint64_t host = 1; host <= 9; ++host) registry.Add(Tsuid(host));
  engine::DayIndexWriter writer;
  writer.Add(2, Tsuid(3), kFirst);
  writer.AddAgain(kFirst + kDay);
  writer.Add(4, Tsuid(5), kFirst);
  writer.AddAgain(kFirst + 70 * kDay);
  writer.Add(2, Tsuid(3), kFirst + kDay);
  const Bytes index = writer.Encode();
  const auto numbers = [&](uint32_t first, uint32_t last) {
    Roaring series;
    CHECK(engine::AddSeriesOfDays(index, kFirst / kDay + first, kFirst / kDay + last, &series));
    return std::vector<uint32_t>(series.begin(), series.end());
  };
  CHECK(numbers(0, 0) == std::vector<uint32_t>{2, 4});
  CHECK(numbers(1, 69) == std::vector<uint32_t>{2});
  CHECK(numbers(2, 69).empty());
  CHECK(numbers(70, 70) == std::vector<uint32_t>{4});
  CHECK(engine::IsDayIndex(index));
  CHECK(*engine::HasNumbersOf(index, registry, nullptr));
  for (size_t size = 0; size < index.size(); ++size) {
    CHECK_FALSE(engine::IsDayIndex(ByteView(index).substr(0, size)));
  }
  CHECK_FALSE(engine::IsDayIndex(index + '\0'));

  engine::Registry other(KeyLayout{});
  for (uint64_t host = 9; host >= 1; --host) other.Add(Tsuid(host));
  CHECK_FALSE(*engine::HasNumbersOf(index, other, nullptr));
  engine::Registry shorter(KeyLayout{});
  shorter.Add(Tsuid(1));
  CHECK_FALSE(*engine::HasNumbersOf(index, shorter, nullptr));
}

}  // namespace hg
