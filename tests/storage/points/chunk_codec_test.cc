// Chunks in memory: any eight entries are restored bit for bit, and as the columns that they mean.

#include "storage/points/chunk_codec.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "storage/codec/qualifier.h"

namespace hg::points {
namespace {

using codec::Qualifier;

// The kinds of times and values of a chunk. Every pair of both is tested.
enum class Instants { kGrid, kJitter, kWide, kMillisGrid, kMillis, kMixed, kBackward, kReserved };
constexpr int kInstantKinds = 8;
enum class Numbers {
  kSmallInts,
  kEqual,
  kInts,
  kWideInts,
  kOddWidths,
  kDecimals,
  kDecimalsOfLines,
  kSingles,
  kDoubles,
  kSpecial,
  kMixed,
};
constexpr int kNumberKinds = 11;

class Maker {
 public:
  ChunkEntries Make(Instants instants, Numbers numbers) {
    ChunkEntries entries;
    const auto start = static_cast<uint32_t>(random_() % 1000);
    const auto step = static_cast<uint32_t>(random_() % 300);
    const auto centre = static_cast<int64_t>(random_() >> (random_() % 64));
    uint32_t at = start;
    for (uint32_t i = 0; i < kChunkEntries; ++i) {
      const PointValue value = Value(numbers, centre);
      switch (instants) {
        case Instants::kGrid:
          at = start + i * step;
          break;
        case Instants::kJitter:
          at += static_cast<uint32_t>(1 + random_() % 20);
          break;
        case Instants::kWide:
          at += static_cast<uint32_t>(random_() % 320);
          break;
        default:
          at = static_cast<uint32_t>(random_() % 3600);
      }
      Qualifier q = Qualifier::Seconds(at, value.flags);
      if (instants == Instants::kMillisGrid) q = Qualifier::Millis(start + i * 1000, value.flags);
      if (instants == Instants::kMillis) {
        q = Qualifier::Millis(start + i * (1 + static_cast<uint32_t>(random_() % 400'000)),
                              value.flags);
      }
      if (instants == Instants::kMixed && random_() % 2 == 0)
        q = Qualifier::Millis(at * 1000, value.flags);
      if (instants == Instants::kReserved) {
        q = Qualifier::Millis(at, value.flags);
        q.bits |= 0x10;
      }
      entries.ops[i] = q.bits;
      entries.bits[i] = value.bits;
    }
    return entries;
  }

  uint64_t Random() { return random_(); }

 private:
  PointValue Value(Numbers numbers, int64_t centre) {
    const auto near = static_cast<int64_t>(static_cast<uint64_t>(centre) + random_() % 100);
    const double decimal =
        static_cast<double>(static_cast<int64_t>(random_() % 20000) - 9000) / 100;
    switch (numbers) {
      case Numbers::kSmallInts:
        return PointValue::Int(static_cast<int64_t>(random_() % 100));
      case Numbers::kEqual:
        return PointValue::Int(centre);
      case Numbers::kInts:
        return PointValue::Int(near);
      case Numbers::kWideInts:
        return {static_cast<uint64_t>(near), kInt64};
      case Numbers::kOddWidths:
        return {random_() % 100, random_() % 2 == 0 ? uint8_t{kInt16} : uint8_t{kInt8}};
      case Numbers::kDecimals:
        return PointValue::Double(decimal);
      case Numbers::kDecimalsOfLines:
        return static_cast<double>(static_cast<float>(decimal)) == decimal
                   ? PointValue::Float(static_cast<float>(decimal))
                   : PointValue::Double(decimal);
      case Numbers::kSingles:
        return PointValue::Float(static_cast<float>(decimal));
      case Numbers::kDoubles:
        return {random_(), kFloat64};
      case Numbers::kSpecial: {
        constexpr double kSpecial[] = {-0.0, 0.0, 1e300, 5e-324, 0x1p53, 0x1p63, -1.5};
        if (random_() % 8 == 0) return {random_() | 0x7FF0'0000'0000'0000, kFloat64};
        return PointValue::Double(kSpecial[random_() % std::size(kSpecial)]);
      }
      case Numbers::kMixed:
        return random_() % 2 == 0 ? PointValue::Int(near) : PointValue::Double(decimal);
    }
    return {};
  }
  std::mt19937_64 random_{11};
};

std::vector<char> Encoded(const ChunkEntries& entries) {
  std::vector<char> out(kChunkBytesMax);
  out.resize(EncodeChunk(entries, out.data()));
  return out;
}

void CheckColumns(ChunksDecoder decode, const std::vector<ChunkEntries>& chunks,
                  const std::vector<char>& encoded) {
  RowColumns columns;
  columns.Resize(chunks.size() * kChunkEntries);
  size_t at = 0;
  REQUIRE(decode(encoded.data(), encoded.data() + encoded.size(), &at, &columns));
  REQUIRE(at == columns.size());
  for (size_t i = 0; i < at; ++i) {
    const ChunkEntries& chunk = chunks[i / kChunkEntries];
    const Qualifier q{chunk.ops[i % kChunkEntries]};
    const PointValue value{chunk.bits[i % kChunkEntries], q.flags()};
    const bool is_double =
        columns.is_double.empty() ? columns.all_double : columns.is_double[i] != 0;
    REQUIRE(columns.offset_ms[i] == q.offset_ms());
    REQUIRE(is_double == value.is_float());
    REQUIRE(columns.value[i] ==
            (is_double ? std::bit_cast<uint64_t>(value.as_double()) : value.bits));
  }
}

// Checks the columns with every decoder that this processor supports.
void CheckColumns(const std::vector<ChunkEntries>& chunks, const std::vector<char>& encoded) {
  for (const ChunksDecoder decode : UsableChunksDecoders()) CheckColumns(decode, chunks, encoded);
}

TEST_CASE("eight points are restored bit for bit, and as columns") {
  Maker maker;
  for (int round = 0; round < 300; ++round) {
    for (int instants = 0; instants < kInstantKinds; ++instants) {
      for (int numbers = 0; numbers < kNumberKinds; ++numbers) {
        CAPTURE(instants);
        CAPTURE(numbers);
        const ChunkEntries entries =
            maker.Make(static_cast<Instants>(instants), static_cast<Numbers>(numbers));
        const std::vector<char> encoded = Encoded(entries);
        REQUIRE(ChunkBytes(encoded.data()) == encoded.size());
        ChunkEntries back;
        REQUIRE(DecodeChunk(encoded.data(), &back) == encoded.size());
        REQUIRE(std::memcmp(back.ops, entries.ops, sizeof back.ops) == 0);
        REQUIRE(std::memcmp(back.bits, entries.bits, sizeof back.bits) == 0);
        CheckColumns({entries}, encoded);
      }
    }
  }
}

TEST_CASE("chunks of several kinds are decoded one after the other") {
  Maker maker;
  for (int round = 0; round < 2000; ++round) {
    std::vector<ChunkEntries> chunks;
    std::vector<char> encoded;
    for (uint64_t left = maker.Random() % 6; left > 0; --left) {
      chunks.push_back(maker.Make(static_cast<Instants>(maker.Random() % kInstantKinds),
                                  static_cast<Numbers>(maker.Random() % kNumberKinds)));
      const std::vector<char> chunk = Encoded(chunks.back());
      encoded.insert(encoded.end(), chunk.begin(), chunk.end());
    }
    CheckColumns(chunks, encoded);
  }
}

TEST_CASE("typical points of agents take few bytes") {
  ChunkEntries entries;
  for (uint32_t i = 0; i < kChunkEntries; ++i) {
    entries.ops[i] = Qualifier::Seconds(600 + 10 * i, kInt8).bits;
    entries.bits[i] = 40 + i;
  }
  CHECK(Encoded(entries).size() == 15);
  for (uint32_t i = 0; i < kChunkEntries; ++i) {
    const PointValue value = PointValue::Double(40 + i / 4.0 + 0.01);
    entries.ops[i] = Qualifier::Seconds(600 + 10 * i, value.flags).bits;
    entries.bits[i] = value.bits;
  }
  CHECK(Encoded(entries).size() <= 25);
}

TEST_CASE("a chunk with a tombstone is restored, but is not decoded as columns") {
  ChunkEntries entries = Maker().Make(Instants::kGrid, Numbers::kInts);
  entries.ops[3] = 0x20000000;
  const std::vector<char> encoded = Encoded(entries);
  ChunkEntries back;
  DecodeChunk(encoded.data(), &back);
  CHECK(std::memcmp(&back, &entries, sizeof back) == 0);
  RowColumns columns;
  columns.Resize(kChunkEntries);
  size_t at = 0;
  CHECK_FALSE(DecodeChunks(encoded.data(), encoded.data() + encoded.size(), &at, &columns));
  CHECK_FALSE(IsRising(entries));
  CHECK_FALSE(SortRising(&entries));
}

TEST_CASE("points are sorted by time if no time repeats") {
  ChunkEntries entries;
  for (uint32_t i = 0; i < kChunkEntries; ++i) {
    entries.ops[i] = Qualifier::Seconds((i * 5 + 3) % 8, kInt8).bits;
    entries.bits[i] = (i * 5 + 3) % 8;
  }
  CHECK_FALSE(IsRising(entries));
  ChunkEntries twice = entries;
  REQUIRE(SortRising(&entries));
  CHECK(IsRising(entries));
  for (uint64_t i = 0; i < kChunkEntries; ++i) CHECK(entries.bits[i] == i);
  twice.ops[6] = twice.ops[1] | kInt16;
  const ChunkEntries before = twice;
  CHECK_FALSE(SortRising(&twice));
  CHECK(std::memcmp(&before, &twice, sizeof twice) == 0);
}

}  // namespace
}  // namespace hg::points
