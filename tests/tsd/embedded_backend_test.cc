#include "tsd/embedded_backend.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "storage/codec/append_cell.h"
#include "tests/support/manual_clock.h"
#include "tsd/log.h"

namespace hg::tsd {
namespace {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("embedded_backend_test." + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] Config Settings() const {
    Config config;
    config.Set("tsd.storage.path", path_.string());
    config.Set("tsd.memory.limit", "67108864");
    return config;
  }

 private:
  std::filesystem::path path_;
};

const Bytes kTsuid("\0\0\1\0\0\1\0\0\1", 9);

void Put(Backend& backend, int64_t time, int64_t value) {
  Points& points = backend.points();
  const auto series = points.Register(kTsuid);
  REQUIRE(series.ok());
  const PointEntry entry = MakePointEntry(*series, Timestamp{time}, PointValue::Int(value));
  REQUIRE(points.Append({&entry, 1}).ok());
}

std::vector<Cell> OnlyRow(Backend& backend) {
  ScanSpec spec;
  spec.table = "tsdb";
  auto cursor = backend.cells().Scan(spec);
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  REQUIRE((*cursor)->Next(&rows).ok());
  REQUIRE(rows.size() == 1);
  return rows[0].cells;
}

TEST_CASE(
    "the directory of a running process is busy, and the error has the description of the "
    "process") {
  const Folder folder;
  const auto first = OpenEmbeddedBackend(folder.Settings(), "the first one");
  REQUIRE(first.ok());
  const auto second = OpenEmbeddedBackend(folder.Settings(), "the second one");
  CHECK(second.status().code() == StatusCode::kBusy);
  CHECK(second.status().message().find("the first one") != std::string_view::npos);
  CHECK((*first)->Close().ok());
  CHECK(OpenEmbeddedBackend(folder.Settings(), "the third one").ok());
}

// Returns the error of the store when its memory is full.
Status AppendUntilRefused(Points& points) {
  const auto series = points.Register(kTsuid);
  REQUIRE(series.ok());
  Status appended;
  for (int64_t time = 1500000000; appended.ok(); time += 1000) {
    REQUIRE(time < 1600000000);
    std::vector<PointEntry> batch;
    for (int64_t i = 0; i < 1000; ++i)
      batch.push_back(MakePointEntry(*series, Timestamp{time + i}, PointValue::Int(i)));
    appended = points.Append(batch).status();
  }
  return appended;
}

TEST_CASE("an empty batch, which /readyz uses, is refused while other batches are") {
  const Folder folder;
  const auto backend = OpenEmbeddedBackend(folder.Settings(), "", StoreUse::kLook);
  REQUIRE(backend.ok());
  Points& points = (*backend)->points();
  CHECK(points.Append({}).ok());
  CHECK(AppendUntilRefused(points).code() == StatusCode::kBusy);
  CHECK(points.Append({}).status().code() == StatusCode::kBusy);
  REQUIRE((*backend)->cells().Flush().ok());
  CHECK(points.Append({}).ok());
}

TEST_CASE(
    "the log says once a minute that all writes are refused, and whether flushes or queries must "
    "free the memory") {
  const Folder folder;
  ManualClock clock(1700010000000);
  const auto backend = OpenEmbeddedBackendBy(clock, folder.Settings(), "", StoreUse::kLook);
  REQUIRE(backend.ok());
  Points& points = (*backend)->points();
  const auto lines = [] {
    std::vector<std::string> told = RecentLogLines();
    std::erase_if(told, [](const std::string& line) {
      return line.find("all writes are refused") == std::string::npos;
    });
    return told;
  };
  const size_t before = lines().size();
  const Status unflushed = AppendUntilRefused(points);
  CHECK(unflushed.code() == StatusCode::kBusy);
  CHECK(unflushed.message().find("flushed data that queries still read takes 0 MB") !=
        std::string_view::npos);
  REQUIRE(lines().size() == before + 1);
  CHECK(lines()[0].find(unflushed.message()) != std::string::npos);

  PointScanSpec spec;
  spec.metric = kTsuid.substr(0, 3);
  const auto scan = points.Scan(spec, {});
  REQUIRE(scan.ok());
  REQUIRE((*backend)->cells().Flush().ok());
  CHECK(points.Append({}).status().message().find(
            "unflushed data takes 0 MB, and flushed data that queries still read takes ") !=
        std::string_view::npos);
  CHECK(lines().size() == before + 1);
  clock.AdvanceMs(60'000);
  CHECK(points.Append({}).status().code() == StatusCode::kBusy);
  CHECK(lines().size() == before + 2);
}

TEST_CASE("an unknown value of a setting is refused with its key and value") {
  const Folder folder;
  for (const auto& [key, value] :
       {std::pair{"tsd.storage.durability", "safe"}, std::pair{"tsd.memory.limit", "1"},
        std::pair{"tsd.storage.sync_interval", "0"}}) {
    Config config = folder.Settings();
    config.Set(key, value);
    const auto opened = OpenEmbeddedBackend(config, "");
    CHECK(opened.status().code() == StatusCode::kInvalidArgument);
    CHECK(opened.status().message().find(std::string(key) + " = \"" + value) !=
          std::string_view::npos);
  }
}

TEST_CASE("other id widths than those of the directory are refused") {
  const Folder folder;
  REQUIRE(OpenEmbeddedBackend(folder.Settings(), "").ok());
  Config config = folder.Settings();
  config.Set("tsd.storage.uid.width.tagv", "4");
  CHECK(OpenEmbeddedBackend(config, "").status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("tsd.storage.ttl sets the TTL of the data table: empty keeps it, and 0 means for ever") {
  const Folder folder;
  const auto ttl_with = [&](const char* text) {
    Config config = folder.Settings();
    config.Set("tsd.storage.ttl", text);
    const auto opened = OpenEmbeddedBackend(config, "");
    REQUIRE(opened.ok());
    return (*opened)->cells().DescribeTable("tsdb")->families[0].ttl_s;
  };
  CHECK(ttl_with("") == kTtlForever);
  CHECK(ttl_with("86400") == 86400);
  CHECK(ttl_with("") == 86400);
  CHECK(ttl_with("0") == kTtlForever);
  Config config = folder.Settings();
  config.Set("tsd.storage.ttl", "-1");
  const Status status = OpenEmbeddedBackend(config, "").status();
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("tsd.storage.ttl") != std::string_view::npos);
}

TEST_CASE(
    "with enable_appends points go to the append cell and are read together with earlier points") {
  const Folder folder;
  {
    const auto native = OpenEmbeddedBackend(folder.Settings(), "");
    REQUIRE(native.ok());
    Put(**native, 1699999200, 1);
    REQUIRE((*native)->Close().ok());
  }
  Config config = folder.Settings();
  config.Set("tsd.storage.enable_appends", "true");
  const auto appending = OpenEmbeddedBackend(config, "");
  REQUIRE(appending.ok());
  Put(**appending, 1699999201, 2);
  Put(**appending, 1699999202, 3);

  const std::vector<Cell> cells = OnlyRow(**appending);
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].qualifier == Bytes("\0\0", 2));
  CHECK(cells[1].qualifier == codec::kAppendQualifier);
  CHECK(ToHex(cells[1].value) == "001002002003");

  PointScanSpec spec;
  spec.metric = kTsuid.substr(0, 3);
  auto scan = (*appending)->points().Scan(spec, {});
  REQUIRE(scan.ok());
  RowHour hour;
  REQUIRE(*(*scan)->Next(&hour));
  CHECK(std::vector<uint64_t>(hour.value.begin(), hour.value.end()) ==
        std::vector<uint64_t>{1, 2, 3});
}

// The advised number of regions is a quarter of the limit of unflushed memory, in MiB.
TEST_CASE("the first region too many for the memory gives a warning") {
  for (const bool many : {false, true}) {
    const Folder folder;
    Config config = folder.Settings();
    config.Set("tsd.memory.limit", "104857600");  // 40 MiB unflushed: 10 regions
    config.Set("tsd.storage.salt.width", "1");
    config.Set("tsd.storage.salt.buckets", many ? "8" : "7");  // there are three other tables, too
    const size_t before = RecentLogLines().size();
    REQUIRE(OpenEmbeddedBackend(config, "").ok());
    const auto lines = RecentLogLines();
    CHECK((lines.size() > before && lines[0].find("11 regions") != std::string::npos) == many);
  }
}

TEST_CASE("a table with more than three families gives a warning when created and at each start") {
  const Folder folder;
  const auto warned = [](size_t before) {
    const auto lines = RecentLogLines();
    return lines.size() > before && lines[0].find("4 families") != std::string::npos;
  };
  size_t before = RecentLogLines().size();
  {
    const auto backend = OpenEmbeddedBackend(folder.Settings(), "");
    REQUIRE(backend.ok());
    Store& cells = (*backend)->cells();
    REQUIRE(cells.CreateTable({"x", {{"a"}, {"b"}, {"c"}}, false}).ok());
    CHECK(RecentLogLines().size() == before);
    REQUIRE(cells.AlterTable({"x", {{"a"}, {"b"}, {"c"}, {"d"}}, false}).ok());
    CHECK(warned(before));
  }
  before = RecentLogLines().size();
  REQUIRE(OpenEmbeddedBackend(folder.Settings(), "").ok());
  CHECK(warned(before));
}

TEST_CASE("invalid settings of regions and merges are refused with key and value") {
  const Folder folder;
  const std::pair<const char*, const char*> bad[] = {
      {"tsd.storage.region.split_policy", "sometimes"}, {"tsd.storage.region.max_size", "0"},
      {"tsd.storage.region.flush_size", "-1"},          {"tsd.storage.merge.off_peak", "22"},
      {"tsd.storage.merge.off_peak", "25-3"},           {"tsd.storage.merge.off_peak", "1-2x"},
      {"tsd.storage.merge.throughput", "fast"},         {"tsd.storage.merge.large", "0"},
      {"tsd.storage.merge.major_period", "-1"},         {"tsd.storage.merge.interval", "0"}};
  for (const auto& [key, value] : bad) {
    Config config = folder.Settings();
    config.Set(key, value);
    const Status refused = OpenEmbeddedBackend(config, "").status();
    CAPTURE(key);
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(key) != std::string_view::npos);
    CHECK(refused.message().find(value) != std::string_view::npos);
  }
  for (const char* good : {"stepping", "constant", "increasing", "increasing2", "none"}) {
    Config config = folder.Settings();
    config.Set("tsd.storage.region.split_policy", good);
    config.Set("tsd.storage.merge.off_peak", "22-6");
    CHECK(OpenEmbeddedBackend(config, "").ok());
  }
}

}  // namespace
}  // namespace hg::tsd
