#include "storage/engine/row_block.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "storage/base/varint.h"
#include "storage/points/row_codec.h"
#include "storage/points/split_row.h"

namespace hg::engine {
namespace {

using NextValue = std::function<PointValue(size_t)>;

Bytes Row(size_t count, uint32_t step_s, const NextValue& value, bool split) {
  std::vector<points::PartPoint> points;
  for (size_t i = 0; i < count; ++i) {
    const PointValue v = value(i);
    points.push_back(
        {codec::Qualifier::Seconds(static_cast<uint32_t>(i) * step_s, v.flags), 0, v.bits});
  }
  Bytes row;
  points::EncodeRow(points, {points::RowForm::kAuto}, &row);
  if (!split) return row;
  Bytes result;
  REQUIRE(points::SplitRow(row, &result));
  return result;
}

// Entries as in a block: the shared bytes of a key are passed by the caller.
void AppendEntry(size_t shared, ByteView rest, ByteView row, Bytes* block) {
  AppendVarint(block, shared);
  AppendVarint(block, rest.size());
  *block += rest;
  AppendVarint(block, row.size());
  *block += row;
}

// Returns a block with rows of consecutive hours of one series.
Bytes Block(size_t rows, size_t points, const NextValue& value, bool split = true) {
  Bytes block;
  for (size_t i = 0; i < rows; ++i) {
    Bytes base;
    AppendBig(&base, 1700006400 + i % 24 * 3600, 4);
    const bool first = i == 0;
    AppendEntry(first ? 0 : 19, first ? Bytes(19, 'k') + base : base,
                Row(points, 3600 / static_cast<uint32_t>(points), value, split), &block);
  }
  return block;
}

Bytes CheckComesBack(const Bytes& block) {
  Bytes packed = "front";
  REQUIRE(RowBlockPacker().Pack(block, &packed));
  REQUIRE(packed.starts_with("front"));
  packed.erase(0, 5);
  Bytes back = "something else";
  REQUIRE(RowBlockPacker().Unpack(packed, &back));
  REQUIRE(back == block);
  return packed;
}

TEST_CASE("blocks of every kind of row are restored byte for byte") {
  std::mt19937_64 random(1);
  const std::vector<NextValue> kinds = {
      [](size_t) { return PointValue::Int(7); },
      [&](size_t) { return PointValue::Int(static_cast<int64_t>(random() % 9)); },
      [&](size_t) { return PointValue::Int(static_cast<int64_t>(random())); },
      [&](size_t) { return PointValue::Double(static_cast<double>(random() % 9999) / 100); },
      [&](size_t) { return PointValue::Double(std::bit_cast<double>(random())); },
      [&](size_t) {
        return PointValue{random() & 0xFFFFFFFF, kFloat32};
      },
      [&](size_t i) { return i % 3 == 0 ? PointValue::Int(5) : PointValue::Double(0.1); },
      [&](size_t i) { return i % 9 == 0 ? PointValue::Double(-0.0) : PointValue::Double(2.5); }};
  for (size_t points : {1, 2, 7, 8, 60, 360}) {
    Bytes all;
    for (const NextValue& value : kinds) {
      for (const bool split : {false, true}) {
        const Bytes block = Block(5, points, value, split);
        CheckComesBack(block);
        all += block;
      }
    }
    CheckComesBack(all);
  }
  // Points of both resolutions with sequence numbers. Some values are wider than necessary.
  std::vector<points::PartPoint> points;
  for (uint32_t i = 0; i < 50; ++i) {
    const auto value = i % 7 == 0 ? PointValue{5, kInt64} : PointValue::Int(i);
    points.push_back({i % 2 == 0 ? codec::Qualifier::Seconds(i, value.flags)
                                 : codec::Qualifier::Millis(i * 1000 + i, value.flags),
                      i * 3, value.bits});
  }
  Bytes row;
  points::EncodeRow(points, {points::RowForm::kSingle, true}, &row);
  Bytes split;
  REQUIRE(points::SplitRow(row, &split));
  Bytes block;
  AppendEntry(0, "key1", row, &block);
  AppendEntry(3, "2", split, &block);
  CheckComesBack(block);
  CheckComesBack("");
}

// Sizes that the project promises relative to the compared system (bench/RESULTS.md), with a
// margin.
TEST_CASE("packed blocks of typical machine metrics are small") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> move;
  double level = 50;
  auto walk = [&] { return level = std::clamp(level + move(random), 0.0, 100.0); };
  auto bytes_a_point = [&](size_t points, const NextValue& value) {
    const size_t rows = 24 * 360 / points;
    return static_cast<double>(CheckComesBack(Block(rows, points, value)).size()) /
           static_cast<double>(rows * points);
  };
  const NextValue ints = [&](size_t) { return PointValue::Int(std::lround(walk())); };
  const NextValue decimals = [&](size_t) {
    return PointValue::Double(std::round(walk() * 100) / 100);
  };
  CHECK(bytes_a_point(360, ints) < 0.34);
  CHECK(bytes_a_point(60, ints) < 0.36);
  CHECK(bytes_a_point(360, decimals) < 1.17);
  CHECK(bytes_a_point(60, decimals) < 1.20);
  CHECK(bytes_a_point(360, [&](size_t) { return PointValue::Double(walk()); }) < 6.4);
  CHECK(bytes_a_point(360, [&](size_t) { return PointValue::Int(5); }) < 0.021);
  // A repeated pattern saves more than the frequency of its bytes.
  CHECK(bytes_a_point(360, [&](size_t i) {
          return PointValue::Int(std::array{3, 9, 1, 7, 7, 2, 8, 0}[i % 8]);
        }) < 0.05);
}

TEST_CASE("entries that are not rows are not packed") {
  Bytes packed;
  Bytes block;
  AppendEntry(0, "key", "no row", &block);
  CHECK_FALSE(RowBlockPacker().Pack(block, &packed));
  block.clear();
  AppendEntry(0, "key",
              Row(
                  60, 60, [](size_t) { return PointValue::Int(1); }, true) +
                  "more",
              &block);
  CHECK_FALSE(RowBlockPacker().Pack(block, &packed));
  CHECK_FALSE(RowBlockPacker().Pack(ByteView(block).substr(0, block.size() - 9), &packed));
}

TEST_CASE("damaged packed blocks are refused or unpacked to something, and never crash") {
  std::mt19937_64 random(5);
  const Bytes good = CheckComesBack(
      Block(24, 60, [&](size_t) { return PointValue::Int(static_cast<int64_t>(random() % 50)); }));
  size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = good;
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    for (size_t flips = 1 + random() % 3; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % (random() % 2 == 0 ? bytes.size() : std::min<size_t>(40, bytes.size()))] =
          static_cast<char>(random());
    }
    const std::vector<char> exact(bytes.begin(), bytes.end());
    Bytes back;
    refused += !RowBlockPacker().Unpack({exact.data(), exact.size()}, &back);
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace hg::engine
