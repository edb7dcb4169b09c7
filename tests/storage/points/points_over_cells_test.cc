#include "storage/points/points_over_cells.h"

#include <doctest/doctest.h>

#include "tests/storage/points_contract.h"
#include "tests/support/fake_watch.h"
#include "tests/support/model_store.h"

namespace hg::points {
namespace {

class OverModel : public PointsSubject {
 public:
  explicit OverModel(PointsOverCellsOptions options) : points_(&store_, std::move(options)) {
    REQUIRE(store_.CreateTable({"tsdb", {{"t"}}, true}).ok());
  }
  Points& points() override { return points_; }
  Store& cells() override { return store_; }
  ManualClock& clock() override { return clock_; }

 private:
  ManualClock clock_{1'700'000'000'000};
  ModelStore store_{clock_};
  PointsOverCells points_;
};

PointsOverCellsOptions Options(const KeyLayout& layout = {}) {
  PointsOverCellsOptions options;
  options.layout = layout;
  return options;
}

std::string StoredRow(OverModel& model, const Bytes& key) {
  std::string text;
  auto row = model.cells().Get("tsdb", key);
  REQUIRE(row.ok());
  for (const Cell& cell : row->cells) {
    text += ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value) + "@" +
            std::to_string(cell.timestamp_ms) + " ";
  }
  return text;
}

const Bytes kSeries("\0\0\1\0\0\1\0\0\1", 9);
const Bytes kKey("\0\0\1\x50\xE2\x27\0\0\0\1\0\0\1", 13);
constexpr int64_t kBase = 1356998400;

TEST_CASE("the point store over the model fulfils the contract of the point store") {
  CheckPointsContract(
      [](const KeyLayout& layout) { return std::make_unique<OverModel>(Options(layout)); });
}

TEST_CASE("a batch is one mutation per row, so its points have one cell time") {
  OverModel model(Options());
  auto series = model.points().Register(kSeries);
  const std::vector<PointEntry> batch = {
      MakePointEntry(*series, {kBase + 1}, PointValue::Int(24)),
      MakePointEntry(*series, {kBase}, PointValue::Int(42)),
      MakePointEntry(*series, {kBase + 3600}, PointValue::Int(7)),
      MakePointEntry(*series, {kBase + 1}, PointValue::Int(25))};
  REQUIRE(model.points().Append(batch).ok());
  CHECK(StoredRow(model, kKey) == "0000=2A@1700000000000 0010=19@1700000000000 ");
}

TEST_CASE("with last_of_time a batch writes only the last of its points at one time of a series") {
  auto options = Options();
  options.last_of_time = true;
  OverModel model(options);
  auto series = model.points().Register(kSeries);
  Bytes other = kSeries;
  other.back() = '\2';
  auto beside = model.points().Register(other);
  const std::vector<PointEntry> batch = {
      MakePointEntry(*series, {kBase + 1}, PointValue::Int(5)),
      MakePointEntry(*series, {kBase}, PointValue::Int(42)),
      MakePointEntry(*beside, {kBase + 1}, PointValue::Int(6)),
      MakePointEntry(*series, {(kBase + 1) * 1000}, PointValue::Int(7)),
      MakePointEntry(*series, {kBase + 1}, PointValue::Int(300))};
  REQUIRE(model.points().Append(batch).ok());
  CHECK(StoredRow(model, kKey) == "0000=2A@1700000000000 0011=012C@1700000000000 ");
  Bytes key = kKey;
  key.back() = '\2';
  CHECK(StoredRow(model, key).starts_with("0010=06@"));
}

TEST_CASE("with use_otsdb_timestamp the time of a cell is that of its point") {
  auto options = Options();
  options.use_otsdb_timestamp = true;
  OverModel model(options);
  auto series = model.points().Register(kSeries);
  const std::vector<PointEntry> batch = {
      MakePointEntry(*series, {kBase + 1}, PointValue::Int(24)),
      MakePointEntry(*series, {kBase * 1000 + 500}, PointValue::Float(42.5F))};
  REQUIRE(model.points().Append(batch).ok());
  CHECK(StoredRow(model, kKey) == "0010=18@1356998401000 F0007D0B=422A0000@1356998400500 ");
}

TEST_CASE("with enable_appends points are appended to one cell in order of arrival") {
  auto options = Options();
  options.enable_appends = true;
  OverModel model(options);
  auto series = model.points().Register(kSeries);
  const std::vector<PointEntry> batch = {
      MakePointEntry(*series, {kBase + 1}, PointValue::Int(24)),
      MakePointEntry(*series, {kBase}, PointValue::Int(42)),
      MakePointEntry(*series, {kBase * 1000 + 63}, PointValue::Int(300))};
  REQUIRE(model.points().Append(batch).ok());
  CHECK(StoredRow(model, kKey).starts_with("050000=00101800002AF0000FC1012C@"));
}

TEST_CASE(
    "of a compacted cell and a point of the same time the later wins if duplicates are fixed") {
  OverModel model(Options());
  auto series = model.points().Register(kSeries);
  auto put = [&](ByteView qualifier, ByteView value) {
    REQUIRE(model.cells()
                .Mutate("tsdb", {{kKey, {PutCell("t", Bytes(qualifier), Bytes(value))}}})
                .ok());
  };
  auto values = [&] {
    PointScanSpec spec;
    spec.metric = kSeries.substr(0, 3);
    auto scan = model.points().Scan(spec, {.fix_duplicates = true});
    REQUIRE(scan.ok());
    RowHour row;
    REQUIRE(*(*scan)->Next(&row));
    return std::vector<uint64_t>(row.value.begin(), row.value.end());
  };
  put({"\0\0\0\x10", 4}, {"\1\2\0", 3});
  const PointEntry entry = MakePointEntry(*series, {kBase + 1}, PointValue::Int(99));
  REQUIRE(model.points().Append({&entry, 1}).ok());
  CHECK(values() == std::vector<uint64_t>{1, 99});
  put({"\0\x10\0\x20", 4}, {"\7\x08\0", 3});
  CHECK(values() == std::vector<uint64_t>{1, 7, 8});
}

TEST_CASE("a scan reports rows that are worth a rewrite, and only those") {
  OverModel model(Options());
  std::vector<Bytes> told;
  model.points().ListenForUnsettledRows([&](ByteView key, uint32_t base) {
    CHECK(base == kBase);
    told.emplace_back(key);
  });
  auto put = [&](char tagv, ByteView qualifier, ByteView value) {
    Bytes key = kKey;
    key.back() = tagv;
    REQUIRE(
        model.cells().Mutate("tsdb", {{key, {PutCell("t", Bytes(qualifier), Bytes(value))}}}).ok());
  };
  put(1, {"\0\0", 2}, "\x2A");
  put(2, {"\0\0\0\x10", 4}, {"\x2A\x18\0", 3});
  put(3, {"\0\0", 2}, "\x2A");
  put(3, {"\0\x10", 2}, "\x18");
  put(4, {"\x05\0\0", 3}, {"\0\x10\x18\0\0\x2A", 6});
  PointScanSpec spec;
  spec.metric = kSeries.substr(0, 3);
  auto scan = model.points().Scan(spec, {});
  REQUIRE(scan.ok());
  RowHour row;
  int rows = 0;
  while (*(*scan)->Next(&row)) ++rows;
  CHECK(rows == 4);
  Bytes third = kKey;
  third.back() = 3;
  CHECK(told == std::vector{third});
}

TEST_CASE("listing series reports its work and charges the series that it found") {
  OverModel model(Options());
  constexpr int kCount = 100;
  for (int i = 1; i <= kCount; ++i) {
    const auto series = model.points().Register(kSeries.substr(0, 8) + static_cast<char>(i));
    const PointEntry point = MakePointEntry(*series, {kBase}, PointValue::Int(1));
    REQUIRE(model.points().Append({&point, 1}).ok());
  }
  const auto list = [&](RequestContext* watch) {
    return model.points().ListSeries(kSeries.substr(0, 3), {}, watch,
                                     [](ByteView) { return true; });
  };
  FakeWatch watch;
  CHECK(list(&watch).ok());
  CHECK(watch.steps >= kCount);
  CHECK(watch.bytes_most >= kCount * 64);
  FakeWatch hasty, poor;
  hasty.steps_max = kCount / 2;
  CHECK(list(&hasty).code() == StatusCode::kDeadlineExceeded);
  poor.bytes_max = kCount * 32;
  CHECK(list(&poor).code() == StatusCode::kLimitExceeded);
}

TEST_CASE(
    "an hour of a series under two salts is one row, with the copy of the smaller salt first") {
  KeyLayout layout;
  layout.salt_width = 1;
  OverModel model(Options(layout));
  auto put = [&](char salt, ByteView qualifier, ByteView value) {
    const Bytes key = Bytes(1, salt) + kKey;
    REQUIRE(
        model.cells().Mutate("tsdb", {{key, {PutCell("t", Bytes(qualifier), Bytes(value))}}}).ok());
  };
  put(8, {"\0\0", 2}, "\x08");
  put(3, {"\0\0", 2}, "\x03");
  put(3, {"\0\x10", 2}, "\x01");
  put(9, {"\0\x20", 2}, "\x02");
  PointScanSpec spec;
  spec.metric = kSeries.substr(0, 3);
  auto scan = model.points().Scan(spec, {});
  RowHour row;
  REQUIRE(*(*scan)->Next(&row));
  CHECK(std::vector<uint64_t>(row.value.begin(), row.value.end()) ==
        std::vector<uint64_t>{3, 1, 2});
  CHECK(row.stored_cells == 4);
  CHECK_FALSE(*(*scan)->Next(&row));
}

}  // namespace
}  // namespace hg::points
