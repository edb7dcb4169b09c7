#include "storage/points/number_stream.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "storage/points/split_stream.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace hg::points {
namespace {

constexpr int kExponentMax = 15;
constexpr double kPowers[kExponentMax + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
// Maximum product that is tried. Larger products may not fit in 64 bits.
constexpr double kProductMax = 9e18;

void AppendBig64(uint64_t v, Bytes* out) {
  v = __builtin_bswap64(v);
  out->append(reinterpret_cast<const char*>(&v), 8);
}

double FromDecimal(int64_t number, int exponent) {
  return static_cast<double>(number) / kPowers[exponent];
}

struct Bounds {
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;

  void Take(uint64_t number) {
    least = std::min(least, static_cast<int64_t>(number));
    most = std::max(most, static_cast<int64_t>(number));
  }
  [[nodiscard]] int width() const {
    return BitWidth(static_cast<uint64_t>(most) - static_cast<uint64_t>(least));
  }
};

// Appends the numbers in the smaller of the two difference encodings. Modifies `numbers`.
StreamWay PackNumbers(std::vector<uint64_t>* numbers, Bytes* out) {
  const size_t n = numbers->size();
  uint64_t* const v = numbers->data();
  Bounds range;
  Bounds steps;
  range.Take(v[0]);
  for (size_t i = 1; i < n; ++i) {
    range.Take(v[i]);
    steps.Take(v[i] - v[i - 1]);
  }
  if (range.least == range.most) {
    AppendVarint(out, ZigZag(range.least));
    return kEqual;
  }
  if (PackedBytes(n - 1, steps.width()) + 1 < PackedBytes(n, range.width())) {
    AppendVarint(out, ZigZag(static_cast<int64_t>(v[0])));
    AppendVarint(out, ZigZag(steps.least));
    out->push_back(static_cast<char>(steps.width()));
    for (size_t i = n - 1; i > 0; --i) v[i] -= v[i - 1] + static_cast<uint64_t>(steps.least);
    PackBits({v + 1, n - 1}, steps.width(), out);
    return kSteps;
  }
  AppendVarint(out, ZigZag(range.least));
  out->push_back(static_cast<char>(range.width()));
  for (size_t i = 0; i < n; ++i) v[i] -= static_cast<uint64_t>(range.least);
  PackBits(*numbers, range.width(), out);
  return kRange;
}

template <typename Put>
bool UnpackNumbers(ByteReader* in, uint8_t how, size_t n, Put&& put) {
  int width = 0;
  switch (how) {
    case kEqual: {
      const auto number = static_cast<uint64_t>(in->Zz());
      for (size_t i = 0; i < n; ++i) put(i, number);
      break;
    }
    case kRange: {
      const auto least = static_cast<uint64_t>(in->Zz());
      const ByteView packed = in->Packed(n, &width);
      if (!in->ok()) return false;
      UnpackBits(packed, n, width, [&](size_t i, uint64_t above) { put(i, least + above); });
      break;
    }
    case kSteps: {
      auto number = static_cast<uint64_t>(in->Zz());
      const auto least = static_cast<uint64_t>(in->Zz());
      const ByteView packed = in->Packed(n - 1, &width);
      if (!in->ok()) return false;
      put(0, number);
      UnpackBits(packed, n - 1, width, [&](size_t i, uint64_t above) {
        number += least + above;
        put(i + 1, number);
      });
      break;
    }
    case kAsTheyAre: {
      const ByteView bytes = in->Take(n * 8);
      if (!in->ok()) return false;
      for (size_t i = 0; i < n; ++i) put(i, ReadBig64(bytes.data() + 8 * i));
      break;
    }
    case kSplit:
    case kSplitBits:
      return UnpackSplit(in, n, put);
    default:
      return false;
  }
  return in->ok();
}

// Reserves the kind byte of a stream, which is set when the encoding is known.
class StreamKind {
 public:
  explicit StreamKind(Bytes* out) : out_(out), at_(out->size()) { out->push_back(0); }
  void Set(StreamWay how, uint8_t rule) { (*out_)[at_] = static_cast<char>(rule << 4 | how); }

 private:
  Bytes* out_;
  size_t at_;
};

void AppendExceptions(const std::vector<StreamException>& exceptions, Bytes* out) {
  AppendVarint(out, exceptions.size());
  uint32_t last = 0;
  for (const StreamException& exception : exceptions) {
    AppendVarint(out, exception.position - last);
    last = exception.position;
    out->push_back(static_cast<char>(exception.value.flags));
    AppendBig(out, exception.value.bits, ValueWidth(exception.value.flags));
  }
}

bool TakeExceptions(ByteReader* in, bool floats, size_t n, uint64_t* wide, StreamRest* rest) {
  const uint64_t count = in->Varint();
  if (!in->ok() || count > n) return false;
  rest->exceptions.resize(count);
  uint64_t position = 0;
  for (StreamException& exception : rest->exceptions) {
    const uint64_t step = in->Varint();
    const bool rises = step > 0 || &exception == rest->exceptions.data();
    if (!rises || step >= n) return false;
    position += step;
    const uint8_t flags = in->U8();
    if (!in->ok() || position >= n || !ValidPointFlags(flags)) return false;
    if (((flags & kFloatFlag) != 0) != floats) return false;
    const int width = ValueWidth(flags);
    uint64_t bits = in->Big(width);
    if (!floats && width < 8) {
      bits =
          static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width));
    }
    exception = {static_cast<uint32_t>(position), {bits, flags}};
    wide[position] = floats ? std::bit_cast<uint64_t>(exception.value.as_double()) : bits;
  }
  return in->ok();
}

// Returns the first position that is not an exception.
size_t FirstRegular(const std::vector<StreamException>& exceptions) {
  size_t i = 0;
  while (i < exceptions.size() && exceptions[i].position == i) ++i;
  return i;
}

int64_t Nearest(double v) {
#ifdef __SSE2__
  return _mm_cvtsd_si64(_mm_set_sd(v));
#else
  return std::llrint(v);
#endif
}

// Finds the scaled integer that the rule converts back to exactly this value.
bool ToDecimal(const PointValue& value, double wide, uint8_t rule, int exponent, uint64_t* number) {
  const double product = wide * kPowers[exponent];
  if (!(std::fabs(product) <= kProductMax)) return false;
  const int64_t nearest = Nearest(product);
  *number = static_cast<uint64_t>(nearest);
  const double back = FromDecimal(nearest, exponent);
  if (rule == kFloatsWide) {
    return std::bit_cast<uint64_t>(back) == value.bits && value.flags == kFloat64;
  }
  return FloatByRule(rule, back) == value;
}

uint8_t PickFloatRule(std::span<const PointValue> values) {
  size_t singles = 0;
  for (const PointValue& value : values) singles += value.flags == kFloat32;
  if (singles == 0) return kFloatsWide;
  if (singles == values.size()) return kFloatsSingle;
  size_t misses = 0;
  for (const PointValue& value : values) {
    misses += FloatByRule(kFloatsShortest, value.as_double()).flags != value.flags;
  }
  const size_t wides = values.size() - singles;
  if (misses <= singles && misses <= wides) return kFloatsShortest;
  return singles < wides ? kFloatsWide : kFloatsSingle;
}

// Converts the values to scaled integers, with some exceptions. Returns false if this is not
// worthwhile. When a value needs a larger exponent, the conversion starts again.
bool ToDecimals(std::span<const PointValue> values, uint8_t rule, int* exponent,
                std::vector<uint64_t>* numbers, std::vector<StreamException>* exceptions) {
  const size_t exceptions_max = values.size() / 4 + 1;
  numbers->resize(values.size());
  *exponent = 0;
  std::optional<uint64_t> filler;
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t& number = (*numbers)[i];
    const double wide = values[i].as_double();
    if (ToDecimal(values[i], wide, rule, *exponent, &number)) {
      filler = number;
      continue;
    }
    int e = *exponent + 1;
    while (e <= kExponentMax && !ToDecimal(values[i], wide, rule, e, &number)) ++e;
    if (e <= kExponentMax) {
      *exponent = e;
      filler.reset();
      exceptions->clear();
      i = SIZE_MAX;
      continue;
    }
    exceptions->push_back({static_cast<uint32_t>(i), values[i]});
    // The limit is stricter at the beginning, so values that are not decimals are detected early.
    if (exceptions->size() > exceptions_max || exceptions->size() > i / 2 + 2) return false;
    number = filler.value_or(0);
  }
  if (!filler) return false;
  // Exceptions at the front had no previous number to repeat, so they get the first regular one.
  const uint64_t first = (*numbers)[FirstRegular(*exceptions)];
  for (size_t i = 0; i < FirstRegular(*exceptions); ++i) (*numbers)[i] = first;
  return true;
}

// Returns the bits of the values as doubles, or as floats if the rule is kFloatsSingle. A value
// that cannot be restored from these bits is added to `exceptions`.
std::vector<uint64_t> BitsOf(std::span<const PointValue> values, uint8_t rule,
                             std::vector<StreamException>* exceptions) {
  std::vector<uint64_t> numbers(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double wide = values[i].as_double();
    // Converting a NaN between float and double may change its bits.
    const bool exact = rule == kFloatsWide
                           ? values[i].flags == kFloat64
                           : FloatByRule(rule, wide) == values[i] && !std::isnan(wide);
    if (!exact) {
      exceptions->push_back({static_cast<uint32_t>(i), values[i]});
      numbers[i] = i > 0 ? numbers[i - 1] : 0;
    } else {
      numbers[i] = rule == kFloatsSingle ? values[i].bits : std::bit_cast<uint64_t>(wide);
    }
  }
  return numbers;
}

void EncodeFloatsAsTheyAre(std::span<const PointValue> values, uint8_t rule, Bytes* out) {
  StreamKind(out).Set(kAsTheyAre, rule);
  std::vector<StreamException> exceptions;
  for (const uint64_t number : BitsOf(values, rule, &exceptions)) {
    rule == kFloatsSingle ? AppendBig(out, number, 4) : AppendBig64(number, out);
  }
  AppendExceptions(exceptions, out);
}

bool DecodeFloatValues(ByteReader* in, size_t n, std::vector<PointValue>* values) {
  std::vector<uint64_t> wide(n);
  StreamRest rest;
  if (!DecodeFloats(in, n, wide.data(), &rest)) return false;
  values->resize(n);
  for (size_t i = 0; i < n; ++i) {
    (*values)[i] = FloatByRule(rest.rule, std::bit_cast<double>(wide[i]));
  }
  for (const StreamException& exception : rest.exceptions) {
    (*values)[exception.position] = exception.value;
  }
  return true;
}

// Replaces *out by the bits of the values, split in two pieces. Returns false if decoding gives
// other values.
bool SplitBitsOf(std::span<const PointValue> values, uint8_t rule, Bytes* out) {
  out->clear();
  StreamKind(out).Set(kSplitBits, rule);
  std::vector<StreamException> exceptions;
  AppendSplit(BitsOf(values, rule, &exceptions), false, out);
  AppendExceptions(exceptions, out);
  std::vector<PointValue> back;
  ByteReader reader(*out);
  return DecodeFloatValues(&reader, values.size(), &back) && reader.rest().empty() &&
         std::equal(back.begin(), back.end(), values.begin(), values.end());
}

// Appends numbers split in two pieces. Returns false, with `out` unchanged, if decoding gives other
// values.
bool SplitNumbers(std::span<const uint64_t> numbers, bool steps, Bytes* out) {
  const size_t start = out->size();
  AppendSplit(numbers, steps, out);
  ByteReader back(ByteView(*out).substr(start));
  bool same = true;
  const bool read = UnpackSplit(&back, numbers.size(), [&](size_t i, uint64_t number) {
    same = same && number == numbers[i];
  });
  if (read && same && back.rest().empty()) return true;
  out->resize(start);
  return false;
}

}  // namespace

void EncodeInts(std::span<const PointValue> values, Bytes* out) {
  std::vector<uint64_t> numbers(values.size());
  size_t misses[2] = {};
  for (size_t i = 0; i < values.size(); ++i) {
    numbers[i] = values[i].bits;
    misses[kIntsShortest] += IntByRule(kIntsShortest, values[i].as_int()).flags != values[i].flags;
    misses[kIntsWide] += values[i].flags != kInt64;
  }
  const uint8_t rule = misses[kIntsWide] < misses[kIntsShortest] ? kIntsWide : kIntsShortest;
  std::vector<StreamException> exceptions;
  for (size_t i = 0; misses[rule] > 0 && i < values.size(); ++i) {
    if (IntByRule(rule, values[i].as_int()) != values[i]) {
      exceptions.push_back({static_cast<uint32_t>(i), values[i]});
    }
  }
  StreamKind kind(out);
  kind.Set(PackNumbers(&numbers, out), rule);
  AppendExceptions(exceptions, out);
}

void EncodeFloats(std::span<const PointValue> values, Bytes* out) {
  const uint8_t rule = PickFloatRule(values);
  const size_t plain_size = values.size() * (rule == kFloatsSingle ? 4 : 8);
  int exponent = 0;
  std::vector<uint64_t> numbers;
  std::vector<StreamException> exceptions;
  const size_t start = out->size();
  if (ToDecimals(values, rule, &exponent, &numbers, &exceptions)) {
    StreamKind kind(out);
    out->push_back(static_cast<char>(exponent));
    kind.Set(PackNumbers(&numbers, out), rule);
    AppendExceptions(exceptions, out);
    if (out->size() - start <= plain_size + 2) return;
    out->resize(start);
  }
  EncodeFloatsAsTheyAre(values, rule, out);
}

bool DecodeInts(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest) {
  const uint8_t kind = in->U8();
  rest->rule = kind >> 4;
  if (!in->ok() || rest->rule > kIntsWide || (kind & 0xF) == kSplitBits) return false;
  if (!UnpackNumbers(in, kind & 0xF, n, [&](size_t i, uint64_t v) { wide[i] = v; })) return false;
  return TakeExceptions(in, false, n, wide, rest);
}

bool DecodeFloats(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest) {
  const uint8_t kind = in->U8();
  const uint8_t how = kind & 0xF;
  rest->rule = kind >> 4;
  if (!in->ok() || rest->rule > kFloatsSingle) return false;
  if (how == kAsTheyAre && rest->rule == kFloatsSingle) {
    const ByteView bytes = in->Take(n * 4);
    if (!in->ok()) return false;
    for (size_t i = 0; i < n; ++i) {
      const PointValue single{ReadBig32(bytes.data() + 4 * i), kFloat32};
      wide[i] = std::bit_cast<uint64_t>(single.as_double());
    }
  } else if (how == kSplitBits && rest->rule == kFloatsSingle) {
    const bool read = UnpackNumbers(in, how, n, [&](size_t i, uint64_t bits) {
      const PointValue single{static_cast<uint32_t>(bits), kFloat32};
      wide[i] = std::bit_cast<uint64_t>(single.as_double());
    });
    if (!read) return false;
  } else if (how == kAsTheyAre || how == kSplitBits) {
    if (!UnpackNumbers(in, how, n, [&](size_t i, uint64_t bits) { wide[i] = bits; })) return false;
  } else {
    const uint8_t exponent = in->U8();
    if (!in->ok() || exponent > kExponentMax) return false;
    const double power = kPowers[exponent];
    const bool single = rest->rule == kFloatsSingle;
    const bool read = UnpackNumbers(in, how, n, [&](size_t i, uint64_t number) {
      double value = static_cast<double>(static_cast<int64_t>(number)) / power;
      if (single) value = static_cast<double>(static_cast<float>(value));
      wide[i] = std::bit_cast<uint64_t>(value);
    });
    if (!read) return false;
  }
  return TakeExceptions(in, true, n, wide, rest);
}

bool SplitStream(ByteReader* in, bool floats, size_t n, Bytes* out) {
  constexpr size_t kWorthWhile = 8;  // minimum number of values for which splitting is tried
  constexpr int kLongDecimals = 11;  // with this many decimals, the raw bits may be shorter
  const ByteView whole = in->rest();
  const uint8_t kind = in->U8();
  const uint8_t how = kind & 0xF;
  const uint8_t rule = kind >> 4;
  const bool bits = how == kAsTheyAre || how == kSplitBits;
  const uint8_t exponent = floats && !bits ? in->U8() : 0;
  std::vector<uint64_t> numbers(n);
  if (floats && how == kAsTheyAre && rule == kFloatsSingle) {
    for (uint64_t& number : numbers) number = in->Big(4);
  } else if (!UnpackNumbers(in, how, n, [&](size_t i, uint64_t number) { numbers[i] = number; })) {
    return false;
  }
  const ByteView exceptions = in->rest();
  StreamRest rest;
  std::vector<uint64_t> wide(n);
  if (!in->ok() || !TakeExceptions(in, floats, n, wide.data(), &rest)) return false;
  const bool packed = how == kRange || how == kSteps || (floats && how == kAsTheyAre);
  const size_t start = out->size();
  if (packed && n >= kWorthWhile) {
    StreamKind(out).Set(bits ? kSplitBits : kSplit, rule);
    if (floats && !bits) out->push_back(static_cast<char>(exponent));
    if (SplitNumbers(numbers, how == kSteps, out)) {
      out->append(exceptions.substr(0, exceptions.size() - in->rest().size()));
    } else {
      out->resize(start);
    }
  }
  if (out->size() == start) out->append(whole.substr(0, whole.size() - in->rest().size()));
  if (!floats || bits || !packed) return true;
  if (rest.exceptions.empty() && exponent < kLongDecimals) return true;
  ByteReader again(whole);
  std::vector<PointValue> values;
  Bytes of_bits;
  if (DecodeFloatValues(&again, n, &values) && SplitBitsOf(values, rule, &of_bits) &&
      of_bits.size() < out->size() - start) {
    out->replace(start, Bytes::npos, of_bits);
  }
  return true;
}

}  // namespace hg::points
