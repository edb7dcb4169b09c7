#include "storage/points/chunk_codec.h"

#include <algorithm>
#include <cmath>

#include "storage/model/exact_integers.h"
#include "storage/points/chunk_layout.h"
#include "storage/points/number_stream.h"

namespace hg::points {
namespace {

using namespace chunk_layout;

constexpr size_t n = kChunkEntries;

uint8_t WidthCode(uint64_t v) {
  if (v == 0) return 0;
  const int bits = std::bit_width(v);
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 3 : 4;
}
uint8_t SignedWidthCode(int64_t v) {
  return v == static_cast<int8_t>(v)    ? 1
         : v == static_cast<int16_t>(v) ? 2
         : v == static_cast<int32_t>(v) ? 3
                                        : 4;
}

bool IsMillis(uint32_t op) { return op >= codec::kMillisMark; }

template <typename T>
char* Store(T v, char* p) {
  std::memcpy(p, &v, sizeof v);
  return p + sizeof v;
}
template <typename T, typename From>
char* StoreAll(const From* from, char* p) {
  T narrow[n];
  for (size_t i = 0; i < n; ++i) narrow[i] = static_cast<T>(from[i]);
  std::memcpy(p, narrow, sizeof narrow);
  return p + sizeof narrow;
}
template <typename From>
char* StoreWidth(uint8_t code, const From* from, char* p) {
  switch (code) {
    case 0:
      return p;
    case 1:
      return StoreAll<uint8_t>(from, p);
    case 2:
      return StoreAll<uint16_t>(from, p);
    case 3:
      return StoreAll<uint32_t>(from, p);
    default:
      return StoreAll<uint64_t>(from, p);
  }
}

struct Times {
  bool millis = false;
  uint8_t code = 0;
  uint32_t first = 0;
  uint32_t step = 0;
  uint32_t above[n];  // times relative to the first time, in units of the resolution
};

// Computes the times of the entries. Returns false for a tombstone, mixed resolutions, a time
// before the first time, or qualifier bits that offset and flags do not determine.
bool FindTimes(const ChunkEntries& entries, Times* times) {
  times->millis = IsMillis(entries.ops[0]);
  uint32_t offsets[n];
  bool good = true;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t op = entries.ops[i];
    good = good && IsPoint(op) && IsMillis(op) == times->millis && ValidPointFlags(op & 0xF);
    offsets[i] = times->millis ? (op >> 6) & codec::kMillisOffsetMask : op >> 4;
    good = good && (!times->millis || (op & 0x30) == 0) && offsets[i] >= offsets[0];
  }
  if (!good) return false;
  times->first = offsets[0];
  uint32_t most = 0;
  bool grid = true;
  times->step = offsets[1] - offsets[0];
  for (size_t i = 0; i < n; ++i) {
    times->above[i] = offsets[i] - offsets[0];
    most = std::max(most, times->above[i]);
    grid = grid && times->above[i] == times->step * i;
  }
  times->code = grid ? 0 : std::max<uint8_t>(1, WidthCode(most));
  return true;
}

char* StoreTimes(const Times& times, char* p) {
  if (times.millis) {
    p = Store(times.first, p);
    if (times.code == 0) return Store(times.step, p);
  } else {
    p = Store(static_cast<uint16_t>(times.first), p);
    if (times.code == 0) return Store(static_cast<uint16_t>(times.step), p);
  }
  return StoreWidth(times.code, times.above, p);
}

// All values in the encoding `how`, and their common flags (kByValue: each value determines its
// flags). If no encoding fits all values, `how` is kPlainChunk.
struct EncodedValues {
  Class how = kPlainChunk;
  uint8_t flags = 0;
  int exponent = 0;
  int64_t numbers[n];  // kIntChunk, kDecimalChunk
};

bool SameFlags(const ChunkEntries& entries) {
  uint32_t differ = 0;
  for (size_t i = 1; i < n; ++i) differ |= (entries.ops[i] ^ entries.ops[0]) & 0xF;
  return differ == 0;
}

bool ToDecimals(const ChunkEntries& entries, int exponent, EncodedValues* values) {
  bool exact = true;
  for (size_t i = 0; i < n; ++i) {
    const PointValue value{entries.bits[i], static_cast<uint8_t>(entries.ops[i] & 0xF)};
    const double wide = value.as_double();
    const double product = wide * kPowers[exponent];
    if (!(std::fabs(product) < kExactIntegerMax)) return false;
    values->numbers[i] = std::llrint(product);
    const double back = static_cast<double>(values->numbers[i]) / kPowers[exponent];
    exact = exact && std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(wide);
  }
  return exact;
}

// The exponent that the last value needs is tried first, because values with equally many decimals
// mostly need the same exponent.
bool FindDecimals(const ChunkEntries& entries, EncodedValues* values) {
  for (int exponent = 0; exponent <= kExponentMax; ++exponent) {
    const PointValue last{entries.bits[n - 1], static_cast<uint8_t>(entries.ops[n - 1] & 0xF)};
    const double wide = last.as_double();
    const double product = wide * kPowers[exponent];
    if (!(std::fabs(product) < kExactIntegerMax)) return false;
    const double back = static_cast<double>(std::llrint(product)) / kPowers[exponent];
    if (std::bit_cast<uint64_t>(back) != std::bit_cast<uint64_t>(wide)) continue;
    if (!ToDecimals(entries, exponent, values)) continue;
    values->exponent = exponent;
    return true;
  }
  return false;
}

void FindValues(const ChunkEntries& entries, EncodedValues* values) {
  const auto flags = static_cast<uint8_t>(entries.ops[0] & 0xF);
  bool good = true;
  bool by_value = true;
  for (size_t i = 0; i < n; ++i) {
    const auto own = static_cast<uint8_t>(entries.ops[i] & 0xF);
    good = good && ((own ^ flags) & kFloatFlag) == 0 &&
           (own != kFloat32 || entries.bits[i] <= UINT32_MAX);
  }
  if (!good) return;
  const bool same = SameFlags(entries);
  if ((flags & kFloatFlag) == 0) {
    for (size_t i = 0; i < n; ++i) {
      values->numbers[i] = static_cast<int64_t>(entries.bits[i]);
      by_value = by_value && IntByRule(kIntsShortest, values->numbers[i]).flags ==
                                 static_cast<uint8_t>(entries.ops[i] & 0xF);
    }
    if (!same && !by_value) return;
    values->how = kIntChunk;
    values->flags = same ? flags : kByValue;
    return;
  }
  for (size_t i = 0; !same && i < n; ++i) {
    const PointValue value{entries.bits[i], static_cast<uint8_t>(entries.ops[i] & 0xF)};
    by_value = by_value && FloatByRule(kFloatsShortest, value.as_double()) == value;
  }
  if (!same && !by_value) return;
  values->flags = same ? flags : kByValue;
  if (FindDecimals(entries, values)) {
    values->how = kDecimalChunk;
  } else if (same) {
    values->how = kWordChunk;
  }
}

size_t EncodePlain(const ChunkEntries& entries, char* out) {
  *out = kPlainChunk;
  std::memcpy(out + 1, entries.ops, sizeof entries.ops);
  std::memcpy(out + 1 + sizeof entries.ops, entries.bits, sizeof entries.bits);
  return kChunkBytesMax;
}

}  // namespace

bool IsRising(const ChunkEntries& entries) {
  bool rising = IsPoint(entries.ops[0]);
  for (size_t i = 1; i < n; ++i) {
    rising = rising && IsPoint(entries.ops[i]) &&
             codec::Qualifier{entries.ops[i]}.offset_ms() >
                 codec::Qualifier{entries.ops[i - 1]}.offset_ms();
  }
  return rising;
}

bool SortRising(ChunkEntries* entries) {
  uint64_t keys[n];  // time and position
  for (size_t i = 0; i < n; ++i) {
    if (!IsPoint(entries->ops[i])) return false;
    keys[i] = uint64_t{codec::Qualifier{entries->ops[i]}.offset_ms()} << 8 | i;
  }
  std::sort(keys, keys + n);
  for (size_t i = 1; i < n; ++i) {
    if (keys[i] >> 8 == keys[i - 1] >> 8) return false;
  }
  const ChunkEntries before = *entries;
  for (size_t i = 0; i < n; ++i) {
    entries->ops[i] = before.ops[keys[i] & 0xFF];
    entries->bits[i] = before.bits[keys[i] & 0xFF];
  }
  return true;
}

size_t EncodeChunk(const ChunkEntries& entries, char* out) {
  Times times;
  EncodedValues values;
  if (!FindTimes(entries, &times)) return EncodePlain(entries, out);
  FindValues(entries, &values);
  if (values.how == kPlainChunk) return EncodePlain(entries, out);
  uint64_t above[n];
  uint8_t width = 0;
  uint8_t base_width = 0;
  int64_t base = 0;
  if (values.how == kWordChunk) {
    width = values.flags == kFloat32 ? 3 : 4;
    std::copy(entries.bits, entries.bits + n, above);
  } else {
    const auto [least, most] = std::minmax_element(values.numbers, values.numbers + n);
    width = WidthCode(static_cast<uint64_t>(*most) - static_cast<uint64_t>(*least));
    // Small numbers often need no base.
    if (*least < 0 || WidthCode(static_cast<uint64_t>(*most)) != width) {
      base = *least;
      base_width = SignedWidthCode(base);
    }
    for (size_t i = 0; i < n; ++i) {
      above[i] = static_cast<uint64_t>(values.numbers[i]) - static_cast<uint64_t>(base);
    }
  }
  const size_t bytes = kChunkHeadBytes + TimesBytes(times.millis, times.code) +
                       kWidths[base_width] + n * kWidths[width];
  if (bytes > kChunkBytesMax) return EncodePlain(entries, out);
  out[0] = static_cast<char>(values.how | (times.millis ? kMillisChunk : 0) |
                             times.code << kTimeShift | width << kWidthShift);
  out[1] = static_cast<char>(values.flags | values.exponent << kExponentShift);
  out[2] = static_cast<char>(base_width);
  char* const p = StoreTimes(times, out + kChunkHeadBytes);
  std::memcpy(p, &base, kWidths[base_width]);
  StoreWidth(width, above, p + kWidths[base_width]);
  return bytes;
}

size_t ChunkBytes(const char* chunk) {
  if ((*chunk & kClassMask) == kPlainChunk) return kChunkBytesMax;
  return ChunkShape(chunk).bytes;
}

size_t DecodeChunk(const char* chunk, ChunkEntries* entries) {
  if ((*chunk & kClassMask) == kPlainChunk) {
    std::memcpy(entries->ops, chunk + 1, sizeof entries->ops);
    std::memcpy(entries->bits, chunk + 1 + sizeof entries->ops, sizeof entries->bits);
    return kChunkBytesMax;
  }
  const ChunkShape shape(chunk);
  uint32_t offsets[n];
  LoadTimes(shape, chunk, offsets);
  LoadNumbers(shape, chunk, entries->bits);
  const Class how = shape.how();
  if (how == kDecimalChunk) DecimalsToDoubles(shape.exponent(), entries->bits);
  for (size_t i = 0; i < n; ++i) {
    PointValue value{entries->bits[i], shape.flags()};
    if (how == kIntChunk && shape.flags() == kByValue) {
      value = IntByRule(kIntsShortest, value.as_int());
    } else if (how == kDecimalChunk) {
      const double wide = std::bit_cast<double>(entries->bits[i]);
      value = shape.flags() == kByValue   ? FloatByRule(kFloatsShortest, wide)
              : shape.flags() == kFloat32 ? PointValue::Float(static_cast<float>(wide))
                                          : PointValue::Double(wide);
    }
    entries->bits[i] = value.bits;
    entries->ops[i] = (shape.millis() ? codec::Qualifier::Millis(offsets[i], value.flags)
                                      : codec::Qualifier::Seconds(offsets[i] / 1000, value.flags))
                          .bits;
  }
  return shape.bytes;
}

}  // namespace hg::points
