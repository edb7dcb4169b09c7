#pragma once
// The memory layout of a chunk of eight entries (chunk_codec.h), and functions that read the fields
// of a chunk. Only chunk_codec and chunk_decode use this file. The functions are compiled once for
// each kind of processor.

#include <bit>
#include <cstring>

#include "storage/points/chunk_codec.h"

#define HG_INLINE inline __attribute__((always_inline))

namespace hg::points::chunk_layout {

// The first byte of a chunk has the kind of the values, the resolution, and the widths of the times
// and of the values.
enum Class : uint8_t { kPlainChunk = 0, kIntChunk = 1, kDecimalChunk = 2, kWordChunk = 3 };
inline constexpr uint8_t kClassMask = 0x03;
inline constexpr uint8_t kMillisChunk = 0x04;
// Position of the width code of the times in the first byte. Times are stored as offsets from the
// first time. The width code 0 means that the step between times is constant.
inline constexpr int kTimeShift = 3;
// Position of the width code of the values in the first byte. The values are stored relative to the
// base.
inline constexpr int kWidthShift = 5;
// The second byte of a chunk has the flags of all values or kByValue, and the exponent of decimals.
// The third byte has the width code of the base, or 0 if the chunk has no base.
inline constexpr uint8_t kByValue = 0x2;  // each value has its own flags; no valid flags equal 2
inline constexpr int kExponentShift = 4;
inline constexpr size_t kChunkHeadBytes = 3;

// Maximum number of decimal digits after the point. Values with more digits are stored unchanged.
inline constexpr int kExponentMax = 6;
inline constexpr double kPowers[kExponentMax + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

// The width in bytes for each width code.
inline constexpr uint8_t kWidths[] = {0, 1, 2, 4, 8};

inline bool IsPoint(uint32_t op) { return op <= UINT16_MAX || op >= codec::kMillisMark; }

HG_INLINE size_t TimesBytes(bool millis, uint8_t code) {
  const size_t unit = millis ? 4 : 2;
  return unit + (code == 0 ? unit : kChunkEntries * kWidths[code]);
}

/// The positions of the fields in a chunk that is not plain, computed from the first bytes of the
/// chunk. Positions are counted from the first byte of the chunk. Most chunks of a row have the
/// same layout, so one ChunkShape can be used for several chunks.
struct ChunkShape {
  uint8_t first = 0, second = 0, base_code = 0;
  uint16_t base_at = 0, values_at = 0, bytes = 0;

  ChunkShape() = default;
  HG_INLINE explicit ChunkShape(const char* chunk)
      : first(static_cast<uint8_t>(chunk[0])),
        second(static_cast<uint8_t>(chunk[1])),
        base_code(static_cast<uint8_t>(chunk[2])),
        base_at(static_cast<uint16_t>(kChunkHeadBytes + TimesBytes(millis(), time_code()))),
        values_at(static_cast<uint16_t>(base_at + kWidths[base_code])),
        bytes(static_cast<uint16_t>(values_at + kChunkEntries * kWidths[width_code()])) {}
  /// Returns whether `chunk` has the layout of this object.
  [[nodiscard]] HG_INLINE bool IsOf(const char* chunk) const {
    return static_cast<uint8_t>(chunk[0]) == first && static_cast<uint8_t>(chunk[1]) == second &&
           static_cast<uint8_t>(chunk[2]) == base_code;
  }
  [[nodiscard]] HG_INLINE Class how() const { return static_cast<Class>(first & kClassMask); }
  [[nodiscard]] HG_INLINE bool millis() const { return (first & kMillisChunk) != 0; }
  [[nodiscard]] HG_INLINE uint8_t time_code() const { return first >> kTimeShift & 3; }
  [[nodiscard]] HG_INLINE uint8_t width_code() const { return first >> kWidthShift; }
  [[nodiscard]] HG_INLINE uint8_t flags() const { return second & 0xF; }
  [[nodiscard]] HG_INLINE int exponent() const { return second >> kExponentShift; }
};

template <typename T>
HG_INLINE T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename T, typename To>
HG_INLINE void LoadAll(const char* p, To base, To unit, To* to) {
  T narrow[kChunkEntries];
  std::memcpy(narrow, p, sizeof narrow);
  for (size_t i = 0; i < kChunkEntries; ++i) to[i] = (base + static_cast<To>(narrow[i])) * unit;
}
template <typename To>
HG_INLINE void LoadWidth(uint8_t code, const char* p, To base, To unit, To* to) {
  switch (code) {
    case 0:
      for (size_t i = 0; i < kChunkEntries; ++i) to[i] = base * unit;
      return;
    case 1:
      return LoadAll<uint8_t>(p, base, unit, to);
    case 2:
      return LoadAll<uint16_t>(p, base, unit, to);
    case 3:
      return LoadAll<uint32_t>(p, base, unit, to);
    default:
      return LoadAll<uint64_t>(p, base, unit, to);
  }
}

// Reads the offsets of all entries, in milliseconds.
HG_INLINE void LoadTimes(const ChunkShape& shape, const char* chunk, uint32_t* offsets) {
  const bool millis = shape.millis();
  const uint32_t unit = millis ? 1 : 1000;
  const uint32_t first =
      millis ? Load<uint32_t>(chunk + kChunkHeadBytes) : Load<uint16_t>(chunk + kChunkHeadBytes);
  const char* const rest = chunk + kChunkHeadBytes + (millis ? 4 : 2);
  if (shape.time_code() == 0) {
    const uint32_t step = millis ? Load<uint32_t>(rest) : Load<uint16_t>(rest);
    for (uint32_t i = 0; i < kChunkEntries; ++i) offsets[i] = first * unit + i * (step * unit);
    return;
  }
  LoadWidth<uint32_t>(shape.time_code(), rest, first, unit, offsets);
}

HG_INLINE uint64_t LoadBase(const ChunkShape& shape, const char* chunk) {
  switch (shape.base_code) {
    case 0:
      return 0;
    case 1:
      return static_cast<uint64_t>(int64_t{Load<int8_t>(chunk + shape.base_at)});
    case 2:
      return static_cast<uint64_t>(int64_t{Load<int16_t>(chunk + shape.base_at)});
    case 3:
      return static_cast<uint64_t>(int64_t{Load<int32_t>(chunk + shape.base_at)});
    default:
      return Load<uint64_t>(chunk + shape.base_at);
  }
}

// Reads the numbers of all entries. In a kWordChunk, these numbers are the stored bits.
HG_INLINE void LoadNumbers(const ChunkShape& shape, const char* chunk, uint64_t* numbers) {
  LoadWidth<uint64_t>(shape.width_code(), chunk + shape.values_at, LoadBase(shape, chunk), 1,
                      numbers);
}

HG_INLINE void DecimalsToDoubles(int exponent, uint64_t* numbers) {
  const double power = kPowers[exponent];
  for (size_t i = 0; i < kChunkEntries; ++i) {
    const double value = static_cast<double>(static_cast<int64_t>(numbers[i])) / power;
    numbers[i] = std::bit_cast<uint64_t>(value);
  }
}

HG_INLINE void WidenSingles(uint64_t* numbers) {
  for (size_t i = 0; i < kChunkEntries; ++i) {
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(numbers[i]));
    numbers[i] = std::bit_cast<uint64_t>(static_cast<double>(single));
  }
}

}  // namespace hg::points::chunk_layout
