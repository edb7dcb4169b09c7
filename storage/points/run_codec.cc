#include "storage/points/run_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "storage/points/number_stream.h"

namespace hg::points {
namespace {

constexpr size_t n = kRunEntries;

// First byte: what the values are, the resolution, and how far the instants stand apart.
enum Class : uint8_t { kPlain = 0, kInts = 1, kDecimals = 2, kWords = 3 };
constexpr uint8_t kClassMask = 0x03;
constexpr uint8_t kMillis = 0x04;
constexpr int kTimeShift = 3;   // 0: a grid; else the code of the width of offsets above the first
constexpr int kWidthShift = 5;  // the code of the width of values above the base
// Second byte: the flags of all values or kByValue, and the decimals' exponent. Third: the code of
// the width of the base, which is 0 where it is not stored.
constexpr uint8_t kByValue = 0x2;  // no value has these flags
constexpr int kExponentShift = 4;
constexpr size_t kHeadBytes = 3;

constexpr int kExponentMax = 6;  // what has more digits is stored as it is
constexpr double kPowers[kExponentMax + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
constexpr double kExactMax = 9007199254740992.0;  // 2^53

// Widths of 0, 1, 2, 4 and 8 bytes have codes 0 to 4.
constexpr uint8_t kWidths[] = {0, 1, 2, 4, 8};

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

bool IsPoint(uint32_t op) { return op <= UINT16_MAX || op >= codec::kMillisMark; }
bool IsMillis(uint32_t op) { return op >= codec::kMillisMark; }

template <typename T>
T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
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

// ---- encoding

struct Times {
  bool millis = false;
  uint8_t code = 0;
  uint32_t first = 0;
  uint32_t step = 0;
  uint32_t above[n];  // the first, in units of the resolution
};

// False: a mark, two resolutions, descending, or bits that offset and flags do not tell.
bool FindTimes(const RunEntries& entries, Times* times) {
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

size_t TimesBytes(bool millis, uint8_t code) {
  const size_t unit = millis ? 4 : 2;
  return unit + (code == 0 ? unit : n * kWidths[code]);
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

// All values in one way, and what tells their flags; kPlain: there is no such way.
struct Values {
  Class how = kPlain;
  uint8_t flags = 0;
  int exponent = 0;
  int64_t numbers[n];  // kInts, kDecimals
};

bool SameFlags(const RunEntries& entries) {
  uint32_t differ = 0;
  for (size_t i = 1; i < n; ++i) differ |= (entries.ops[i] ^ entries.ops[0]) & 0xF;
  return differ == 0;
}

bool ToDecimals(const RunEntries& entries, int exponent, Values* values) {
  bool exact = true;
  for (size_t i = 0; i < n; ++i) {
    const PointValue value{entries.bits[i], static_cast<uint8_t>(entries.ops[i] & 0xF)};
    const double wide = value.as_double();
    const double product = wide * kPowers[exponent];
    if (!(std::fabs(product) < kExactMax)) return false;
    values->numbers[i] = std::llrint(product);
    const double back = static_cast<double>(values->numbers[i]) / kPowers[exponent];
    exact = exact && std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(wide);
  }
  return exact;
}

// The exponent that the last value needs is tried first: of decimals with as many digits most need
// them all.
bool FindDecimals(const RunEntries& entries, Values* values) {
  for (int exponent = 0; exponent <= kExponentMax; ++exponent) {
    const PointValue last{entries.bits[n - 1], static_cast<uint8_t>(entries.ops[n - 1] & 0xF)};
    const double wide = last.as_double();
    const double product = wide * kPowers[exponent];
    if (!(std::fabs(product) < kExactMax)) return false;
    const double back = static_cast<double>(std::llrint(product)) / kPowers[exponent];
    if (std::bit_cast<uint64_t>(back) != std::bit_cast<uint64_t>(wide)) continue;
    if (!ToDecimals(entries, exponent, values)) continue;
    values->exponent = exponent;
    return true;
  }
  return false;
}

void FindValues(const RunEntries& entries, Values* values) {
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
    values->how = kInts;
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
    values->how = kDecimals;
  } else if (same) {
    values->how = kWords;
  }
}

size_t EncodePlain(const RunEntries& entries, char* out) {
  *out = kPlain;
  std::memcpy(out + 1, entries.ops, sizeof entries.ops);
  std::memcpy(out + 1 + sizeof entries.ops, entries.bits, sizeof entries.bits);
  return kRunBytesMax;
}

// ---- decoding

/// The parts of a run that is not plain.
struct Head {
  uint8_t first, second, third;
  const char* times;
  const char* base;
  const char* values;
  const char* end;

  explicit Head(const char* run)
      : first(static_cast<uint8_t>(run[0])),
        second(static_cast<uint8_t>(run[1])),
        third(static_cast<uint8_t>(run[2])),
        times(run + kHeadBytes) {
    base = times + TimesBytes(millis(), time_code());
    values = base + kWidths[third];
    end = values + n * kWidths[width_code()];
  }
  [[nodiscard]] Class how() const { return static_cast<Class>(first & kClassMask); }
  [[nodiscard]] bool millis() const { return (first & kMillis) != 0; }
  [[nodiscard]] uint8_t time_code() const { return first >> kTimeShift & 3; }
  [[nodiscard]] uint8_t width_code() const { return first >> kWidthShift; }
  [[nodiscard]] uint8_t flags() const { return second & 0xF; }
  [[nodiscard]] int exponent() const { return second >> kExponentShift; }
};

template <typename T, typename To>
void LoadAll(const char* p, To base, To unit, To* to) {
  T narrow[n];
  std::memcpy(narrow, p, sizeof narrow);
  for (size_t i = 0; i < n; ++i) to[i] = (base + static_cast<To>(narrow[i])) * unit;
}
template <typename To>
void LoadWidth(uint8_t code, const char* p, To base, To unit, To* to) {
  switch (code) {
    case 0:
      for (size_t i = 0; i < n; ++i) to[i] = base * unit;
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

// Offsets in milliseconds.
void LoadTimes(const Head& head, uint32_t* offsets) {
  const bool millis = head.millis();
  const uint32_t unit = millis ? 1 : 1000;
  const uint32_t first = millis ? Load<uint32_t>(head.times) : Load<uint16_t>(head.times);
  const char* const rest = head.times + (millis ? 4 : 2);
  if (head.time_code() == 0) {
    const uint32_t step = millis ? Load<uint32_t>(rest) : Load<uint16_t>(rest);
    for (uint32_t i = 0; i < n; ++i) offsets[i] = first * unit + i * (step * unit);
    return;
  }
  LoadWidth<uint32_t>(head.time_code(), rest, first, unit, offsets);
}

uint64_t LoadBase(const Head& head) {
  switch (head.third) {
    case 0:
      return 0;
    case 1:
      return static_cast<uint64_t>(int64_t{Load<int8_t>(head.base)});
    case 2:
      return static_cast<uint64_t>(int64_t{Load<int16_t>(head.base)});
    case 3:
      return static_cast<uint64_t>(int64_t{Load<int32_t>(head.base)});
    default:
      return Load<uint64_t>(head.base);
  }
}

// Numbers, or with kWords bits as they are stored.
void LoadNumbers(const Head& head, uint64_t* numbers) {
  LoadWidth<uint64_t>(head.width_code(), head.values, LoadBase(head), 1, numbers);
}

void DecimalsToDoubles(int exponent, uint64_t* numbers) {
  const double power = kPowers[exponent];
  for (size_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(static_cast<int64_t>(numbers[i])) / power;
    numbers[i] = std::bit_cast<uint64_t>(value);
  }
}

void WidenSingles(uint64_t* numbers) {
  for (size_t i = 0; i < n; ++i) {
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(numbers[i]));
    numbers[i] = std::bit_cast<uint64_t>(static_cast<double>(single));
  }
}

}  // namespace

bool IsRising(const RunEntries& entries) {
  bool rising = IsPoint(entries.ops[0]);
  for (size_t i = 1; i < n; ++i) {
    rising = rising && IsPoint(entries.ops[i]) &&
             codec::Qualifier{entries.ops[i]}.offset_ms() >
                 codec::Qualifier{entries.ops[i - 1]}.offset_ms();
  }
  return rising;
}

bool SortRising(RunEntries* entries) {
  uint64_t keys[n];  // instant and place
  for (size_t i = 0; i < n; ++i) {
    if (!IsPoint(entries->ops[i])) return false;
    keys[i] = uint64_t{codec::Qualifier{entries->ops[i]}.offset_ms()} << 8 | i;
  }
  std::sort(keys, keys + n);
  for (size_t i = 1; i < n; ++i) {
    if (keys[i] >> 8 == keys[i - 1] >> 8) return false;
  }
  const RunEntries before = *entries;
  for (size_t i = 0; i < n; ++i) {
    entries->ops[i] = before.ops[keys[i] & 0xFF];
    entries->bits[i] = before.bits[keys[i] & 0xFF];
  }
  return true;
}

size_t EncodeRun(const RunEntries& entries, char* out) {
  Times times;
  Values values;
  if (!FindTimes(entries, &times)) return EncodePlain(entries, out);
  FindValues(entries, &values);
  if (values.how == kPlain) return EncodePlain(entries, out);
  uint64_t above[n];
  uint8_t width = 0;
  uint8_t base_width = 0;
  int64_t base = 0;
  if (values.how == kWords) {
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
  const size_t bytes =
      kHeadBytes + TimesBytes(times.millis, times.code) + kWidths[base_width] + n * kWidths[width];
  if (bytes > kRunBytesMax) return EncodePlain(entries, out);
  out[0] = static_cast<char>(values.how | (times.millis ? kMillis : 0) | times.code << kTimeShift |
                             width << kWidthShift);
  out[1] = static_cast<char>(values.flags | values.exponent << kExponentShift);
  out[2] = static_cast<char>(base_width);
  char* const p = StoreTimes(times, out + kHeadBytes);
  std::memcpy(p, &base, kWidths[base_width]);
  StoreWidth(width, above, p + kWidths[base_width]);
  return bytes;
}

size_t RunBytes(const char* run) {
  if ((*run & kClassMask) == kPlain) return kRunBytesMax;
  return static_cast<size_t>(Head(run).end - run);
}

size_t DecodeRun(const char* run, RunEntries* entries) {
  if ((*run & kClassMask) == kPlain) {
    std::memcpy(entries->ops, run + 1, sizeof entries->ops);
    std::memcpy(entries->bits, run + 1 + sizeof entries->ops, sizeof entries->bits);
    return kRunBytesMax;
  }
  const Head head(run);
  uint32_t offsets[n];
  LoadTimes(head, offsets);
  LoadNumbers(head, entries->bits);
  const Class how = head.how();
  if (how == kDecimals) DecimalsToDoubles(head.exponent(), entries->bits);
  for (size_t i = 0; i < n; ++i) {
    PointValue value{entries->bits[i], head.flags()};
    if (how == kInts && head.flags() == kByValue) {
      value = IntByRule(kIntsShortest, value.as_int());
    } else if (how == kDecimals) {
      const double wide = std::bit_cast<double>(entries->bits[i]);
      value = head.flags() == kByValue   ? FloatByRule(kFloatsShortest, wide)
              : head.flags() == kFloat32 ? PointValue::Float(static_cast<float>(wide))
                                         : PointValue::Double(wide);
    }
    entries->bits[i] = value.bits;
    entries->ops[i] = (head.millis() ? codec::Qualifier::Millis(offsets[i], value.flags)
                                     : codec::Qualifier::Seconds(offsets[i] / 1000, value.flags))
                          .bits;
  }
  return static_cast<size_t>(head.end - run);
}

bool DecodeRuns(const char* run, const char* end, size_t* at, RowColumns* columns) {
  for (; run < end; *at += n) {
    if ((*run & kClassMask) == kPlain) {
      RunEntries entries;
      run += DecodeRun(run, &entries);
      for (size_t i = 0; i < n; ++i) {
        if (!IsPoint(entries.ops[i])) return false;
        const codec::Qualifier q{entries.ops[i]};
        columns->Set(*at + i, q.offset_ms(), {entries.bits[i], q.flags()});
      }
      continue;
    }
    const Head head(run);
    uint64_t* const values = columns->value.data() + *at;
    LoadTimes(head, columns->offset_ms.data() + *at);
    LoadNumbers(head, values);
    if (head.how() == kDecimals) DecimalsToDoubles(head.exponent(), values);
    if (head.how() == kWords && head.flags() == kFloat32) WidenSingles(values);
    columns->MarkKind(*at, n, head.how() != kInts);
    run = head.end;
  }
  return true;
}

}  // namespace hg::points
