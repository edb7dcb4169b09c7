// Regions of the embedded store: how and when tables are split and regions merged, and what happens
// to their files (region-store.md §5 and §6).

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/engine/engine.h"
#include "storage/region/region_count.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/commit_and_wait.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1699920000;  // the first hour of a day

EmbeddedOptions Options(const std::string& path) {
  EmbeddedOptions options;
  options.path = path;
  options.background = false;
  return options;
}

void WritePoint(Points& points, const Bytes& tsuid, int64_t time, int64_t value) {
  const auto number = points.Register(tsuid);
  REQUIRE(number.ok());
  const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
  const auto position = points.Append({&entry, 1});
  REQUIRE(position.ok());
  points.Commit(*position, [](const Status& status) { REQUIRE(status.ok()); });
}

// Each metric has a row with one point for each host and hour.
void WriteRows(Points& points, std::initializer_list<uint64_t> metrics, uint32_t hours,
               uint64_t hosts = 1) {
  for (const uint64_t metric : metrics) {
    for (uint64_t host = 1; host <= hosts; ++host) {
      for (uint32_t hour = 0; hour < hours; ++hour) {
        WritePoint(points, Tsuid(host, metric), kBase + hour * 3600, hour);
      }
    }
  }
}

std::string Dump(Store& store, const std::string& table = "tsdb") {
  std::string text;
  ScanSpec spec;
  spec.table = table;
  auto cursor = store.Scan(spec);
  REQUIRE(cursor.ok());
  for (std::vector<Row> rows;;) {
    REQUIRE((*cursor)->Next(&rows).ok());
    if (rows.empty()) return text;
    for (const Row& row : rows) {
      for (const Cell& cell : row.cells) {
        text += ToHex(row.key) + '\t' + cell.family + '\t' + ToHex(cell.qualifier) + '\t' +
                ToHex(cell.value) + '\n';
      }
    }
  }
}

std::vector<RegionInfo> Regions(Store& store, const std::string& table = "tsdb") {
  const auto regions = store.Regions(table);
  REQUIRE(regions.ok());
  for (size_t i = 0; i < regions->size(); ++i) {
    CHECK((i == 0) == (*regions)[i].start.empty());
    CHECK((*regions)[i].stop == (i + 1 < regions->size() ? (*regions)[i + 1].start : Bytes()));
  }
  const auto starts = store.RegionStarts(table);
  REQUIRE(starts.ok());
  CHECK(std::equal(starts->begin(), starts->end(), regions->begin(), regions->end(),
                   [](const Bytes& start, const RegionInfo& one) { return start == one.start; }));
  return *regions;
}

std::string Starts(Store& store, const std::string& table = "tsdb") {
  std::string text;
  for (const RegionInfo& region : Regions(store, table)) text += ToHex(region.start) + " ";
  return text;
}

Bytes Key(uint64_t metric, std::optional<uint32_t> base = {}) {
  Bytes key;
  AppendBig(&key, metric, 3);
  if (base) AppendBig(&key, *base, 4);
  return key;
}

std::set<std::string> PartFilesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (ending == ".cells" || ending == ".points") names.insert(entry.path().filename());
  }
  return names;
}

TEST_CASE("a table created with n keys has n+1 regions") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  TableDescriptor table{"t", {{"f"}}, false};
  table.splits = {"m", "c", "x"};
  REQUIRE(cells.CreateTable(table).ok());
  CHECK(Starts(cells, "t") == " 63 6d 78 ");
  for (const char* key : {"a", "c", "d", "m", "z"}) {
    REQUIRE(cells.Mutate("t", {{key, {PutCell("f", "q", key)}}}).ok());
  }
  const std::string before = Dump(cells, "t");
  REQUIRE(cells.Flush().ok());
  CHECK(Dump(cells, "t") == before);
  for (const RegionInfo& region : Regions(cells, "t")) CHECK(region.file_count == 1);
  for (const std::vector<Bytes>& bad : {std::vector<Bytes>{"a", ""}, {"b", "a", "b"}}) {
    TableDescriptor refused{"u", {{"f"}}, false};
    refused.splits = bad;
    CHECK(cells.CreateTable(refused).code() == StatusCode::kInvalidArgument);
  }
  CHECK(cells.Regions("u").status().code() == StatusCode::kNotFound);
  CHECK(cells.RegionStarts("u").status().code() == StatusCode::kNotFound);
}

TEST_CASE("tables and splits beyond the regions that the open files allow are refused") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  const size_t own = options.tables.size();
  options.open_files_max = (own + 4) * region::kFilesPerRegion;
  auto store = Embedded::Open(options);
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  TableDescriptor table{"t", {{"f"}}, false};
  table.splits = {"b", "c", "d", "e"};
  CHECK(cells.CreateTable(table).code() == StatusCode::kLimitExceeded);
  table.splits = {"b", "c"};
  REQUIRE(cells.CreateTable(table).ok());
  REQUIRE(cells.Split("t", "", "a").ok());
  CHECK(cells.Split("t", "x", "y").status().code() == StatusCode::kLimitExceeded);
  CHECK(cells.CreateTable({"u", {{"f"}}, false}).code() == StatusCode::kLimitExceeded);
  REQUIRE(cells.MergeRegions("t", "a").ok());
  CHECK(cells.Split("t", "x", "y").ok());
  store = Status::Unavailable("closed");
  options.open_files_max = 1;  // the store's own tables are needed in any case
  CHECK(Embedded::Open(options).ok());
}

TEST_CASE("salted series are spread evenly over the regions of their buckets") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  options.layout.salt_width = 1;
  options.layout.salt_buckets = 8;
  auto store = Embedded::Open(options);
  REQUIRE(store.ok());
  WriteRows((*store)->points(), {1, 2, 3, 4}, 1, 2000);
  REQUIRE((*store)->cells().Flush().ok());
  const auto regions = Regions((*store)->cells());
  REQUIRE(regions.size() == 8);
  uint64_t total = 0;
  for (const RegionInfo& region : regions) total += region.file_bytes;
  for (const RegionInfo& region : regions) {
    CHECK(static_cast<double>(region.file_bytes) > 0.8 * static_cast<double>(total) / 8);
    CHECK(static_cast<double>(region.file_bytes) < 1.2 * static_cast<double>(total) / 8);
  }
}

TEST_CASE("a split rewrites nothing, and both halves are read exactly up to the key") {
  TempFolder folder;
  for (const std::optional<uint32_t> base :
       {std::optional<uint32_t>(), std::optional(kBase + 7200)}) {
    const std::string path = folder.path() + (base ? "/hour" : "/metric");
    auto store = Embedded::Open(Options(path));
    REQUIRE(store.ok());
    Store& cells = (*store)->cells();
    WriteRows((*store)->points(), {1, 2, 3}, 5, 3);
    REQUIRE(cells
                .Mutate("tsdb", {{codec::MakeRowKey(KeyLayout(), Tsuid(1, 2), kBase + 7200),
                                  {PutCell("t", Bytes("\1\0\0", 3), "{}")}}})
                .ok());
    REQUIRE(cells.Flush().ok());
    const std::string before = Dump(cells);
    const auto files = PartFilesIn(path);
    const Bytes key = Key(2, base);
    REQUIRE(cells.Split("tsdb", key, key).ok());
    CHECK(PartFilesIn(path) == files);
    CHECK(Starts(cells) == " " + ToHex(key) + " ");
    CHECK(Regions(cells)[0].references == 1);
    CHECK(Regions(cells)[1].references == 1);
    CHECK((*store)->Stats().splits == 1);
    for (int round = 0; round < 3; ++round) {
      CHECK(Dump((*store)->cells()) == before);
      for (const uint64_t metric : {1, 2, 3}) CHECK(CountPoints((*store)->points(), metric) == 15);
      if (round == 0) REQUIRE((*store)->cells().CompactTable("tsdb").ok());
      if (round == 1) {
        store->reset();
        store = Embedded::Open(Options(path));
        REQUIRE(store.ok());
      }
    }
    CHECK(Regions((*store)->cells())[0].references == 0);
  }
}

TEST_CASE(
    "a region is not split again, and no file of the parent is removed, before its "
    "references are rewritten") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  WriteRows((*store)->points(), {1, 2, 3, 4}, 2);
  REQUIRE(cells.Flush().ok());
  REQUIRE(cells.Split("tsdb", "", Key(3)).ok());
  const auto parents = PartFilesIn(folder.path());
  CHECK(cells.Split("tsdb", "", Key(2)).status().code() == StatusCode::kConflict);
  CHECK(cells.Split("tsdb", Key(3), {}).status().code() == StatusCode::kConflict);
  // A merge of all files rewrites the references of both halves. Then the files of the parent are
  // removed.
  ScanSpec spec;
  spec.table = "tsdb";
  auto cursor = cells.Scan(spec);  // a reader keeps the files that it reads
  REQUIRE(cells.CompactTable("tsdb").ok());
  cursor = Status::NotFound("");
  REQUIRE(cells.Flush().ok());  // removes the files that the reader used
  const auto children = PartFilesIn(folder.path());
  for (const std::string& name : parents) {
    // The series table is separate.
    if (name.find(".points") != std::string::npos) CHECK(!children.contains(name));
  }
  REQUIRE(cells.Split("tsdb", "", Key(2)).ok());
  CHECK(Starts(cells) == " 000002 000003 ");
}

TEST_CASE("merging one half of a split keeps the files of the parent for the other half") {
  TempFolder folder;
  ManualClock clock(int64_t{kBase} * 1000);
  auto engine = engine::Engine::Open(Options(folder.path()), PosixFileSystem(), clock);
  REQUIRE(engine.ok());
  engine::Engine& e = **engine;
  const engine::Table* table = *e.FindTable("tsdb-uid");
  for (const char* key : {"a", "b", "c", "d"}) {
    REQUIRE(e.Write(*table, key, {PutCell("id", "q", key)}).ok());
  }
  REQUIRE(e.Flush().ok());
  REQUIRE(e.Split(*table, "", Bytes("c")).ok());
  const auto parents = PartFilesIn(folder.path());
  const auto numbers = [&] {
    std::multiset<uint64_t> all;
    for (const auto& [place, parts] : e.Pin()->parts) {
      for (const auto& part : parts) {
        if (place.first == table->id) all.insert(part->entry().number);
      }
    }
    return all;
  };
  REQUIRE(numbers().size() == 2);
  const uint64_t parent = *numbers().begin();
  CHECK(numbers().count(parent) == 2);
  // Merged regions are rewritten as one: both references are gone, and so is the file.
  REQUIRE(e.MergeRegions(*table, "c").ok());
  CHECK(numbers().count(parent) == 0);
  CHECK(numbers().size() == 1);
  CHECK(!std::filesystem::exists(engine::Part::CellsPath(folder.path(), parent)));
  CHECK(PartFilesIn(folder.path()).size() == parents.size());
  // After another split, background merges begin with its halves.
  REQUIRE(e.Split(*table, "", Bytes("c")).ok());
  const uint64_t second = *numbers().begin();
  REQUIRE(e.MergePending(engine::Engine::MergePool::kAny).ok());
  CHECK(numbers().count(second) == 0);
  CHECK(numbers().size() == 2);
  CHECK(!std::filesystem::exists(engine::Part::CellsPath(folder.path(), second)));
}

TEST_CASE("a forced split uses a key within the region, cut to a whole group of rows") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  const Bytes row = codec::MakeRowKey(KeyLayout(), Tsuid(1, 2), kBase);
  const auto split = cells.Split("tsdb", row, row);
  REQUIRE(split.ok());
  CHECK(*split == Key(2, kBase));
  const auto refused = [&](const Bytes& in, const Bytes& at) {
    const Status status = cells.Split("tsdb", in, at).status();
    CHECK(status.code() == StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  refused("", "");
  CHECK(refused("", Key(3)).find("\\x00\\x00\\x03") != std::string::npos);
  refused(Key(3), Key(1));
  refused(row, row);
  // The group of rows at a region's start has no key at which the region can be split.
  refused(row, codec::MakeRowKey(KeyLayout(), Tsuid(7, 2), kBase));
  CHECK(cells.Split("none", "", Key(3)).status().code() == StatusCode::kNotFound);
}

TEST_CASE("the end of its request ends a compaction, a merge of regions and a check of the files") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  WriteRows((*store)->points(), {1, 5}, 100, 30);
  REQUIRE(cells.Flush().ok());
  REQUIRE(cells.Split("tsdb", "", Key(5)).ok());
  const size_t points = CountPoints((*store)->points(), 5);
  FakeWatch ended;
  ended.checks_max = 0;
  CHECK(cells.Compact(&ended).code() == StatusCode::kDeadlineExceeded);
  CHECK(cells.CompactTable("tsdb", &ended).code() == StatusCode::kDeadlineExceeded);
  CHECK(cells.MergeRegions("tsdb", Key(5), &ended).code() == StatusCode::kDeadlineExceeded);
  CHECK((*store)->maintenance().Check(&ended).status().code() == StatusCode::kDeadlineExceeded);
  CHECK(Regions(cells).size() == 2);
  REQUIRE(cells.Compact().ok());
  REQUIRE(cells.MergeRegions("tsdb", Key(5)).ok());
  CHECK((*store)->maintenance().Check()->damages.empty());
  CHECK(CountPoints((*store)->points(), 5) == points);
}

TEST_CASE("a computed split halves the files, and a single group of rows is refused") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  CHECK(cells.Split("tsdb", "", {}).status().code() == StatusCode::kConflict);
  WriteRows((*store)->points(), {5}, 1, 30);
  REQUIRE(cells.Flush().ok());
  CHECK(cells.Split("tsdb", "", {}).status().code() == StatusCode::kConflict);
  WriteRows((*store)->points(), {5}, 100, 30);
  REQUIRE(cells.Flush().ok());
  REQUIRE(cells.Compact().ok());
  const auto split = cells.Split("tsdb", "", {});
  REQUIRE(split.ok());
  CHECK(split->substr(0, 3) == Key(5));
  CHECK(*split == Key(5, kBase + 2 * 86400));
  REQUIRE(cells.CompactTable("tsdb").ok());
  const auto regions = Regions(cells);
  const auto left = static_cast<double>(regions[0].file_bytes);
  const auto right = static_cast<double>(regions[1].file_bytes);
  CHECK(left / (left + right) > 0.4);
  CHECK(left / (left + right) < 0.6);

  // A single row is never split.
  REQUIRE(cells.Mutate("tsdb-uid", {{"row", {PutCell("id", "q", Bytes(1 << 20, 'x'))}}}).ok());
  REQUIRE(cells.Flush().ok());
  CHECK(cells.Split("tsdb-uid", "", {}).status().code() == StatusCode::kConflict);
}

TEST_CASE("merged regions are as before the split, and salt buckets stay separate") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  options.layout.salt_width = 1;
  options.layout.salt_buckets = 2;
  auto store = Embedded::Open(options);
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  WriteRows((*store)->points(), {1, 2}, 4, 5);
  REQUIRE(cells.Flush().ok());
  WriteRows((*store)->points(), {2}, 4, 3);
  const std::string before = Dump(cells);
  Bytes key(1, '\1');
  key += Key(2, kBase + 7200);
  REQUIRE(cells.Split("tsdb", key, key).ok());
  REQUIRE(cells.Flush().ok());
  CHECK(Starts(cells) == " 01 " + ToHex(key) + " ");
  CHECK(Dump(cells) == before);
  REQUIRE(cells.MergeRegions("tsdb", key).ok());
  CHECK(Starts(cells) == " 01 ");
  CHECK(Dump(cells) == before);
  CHECK(cells.MergeRegions("tsdb", Bytes(1, '\1')).code() == StatusCode::kInvalidArgument);
  CHECK(cells.MergeRegions("tsdb", key).code() == StatusCode::kInvalidArgument);
  CHECK(cells.MergeRegions("tsdb", "").code() == StatusCode::kInvalidArgument);
}

TEST_CASE(
    "splits and merges of regions under load lose nothing, repeat nothing and fail no request") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  options.background = true;
  auto store = Embedded::Open(options);
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  Points& points = (*store)->points();
  std::atomic<bool> stop{false};
  std::atomic<size_t> acknowledged{0};
  std::atomic<size_t> scans{0};
  // The rows must not grow faster than the rounds: each round reads and rewrites all of them.
  constexpr uint32_t kPointsPerRound = 500;
  std::atomic<uint32_t> allowed{0};
  std::thread writer([&] {
    for (uint32_t i = 0; !stop; ++i) {
      while (i >= allowed && !stop) std::this_thread::yield();
      const auto number = points.Register(Tsuid(i % 50));
      if (!number.ok()) continue;  // busy, if the machine is slow
      const PointEntry entry =
          MakePointEntry(*number, Timestamp{kBase + int64_t{i} * 11}, PointValue::Int(i));
      const auto position = points.Append({&entry, 1});
      if (!position.ok()) continue;
      if (CommitAndWait(points, *position).ok()) ++acknowledged;
    }
  });
  std::atomic<bool> failed{false};
  std::thread reader([&] {
    PointScanSpec spec;
    spec.metric = Key(1);
    while (!stop) {
      const size_t at_least = acknowledged;
      auto scan = points.Scan(spec, {});
      std::set<std::pair<Bytes, uint32_t>> rows;
      size_t count = 0;
      for (RowHour row;;) {
        auto more = (*scan)->Next(&row);
        if (!more.ok()) failed = true;
        if (!more.ok() || !*more) break;
        if (!rows.emplace(Bytes(row.tsuid), row.base).second) failed = true;
        count += row.value.size();
      }
      if (count < at_least) failed = true;
      ++scans;
    }
  });
  size_t splits = 0;
  for (int round = 0; splits < 100; ++round) {
    REQUIRE(round < 10'000);
    allowed += kPointsPerRound;
    const auto regions = Regions(cells);
    const uint32_t base = kBase + static_cast<uint32_t>(round * 7 % 60) * 3600;
    const auto split = cells.Split("tsdb", Key(1, base), Key(1, base));
    splits += split.ok() ? 1 : 0;
    if (round % 3 == 0) REQUIRE(cells.Flush().ok());
    if (round % 5 == 0) REQUIRE(cells.CompactTable("tsdb").ok());
    if (regions.size() > 8) REQUIRE(cells.MergeRegions("tsdb", regions[4].start).ok());
  }
  while (scans == 0) std::this_thread::yield();
  stop = true;
  writer.join();
  reader.join();
  CHECK(!failed);
  CHECK(CountPoints(points, 1) == acknowledged);
}

TEST_CASE("the writes and reads of each region are counted, in memory and after a flush") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  REQUIRE(cells.Split("tsdb", "", Key(2)).ok());
  TableDescriptor table{"t", {{"f"}}, false};
  table.splits = {"m"};
  REQUIRE(cells.CreateTable(table).ok());
  const auto loads = [&](const std::string& of, bool reads) {
    std::vector<uint64_t> counts;
    for (const RegionInfo& region : Regions(cells, of)) {
      counts.push_back(reads ? region.reads : region.writes);
    }
    return counts;
  };
  using Counts = std::vector<uint64_t>;
  WriteRows((*store)->points(), {1}, 3, 5);
  WriteRows((*store)->points(), {2}, 10, 5);
  const Counts before = loads("tsdb", false);
  CHECK(before[0] > 0);
  CHECK(before[1] * 3 == before[0] * 10);
  REQUIRE(cells.Mutate("t", {{"a", {PutCell("f", "q", "1"), PutCell("f", "r", "1")}}}).ok());
  CHECK(loads("t", false) == Counts{2, 0});
  REQUIRE(cells.Flush().ok());
  CHECK(loads("tsdb", false) == before);
  CHECK(loads("t", false) == Counts{2, 0});
  REQUIRE(cells.Mutate("t", {{"a", {PutCell("f", "s", "1")}}}).ok());
  REQUIRE(cells.Compact().ok());
  CHECK(loads("t", false) == Counts{3, 0});

  CHECK(loads("t", true) == Counts{0, 0});
  REQUIRE(cells.Get("t", "a").ok());
  REQUIRE(cells.Get("t", "z").ok());
  REQUIRE(cells.Get("t", "zz").ok());
  CHECK(loads("t", true) == Counts{1, 2});
  Dump(cells, "t");
  CHECK(loads("t", true) == Counts{2, 3});
  const Counts of_points = loads("tsdb", true);
  CHECK(CountPoints((*store)->points(), 2) > 0);
  CHECK(loads("tsdb", true) == Counts{of_points[0], of_points[1] + 1});
}

TEST_CASE("the memory of each region is reported, in proportion to its rows") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  REQUIRE(cells.Split("tsdb", "", Key(2)).ok());
  REQUIRE(cells.Split("tsdb", Key(2), Key(2, kBase + 7200)).ok());
  WriteRows((*store)->points(), {1}, 10, 10);
  WriteRows((*store)->points(), {2}, 10, 10);
  const auto regions = Regions(cells);
  REQUIRE(regions.size() == 3);
  const uint64_t total =
      regions[0].memory_bytes + regions[1].memory_bytes + regions[2].memory_bytes;
  CHECK(total == (*store)->Stats().memory_bytes);
  CHECK(regions[1].memory_bytes == total * 20 / 200);
  CHECK(regions[2].memory_bytes == total * 80 / 200);
  REQUIRE(cells.Flush().ok());
  CHECK(Regions(cells)[2].memory_bytes == 0);
  CHECK(Regions(cells)[2].file_bytes > 0);
}

TEST_CASE("a request that ends stops the computation of the regions' memory") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  constexpr uint64_t kRows = 100;
  WriteRows((*store)->points(), {1}, 10, kRows / 10);
  REQUIRE(cells.CreateTable({"t", {{"f"}}, false}).ok());
  for (uint64_t row = 0; row < kRows; ++row)
    REQUIRE(cells.Mutate("t", {{std::to_string(row), {PutCell("f", "q", "v")}}}).ok());
  for (const char* table : {"tsdb", "t"}) {
    CAPTURE(table);
    FakeWatch watch;
    REQUIRE(cells.Regions(table, &watch).ok());
    const uint64_t all = watch.steps;
    CHECK(all >= kRows);
    for (const uint64_t steps_max : {uint64_t{0}, all / 2, all - 1}) {
      watch.steps = 0;
      watch.steps_max = steps_max;
      CHECK(cells.Regions(table, &watch).status().code() == StatusCode::kDeadlineExceeded);
      CHECK(watch.bytes == 0);
    }
  }
}

}  // namespace
}  // namespace hg
