// Regions of the embedded store: how tables are divided and joined, by whom and when, and what
// becomes of their files (spec region-store.md §5 and §6).

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
#include "storage/points/embedded.h"
#include "storage/points/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/points/embedded/temp_folder.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1699920000;  // a day's first hour

EmbeddedOptions Options(const std::string& path) {
  EmbeddedOptions options;
  options.path = path;
  options.background = false;
  return options;
}

Bytes Tsuid(uint64_t metric, uint64_t host = 1) {
  Bytes tsuid;
  AppendBig(&tsuid, metric, 3);
  AppendBig(&tsuid, 1, 3);
  AppendBig(&tsuid, host, 3);
  return tsuid;
}

void WritePoint(Points& points, const Bytes& tsuid, int64_t time, int64_t value) {
  const auto number = points.Register(tsuid);
  REQUIRE(number.ok());
  const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
  const auto position = points.Append({&entry, 1});
  REQUIRE(position.ok());
  points.Commit(*position, [](const Status& status) { REQUIRE(status.ok()); });
}

// Each metric has a row of one point for each host and hour.
void WriteRows(Points& points, std::initializer_list<uint64_t> metrics, uint32_t hours,
               uint64_t hosts = 1) {
  for (const uint64_t metric : metrics) {
    for (uint64_t host = 1; host <= hosts; ++host) {
      for (uint32_t hour = 0; hour < hours; ++hour) {
        WritePoint(points, Tsuid(metric, host), kBase + hour * 3600, hour);
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

size_t CountPoints(Points& points, uint64_t metric) {
  PointScanSpec spec;
  AppendBig(&spec.metric, metric, 3);
  auto scan = points.Scan(spec, {});
  REQUIRE(scan.ok());
  size_t count = 0;
  for (RowHour row;;) {
    auto more = (*scan)->Next(&row);
    REQUIRE(more.ok());
    if (!*more) return count;
    count += row.value.size();
  }
}

std::vector<RegionInfo> Regions(Store& store, const std::string& table = "tsdb") {
  const auto regions = store.Regions(table);
  REQUIRE(regions.ok());
  for (size_t i = 0; i < regions->size(); ++i) {
    CHECK((i == 0) == (*regions)[i].start.empty());
    CHECK((*regions)[i].stop == (i + 1 < regions->size() ? (*regions)[i + 1].start : Bytes()));
  }
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

std::set<std::string> RunFilesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (ending == ".cells" || ending == ".points") names.insert(entry.path().filename());
  }
  return names;
}

// 4 salt buckets; among its cells are keys of salts that no series has, which the first version
// kept with those of the first bucket.
TEST_CASE("a data directory of before regions is read, keys of no bucket included") {
  const std::string fixtures = HG_SOURCE_DIR "/tests/storage/points/embedded/fixtures/salted_v1";
  std::ifstream file(fixtures + ".dump");
  std::stringstream expected;
  expected << file.rdbuf();
  TempFolder folder;
  std::filesystem::copy(fixtures, folder.path(), std::filesystem::copy_options::recursive);
  EmbeddedOptions options = Options(folder.path());
  options.layout.salt_width = 1;
  options.layout.salt_buckets = 4;
  for (int round = 0; round < 2; ++round) {
    auto store = Embedded::Open(options);
    INFO(store.status().ToString());
    REQUIRE(store.ok());
    Store& cells = (*store)->cells();
    CHECK(Starts(cells) == " 01 02 03 ");
    CHECK(Dump(cells) == expected.str());
    CHECK(Regions(cells)[3].references == (round == 0 ? 1 : 0));
    REQUIRE(cells.Compact().ok());
    CHECK(Dump(cells) == expected.str());
    CHECK(Regions(cells)[3].references == 0);
    REQUIRE((*store)->Check().ok());
  }
}

TEST_CASE("n keys make a table of n+1 regions") {
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
}

TEST_CASE("salted series are spread evenly over the regions of the buckets") {
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

TEST_CASE("a split rewrites nothing, and both halves are read up to the key exactly") {
  TempFolder folder;
  for (const std::optional<uint32_t> base : {std::optional<uint32_t>(), std::optional(kBase + 7200)}) {
    const std::string path = folder.path() + (base ? "/hour" : "/metric");
    auto store = Embedded::Open(Options(path));
    REQUIRE(store.ok());
    Store& cells = (*store)->cells();
    WriteRows((*store)->points(), {1, 2, 3}, 5, 3);
    REQUIRE(cells.Mutate("tsdb", {{codec::MakeRowKey(KeyLayout(), Tsuid(2), kBase + 7200),
                                   {PutCell("t", Bytes("\1\0\0", 3), "{}")}}})
                .ok());
    REQUIRE(cells.Flush().ok());
    const std::string before = Dump(cells);
    const auto files = RunFilesIn(path);
    const Bytes key = Key(2, base);
    REQUIRE(cells.Split("tsdb", key, key).ok());
    CHECK(RunFilesIn(path) == files);
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

TEST_CASE("a region is not split again before its references are gone, nor files before them") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  WriteRows((*store)->points(), {1, 2, 3, 4}, 2);
  REQUIRE(cells.Flush().ok());
  REQUIRE(cells.Split("tsdb", "", Key(3)).ok());
  const auto parents = RunFilesIn(folder.path());
  CHECK(cells.Split("tsdb", "", Key(2)).status().code() == StatusCode::kConflict);
  CHECK(cells.Split("tsdb", Key(3), {}).status().code() == StatusCode::kConflict);
  // Joining rewrites them, too; so does a merge of one child, after which the other still has them.
  ScanSpec spec;
  spec.table = "tsdb";
  auto cursor = cells.Scan(spec);  // a reader keeps what it reads
  REQUIRE(cells.CompactTable("tsdb").ok());
  cursor = Status::NotFound("");
  const auto children = RunFilesIn(folder.path());
  for (const std::string& name : parents) {
    // The series table is another one.
    if (name.find(".points") != std::string::npos) CHECK(!children.contains(name));
  }
  REQUIRE(cells.Split("tsdb", "", Key(2)).ok());
  CHECK(Starts(cells) == " 000002 000003 ");
}

TEST_CASE("a child that is merged leaves the other one its parent's files") {
  TempFolder folder;
  ManualClock clock(int64_t{kBase} * 1000);
  auto engine = points::Engine::Open(Options(folder.path()), PosixFileSystem(), clock);
  REQUIRE(engine.ok());
  points::Engine& e = **engine;
  const points::Table* table = *e.FindTable("tsdb-uid");
  for (const char* key : {"a", "b", "c", "d"}) {
    REQUIRE(e.Write(*table, key, {PutCell("id", "q", key)}).ok());
  }
  REQUIRE(e.Flush().ok());
  REQUIRE(e.Split(*table, "", Bytes("c")).ok());
  const auto parents = RunFilesIn(folder.path());
  const auto numbers = [&] {
    std::multiset<uint64_t> all;
    for (const auto& [place, runs] : e.Pin()->runs) {
      for (const auto& run : runs) {
        if (place.first == table->id) all.insert(run->entry().number);
      }
    }
    return all;
  };
  REQUIRE(numbers().size() == 2);
  const uint64_t parent = *numbers().begin();
  CHECK(numbers().count(parent) == 2);
  // Joined regions are rewritten as one: both references are gone, and the file with them.
  REQUIRE(e.MergeRegions(*table, "c").ok());
  CHECK(numbers().count(parent) == 0);
  CHECK(numbers().size() == 1);
  CHECK(!std::filesystem::exists(points::Run::CellsPath(folder.path(), parent)));
  CHECK(RunFilesIn(folder.path()).size() == parents.size());
  // Another split, whose children the background would merge first of all.
  REQUIRE(e.Split(*table, "", Bytes("c")).ok());
  const uint64_t second = *numbers().begin();
  REQUIRE(e.MergePending(points::Engine::MergePool::kAny).ok());
  CHECK(numbers().count(second) == 0);
  CHECK(numbers().size() == 2);
  CHECK(!std::filesystem::exists(points::Run::CellsPath(folder.path(), second)));
}

TEST_CASE("a forced split takes a key within the region, cut to a whole group") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  const Bytes row = codec::MakeRowKey(KeyLayout(), Tsuid(2), kBase);
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
  // In a group that is a region's start there is no other key.
  refused(row, codec::MakeRowKey(KeyLayout(), Tsuid(2, 7), kBase));
  CHECK(cells.Split("none", "", Key(3)).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a computed split halves the files; one group of rows is refused") {
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

  // One row is never divided.
  REQUIRE(cells.Mutate("tsdb-uid", {{"row", {PutCell("id", "q", Bytes(1 << 20, 'x'))}}}).ok());
  REQUIRE(cells.Flush().ok());
  CHECK(cells.Split("tsdb-uid", "", {}).status().code() == StatusCode::kConflict);
}

TEST_CASE("regions that are joined are as before the split; salt buckets stay apart") {
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

TEST_CASE("splits and joins under full load lose nothing, show nothing twice, fail nobody") {
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
  std::thread writer([&] {
    for (uint32_t i = 0; !stop; ++i) {
      const auto number = points.Register(Tsuid(1, i % 50));
      const PointEntry entry =
          MakePointEntry(*number, Timestamp{kBase + int64_t{i} * 11}, PointValue::Int(i));
      const auto position = points.Append({&entry, 1});
      std::atomic<int> done{0};
      points.Commit(*position, [&](const Status& status) { done = status.ok() ? 1 : 2; });
      while (done == 0) std::this_thread::yield();
      if (done == 1) ++acknowledged;
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
    const auto regions = Regions(cells);
    const uint32_t base = kBase + static_cast<uint32_t>(round * 7 % 60) * 3600;
    const auto split = cells.Split("tsdb", Key(1, base), Key(1, base));
    splits += split.ok() ? 1 : 0;
    if (round % 3 == 0) REQUIRE(cells.Flush().ok());
    if (round % 5 == 0) REQUIRE(cells.CompactTable("tsdb").ok());
    if (regions.size() > 8) REQUIRE(cells.MergeRegions("tsdb", regions[4].start).ok());
  }
  stop = true;
  writer.join();
  reader.join();
  CHECK(!failed);
  CHECK(scans > 0);
  CHECK(CountPoints(points, 1) == acknowledged);
}

struct Fixture {
  explicit Fixture(EmbeddedOptions options, int64_t now_ms = int64_t{kBase} * 1000)
      : clock(now_ms) {
    options.path = folder.path();
    auto opened = points::Engine::Open(options, PosixFileSystem(), clock);
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    table = *engine->FindTable("tsdb-uid");
  }

  void Put(const Bytes& key, const Bytes& value = "v") {
    REQUIRE(engine->Write(*table, key, {PutCell("id", "q", value)}).ok());
  }
  [[nodiscard]] points::Runs RunsOf(const Bytes& key) const {
    const auto version = engine->Pin();
    return version->RunsOf(table->id, version->RegionsOf(table->id).IdOf(key));
  }
  [[nodiscard]] size_t CountRegions() const {
    return engine->Pin()->RegionsOf(table->id).count();
  }
  [[nodiscard]] bool AnyMarks(const Bytes& key) const {
    const auto runs = RunsOf(key);
    return std::any_of(runs.begin(), runs.end(),
                       [](const auto& run) { return run->entry().marks; });
  }

  TempFolder folder;
  ManualClock clock;
  std::unique_ptr<points::Engine> engine;
  const points::Table* table = nullptr;
};

using Pool = points::Engine::MergePool;

TEST_CASE("a region is divided at the very byte of its threshold, and never without a policy") {
  EmbeddedOptions options = Options("");
  const auto count_at = [&](region::SplitRule rule, int64_t more) {
    uint64_t bytes = 0;
    for (const bool measure : {true, false}) {
      options.split.rule = measure ? region::SplitRule::kNone : rule;
      options.split.jitter = 0;
      options.split.bytes_max = bytes + static_cast<uint64_t>(more);
      Fixture f(options);
      for (const char* key : {"a", "b", "c", "d"}) f.Put(key, Bytes(1000, 'x'));
      REQUIRE(f.engine->Flush().ok());
      bytes = f.RunsOf("a")[0]->bytes();
      REQUIRE(f.engine->SplitWhereDue().ok());
      if (!measure) return f.CountRegions();
    }
    return size_t{0};
  };
  CHECK(count_at(region::SplitRule::kConstant, 0) == 2);
  CHECK(count_at(region::SplitRule::kConstant, 1) == 1);
  CHECK(count_at(region::SplitRule::kNone, -1000) == 1);
}

TEST_CASE("one group that is too large is left alone, not tried for ever") {
  EmbeddedOptions options = Options("");
  options.split.rule = region::SplitRule::kConstant;
  options.split.bytes_max = 1;
  Fixture f(options);
  f.Put("row", Bytes(1000, 'x'));
  REQUIRE(f.engine->Flush().ok());
  for (int i = 0; i < 3; ++i) REQUIRE(f.engine->SplitWhereDue().ok());
  CHECK(f.CountRegions() == 1);
}

TEST_CASE("no region is divided by itself once there are as many as there may be") {
  EmbeddedOptions options = Options("");
  options.split.rule = region::SplitRule::kConstant;
  options.split.bytes_max = 1;
  options.split.regions_max = 6;  // of five tables
  Fixture f(options);
  for (int i = 0; i < 50; ++i) f.Put("row" + std::to_string(i));
  for (int i = 0; i < 5; ++i) {
    REQUIRE(f.engine->Flush().ok());
    REQUIRE(f.engine->SplitWhereDue().ok());
    REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  }
  CHECK(f.engine->Stats().regions == 6);
}

TEST_CASE("a minor merge keeps marks, one of all drops them") {
  EmbeddedOptions options = Options("");
  Fixture f(options);
  f.Put("row", "old");
  f.Put("other");
  REQUIRE(f.engine->Flush().ok());
  // Older than the rest together: a merge of the newer ones only.
  for (int i = 0; i < 40; ++i) f.Put("big" + std::to_string(i), [&] {
    Bytes noise;
    for (uint64_t n = 0; n < 1 << 16; ++n) {
      AppendBig(&noise, (n + static_cast<uint64_t>(i)) * 0x9E3779B97F4A7C15, 8);
    }
    return noise;
  }());
  REQUIRE(f.engine->Flush().ok());
  REQUIRE(f.engine->Compact(*f.table).ok());
  REQUIRE(f.engine->Write(*f.table, "row", {DeleteColumn("id", "q")}).ok());
  REQUIRE(f.engine->Flush().ok());
  for (int i = 0; i < 2; ++i) {
    f.Put("more" + std::to_string(i));
    REQUIRE(f.engine->Flush().ok());
  }
  REQUIRE(f.RunsOf("row").size() == 4);
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  CHECK(f.RunsOf("row").size() == 2);
  CHECK(f.AnyMarks("row"));
  const auto row = f.engine->Read(*f.engine->Pin(), *f.table, "row");
  REQUIRE(row.ok());
  CHECK(row->cells.Find(0, "q") != nullptr);
  // After its time, by itself (spec region-store.md C4).
  f.clock.AdvanceMs(int64_t{11} * 24 * 3'600'000);
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  CHECK(f.RunsOf("row").size() == 1);
  CHECK(!f.AnyMarks("row"));
  CHECK(f.engine->Read(*f.engine->Pin(), *f.table, "row")->cells.empty());
}

TEST_CASE("an idle store with one cell is flushed within its time and a tenth") {
  EmbeddedOptions options = Options("");
  Fixture f(options);
  f.Put("row");
  f.clock.AdvanceMs(options.flush_age_ms - 1);
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.RunsOf("row").empty());
  f.clock.AdvanceMs(options.flush_age_ms / 10 + 1);
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.RunsOf("row").size() == 1);
}

TEST_CASE("where merges lag, flushes are put off: one more file for each 90 s") {
  EmbeddedOptions options = Options("");
  options.flush_age_ms = 1000;
  Fixture f(options);
  for (int i = 0; i < 16; ++i) {
    f.Put("row");
    REQUIRE(f.engine->Flush().ok());
  }
  for (size_t more = 1; more <= 2; ++more) {
    f.Put("row");
    f.clock.AdvanceMs(2000);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    f.clock.AdvanceMs(89'999);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    CHECK(f.RunsOf("row").size() == 15 + more);
    f.clock.AdvanceMs(1);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    CHECK(f.RunsOf("row").size() == 16 + more);
  }
  // Merged, the next one is in time.
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  f.Put("row");
  f.clock.AdvanceMs(2000);
  const size_t runs = f.RunsOf("row").size();
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.RunsOf("row").size() == runs + 1);
}

TEST_CASE("a flush that is asked for is not put off") {
  EmbeddedOptions options = Options("");
  Fixture f(options);
  for (size_t i = 1; i <= 20; ++i) {
    f.Put("row");
    REQUIRE(f.engine->Flush().ok());
    CHECK(f.RunsOf("row").size() == i);
  }
}

TEST_CASE("each of the two pools merges what is of its size") {
  EmbeddedOptions options = Options("");
  options.merge.large_bytes = 2000;
  Fixture f(options);
  const auto noise = [](uint64_t seed) {
    Bytes bytes;
    for (uint64_t n = 0; n < 256; ++n) AppendBig(&bytes, (n + seed) * 0x9E3779B97F4A7C15, 8);
    return bytes;
  };
  REQUIRE(f.engine->Split(*f.table, "", Bytes("m")).ok());
  for (uint64_t i = 0; i < 3; ++i) {
    f.Put("small");
    f.Put("a large one" + std::to_string(i), noise(i));
    REQUIRE(f.engine->Flush().ok());
  }
  REQUIRE(f.RunsOf("a").size() == 3);
  REQUIRE(f.RunsOf("small").size() == 3);
  REQUIRE(f.engine->MergePending(Pool::kSmall).ok());
  CHECK(f.RunsOf("a").size() == 3);
  CHECK(f.RunsOf("small").size() == 1);
  REQUIRE(f.engine->MergePending(Pool::kLarge).ok());
  CHECK(f.RunsOf("a").size() == 1);
}

TEST_CASE("an idle region does not keep the log of a busy one") {
  EmbeddedOptions options = Options("");
  options.log_file_bytes = 1 << 12;
  options.log_max_bytes = 1 << 16;
  Fixture f(options);
  REQUIRE(f.engine->Split(*f.table, "", Bytes("m")).ok());
  f.Put("idle");
  size_t log_files_max = 0;
  for (int i = 0; i < 2000; ++i) {
    f.Put("z" + std::to_string(i), Bytes(100, 'x'));
    REQUIRE(f.engine->FlushIfNeeded().ok());
    size_t log_files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(f.folder.path())) {
      log_files += entry.path().extension() == ".log" ? 1 : 0;
    }
    log_files_max = std::max(log_files_max, log_files);
  }
  CHECK(f.RunsOf("idle").size() == 1);
  CHECK(f.RunsOf("z").size() > 2);
  CHECK(f.engine->Stats().log_bytes <= (1 << 16) + 4096);
  CHECK(log_files_max < 2 * ((1 << 16) / (1 << 12)) + 4);
}

}  // namespace
}  // namespace hg
