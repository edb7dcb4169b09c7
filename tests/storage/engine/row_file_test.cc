#include "storage/engine/row_file.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "storage/engine/part_writer.h"
#include "storage/engine/row_block.h"
#include "storage/engine/version.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"

namespace hg::engine {
namespace {

constexpr uint32_t kStart = 1700006400;
const KeyLayout kFileLayout;

points::RowPart PartOf(const std::vector<PointValue>& values) {
  points::RowPart part;
  part.form = points::RowForm::kAuto;
  const auto step = static_cast<uint32_t>(kRowSpan / values.size());
  for (uint32_t i = 0; i < values.size(); ++i) {
    part.points.push_back(
        {codec::Qualifier::Seconds(i * step, values[i].flags), 0, values[i].bits});
  }
  return part;
}

TEST_CASE("the order of different key prefixes of series is the order of their rows in files") {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) {
    return std::uniform_int_distribution<uint32_t>(0, n - 1)(random);
  };
  for (const KeyLayout& layout : {KeyLayout{}, KeyLayout{.metric_width = 8, .tagk_width = 1}}) {
    std::vector<Bytes> tsuids;
    for (int i = 0; i < 300; ++i) {
      Bytes tsuid(static_cast<size_t>(layout.metric_width), '\0');
      tsuid.back() = static_cast<char>(below(2) * 255);
      const size_t pair = static_cast<size_t>(layout.tagk_width + layout.tagv_width);
      for (size_t bytes = (1 + below(4)) * pair; bytes > 0; --bytes) {
        tsuid.push_back(static_cast<char>(below(3) * 127));
      }
      tsuids.push_back(std::move(tsuid));
    }
    size_t told_apart = 0;
    for (const Bytes& a : tsuids) {
      for (const Bytes& b : tsuids) {
        const auto head_a = engine::RowFileHeadOf(layout, a);
        const auto head_b = engine::RowFileHeadOf(layout, b);
        if (head_a == head_b) continue;
        ++told_apart;
        CHECK((head_a < head_b) == engine::RowFileOrder(layout, a, b));
      }
    }
    CHECK(told_apart > tsuids.size());
  }
}

TEST_CASE("a part has the same rows in each density, and after a copy of its encoded rows") {
  std::mt19937_64 random(1);
  FaultyFileSystem disk(1);
  std::map<std::pair<uint32_t, uint32_t>, points::RowPart> rows;
  for (uint32_t series = 1; series <= 40; ++series) {
    for (uint32_t hour = 0; hour < 24; ++hour) {
      std::vector<PointValue> values(1 + random() % 90);
      for (PointValue& value : values) {
        value = series % 3 == 0   ? PointValue::Int(static_cast<int64_t>(random() % 30))
                : series % 3 == 1 ? PointValue::Double(static_cast<double>(random() % 900) / 10)
                                  : PointValue::Double(std::bit_cast<double>(random()));
      }
      rows[{series, kStart + hour * kRowSpan}] = PartOf(values);
    }
  }
  uint64_t number = 1;
  std::map<RowDensity, uint64_t> bytes;
  std::shared_ptr<const lsm::BlockFile> file;
  for (const RowDensity density : {RowDensity::kPlain, RowDensity::kPacked, RowDensity::kPacked}) {
    PartWriter writer(disk, "d", kFileLayout, ++number, nullptr, nullptr, density);
    if (file == nullptr) {
      for (const auto& [id, part] : rows) {
        REQUIRE(writer.AddPoints(Tsuid(id.first), {}, id.second, part).ok());
      }
    } else {
      lsm::BlockFileScan scan(file, "", "");
      for (;;) {
        auto more = scan.Next();
        REQUIRE(more.ok());
        if (!*more) break;
        REQUIRE(writer.AddEncodedPoints(scan.key(), scan.value()).ok());
      }
    }
    lsm::PartEntry entry;
    entry.number = number;
    REQUIRE(writer.Finish(&entry).ok());
    auto opened = lsm::BlockFile::Open(disk, Part::PointsPath("d", number), {&RowBlockPacker()});
    REQUIRE(opened.ok());
    if (bytes.count(density) != 0) CHECK(bytes[density] == entry.points_bytes);
    bytes[density] = entry.points_bytes;
    file = *opened;
    CHECK(file->entries() == rows.size());
    for (const auto& [id, expected] : rows) {
      points::RowPart part;
      auto found = ReadFileRow(kFileLayout, *file, Tsuid(id.first), id.second, 0, &part, nullptr);
      REQUIRE(found.ok());
      REQUIRE(*found);
      REQUIRE(part == expected);
    }
  }
  CHECK(bytes[RowDensity::kPacked] < bytes[RowDensity::kPlain]);
  // Without the packer such a file is refused with its name and the position.
  auto blind = lsm::BlockFile::Open(disk, Part::PointsPath("d", number));
  REQUIRE(blind.ok());
  const Status status = lsm::BlockFile::Check(*blind);
  CHECK(status.code() == StatusCode::kCorruption);
  CHECK(status.message().find(".points at 0") != std::string::npos);
}

}  // namespace
}  // namespace hg::engine
