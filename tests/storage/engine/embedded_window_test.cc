// Points files keep to time windows, so new data does not change old files (region-store.md C8).

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kDay = 86'400;
constexpr int64_t kFirst = 19'712 * kDay;  // the first of 64 days of a window

// An engine without threads, whose clock follows its data.
struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{kFirst * 1000};
  std::unique_ptr<engine::Engine> engine;
  uint64_t flushed_bytes = 0, merged_bytes = 0;
  std::set<uint64_t> known;

  Rig() { Open(); }
  void Open() {
    engine.reset();
    EmbeddedOptions options;
    options.path = "d";
    options.background = false;
    options.merge.small_bytes = 0;
    auto opened = engine::Engine::Open(options, disk, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    engine = std::move(*opened);
  }
  void Write(uint32_t series, int64_t time, int64_t value) {
    const auto number = engine->Register(Tsuid(series + 1));
    REQUIRE(number.ok());
    const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
    REQUIRE(engine->Append({&entry, 1}).ok());
  }
  [[nodiscard]] engine::Parts Parts() const {
    const auto version = engine->Pin();
    const uint32_t table = engine->points_table()->id;
    return version->PartsOf(table, version->RegionsOf(table).Id(0));
  }
  uint64_t NewBytes() {
    uint64_t bytes = 0;
    for (const auto& part : Parts()) {
      if (known.insert(part->entry().number).second) bytes += part->bytes();
    }
    return bytes;
  }
  void FlushAndMerge() {
    REQUIRE(engine->Flush().ok());
    flushed_bytes += NewBytes();
    REQUIRE(engine->MergePending(engine::Engine::MergePool::kAny).ok());
    merged_bytes += NewBytes();
  }
  [[nodiscard]] std::vector<uint64_t> Numbers(int64_t stop) const {
    std::vector<uint64_t> numbers;
    for (const auto& part : Parts()) {
      const region::RowSpan& rows = part->rows();
      if (rows.last_base < stop && region::Window::Around(rows).level == 2) {
        numbers.push_back(part->entry().number);
      }
    }
    return numbers;
  }
  // Returns the value of the point of a series at this time; -1 = there is no point.
  int64_t ValueAt(uint32_t series, int64_t time) {
    const auto base = static_cast<uint32_t>(time - time % 3600);
    const Bytes key = codec::MakeRowKey(KeyLayout(), Tsuid(series + 1), base);
    const auto row = engine->rows().Read(*engine->Pin(), *engine->points_table(), key);
    REQUIRE(row.ok());
    for (const auto& point : row->row_part.points) {
      if (int64_t{point.offset_ms()} == time % 3600 * 1000) return static_cast<int64_t>(point.bits);
    }
    return -1;
  }
};

TEST_CASE("with a year in order, no byte is rewritten more than three times") {
  Rig rig;
  constexpr int kFlushes = 366 * 2;
  for (int i = 0; i < kFlushes; ++i) {
    for (int64_t hour = 0; hour < 12; ++hour) {
      rig.Write(0, kFirst + i * int64_t{43'200} + hour * 3600, i * 12 + hour);
    }
    rig.clock.AdvanceMs(int64_t{43'200} * 1000);
    rig.FlushAndMerge();
  }
  uint32_t rewrites = 0;
  for (const auto& part : rig.Parts()) rewrites = std::max(rewrites, part->entry().rewrites);
  CHECK(rewrites <= 3);
  CHECK(rig.merged_bytes <= 3 * rig.flushed_bytes);
  // Parts of 64 days, 8 days and a day: at most as many as there are such windows.
  CHECK(rig.Parts().size() < 5 + 8 + 10 * 2);
  CHECK(rig.Numbers(kFirst + 320 * kDay).size() == 5);
  rig.Open();
  for (int i = 0; i < kFlushes; i += 97) {
    CHECK(rig.ValueAt(0, kFirst + i * int64_t{43'200}) == i * 12);
  }
}

TEST_CASE("one late point in a hundred does not rewrite old windows at once, and is not lost") {
  Rig rig;
  // Each flush has six hours of six series. The first 210 days are flushed once per day.
  const auto days = [&](int from, int to, bool late) {
    for (int day = from; day < to; ++day) {
      for (int64_t i = 0; i < 4; ++i) {
        for (uint32_t row = 0; row < 36; ++row) {
          rig.Write(row / 6, kFirst + day * kDay + i * 21'600 + row % 6 * 3600 + 60, 1);
        }
        // These points replace existing ones. The later point must win, wherever it is stored.
        for (int64_t n = 0; late && n < 2; ++n) {
          rig.Write(0, kFirst + (day * 7 + i + n * 61) % 190 * kDay, day * 10 + i);
        }
        rig.clock.SetMs((kFirst + day * kDay + (i + 1) * 21'600) * 1000);
        if (late || i == 3) rig.FlushAndMerge();
      }
    }
  };
  days(0, 210, false);
  const std::vector<uint64_t> before = rig.Numbers(kFirst + 192 * kDay);
  REQUIRE(before.size() == 3);
  const uint64_t merged = rig.merged_bytes;
  uint64_t old_bytes = 0;
  for (const auto& part : rig.Parts()) old_bytes += part->bytes();
  days(210, 240, true);
  const std::vector<uint64_t> after = rig.Numbers(kFirst + 192 * kDay);
  for (const uint64_t number : before) {
    CHECK(std::find(after.begin(), after.end(), number) != after.end());
  }
  CHECK(rig.merged_bytes - merged < old_bytes);
  std::map<int64_t, int64_t> last;
  for (int day = 210; day < 240; ++day) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t n = 0; n < 2; ++n) last[(day * 7 + i + n * 61) % 190] = day * 10 + i;
    }
  }
  for (const bool merged_all : {false, true}) {
    if (merged_all) REQUIRE(rig.engine->Compact().ok());
    for (const auto& [day, value] : last) CHECK(rig.ValueAt(0, kFirst + day * kDay) == value);
    rig.Open();
    for (const auto& [day, value] : last) CHECK(rig.ValueAt(0, kFirst + day * kDay) == value);
  }
}

TEST_CASE("a merge of all parts leaves one part per window") {
  Rig rig;
  for (int day = 0; day < 80; ++day) rig.Write(0, kFirst + day * kDay, day);
  rig.clock.SetMs((kFirst + 80 * kDay) * 1000);
  REQUIRE(rig.engine->Flush().ok());
  CHECK(rig.Parts().size() == 1);
  REQUIRE(rig.engine->Compact().ok());
  CHECK(rig.Parts().size() == 3);  // 64 days, 8 and 8
  for (int day = 0; day < 80; ++day) CHECK(rig.ValueAt(0, kFirst + day * kDay) == day);
}

TEST_CASE("rows without a series are in a part of their own, outside of the windows") {
  Rig rig;
  const engine::Table& table = *rig.engine->points_table();
  rig.Write(0, kFirst, 1);
  Bytes key("\0\0\0", 3);  // a global annotation
  AppendBig(&key, static_cast<uint64_t>(kFirst), 4);
  REQUIRE(rig.engine->Write(table, key, {PutCell("t", Bytes("\1\0\0", 3), "{}")}).ok());
  REQUIRE(rig.engine->Flush().ok());
  const engine::Parts parts = rig.Parts();
  REQUIRE(parts.size() == 2);
  for (const auto& part : parts) CHECK(part->rows().loose != part->rows().has_rows());
  REQUIRE(rig.engine->Compact().ok());
  CHECK(rig.Parts().size() == 2);
  rig.Open();
  CHECK(rig.engine->rows()
                .Read(*rig.engine->Pin(), *rig.engine->points_table(), key)
                ->row_part.raw.size() +
            rig.engine->rows()
                .Read(*rig.engine->Pin(), *rig.engine->points_table(), key)
                ->cells.cells.size() ==
        1);
}

}  // namespace
}  // namespace hg
