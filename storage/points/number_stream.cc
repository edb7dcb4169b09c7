#include "storage/points/number_stream.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace hg::points {
namespace {

enum How : uint8_t { kEqual = 0, kRange = 1, kSteps = 2, kAsTheyAre = 3 };

constexpr int kExponentMax = 15;
constexpr double kPowers[kExponentMax + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
// Products beyond this are not tried: they may not fit 64 bits.
constexpr double kProductMax = 9e18;

double FromDecimal(int64_t number, int exponent) {
  return static_cast<double>(number) / kPowers[exponent];
}

// Numbers by the smallest of the ways that store differences; as they are if none is smaller.
struct Numbers {
  How how = kEqual;
  Bytes bytes;
};

Numbers PackNumbers(const std::vector<uint64_t>& numbers) {
  auto signed_at = [&](size_t i) { return static_cast<int64_t>(numbers[i]); };
  const size_t n = numbers.size();
  int64_t least = signed_at(0);
  int64_t most = least;
  for (size_t i = 1; i < n; ++i) {
    least = std::min(least, signed_at(i));
    most = std::max(most, signed_at(i));
  }
  Numbers packed;
  if (least == most) {
    AppendVarint(&packed.bytes, ZigZag(least));
    return packed;
  }
  const uint64_t range = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
  std::vector<uint64_t> steps(n - 1);
  int64_t least_step = INT64_MAX;
  int64_t most_step = INT64_MIN;
  for (size_t i = 1; i < n; ++i) {
    steps[i - 1] = numbers[i] - numbers[i - 1];
    least_step = std::min(least_step, static_cast<int64_t>(steps[i - 1]));
    most_step = std::max(most_step, static_cast<int64_t>(steps[i - 1]));
  }
  const uint64_t step_range = static_cast<uint64_t>(most_step) - static_cast<uint64_t>(least_step);
  const size_t as_range = PackedBytes(n, BitWidth(range));
  const size_t as_steps = PackedBytes(n - 1, BitWidth(step_range)) + 1;
  if (as_steps < as_range) {
    packed.how = kSteps;
    AppendVarint(&packed.bytes, ZigZag(signed_at(0)));
    AppendVarint(&packed.bytes, ZigZag(least_step));
    packed.bytes.push_back(static_cast<char>(BitWidth(step_range)));
    for (uint64_t& step : steps) step -= static_cast<uint64_t>(least_step);
    PackBits(steps, BitWidth(step_range), &packed.bytes);
  } else {
    packed.how = kRange;
    AppendVarint(&packed.bytes, ZigZag(least));
    packed.bytes.push_back(static_cast<char>(BitWidth(range)));
    std::vector<uint64_t> above = numbers;
    for (uint64_t& number : above) number -= static_cast<uint64_t>(least);
    PackBits(above, BitWidth(range), &packed.bytes);
  }
  return packed;
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
    default:
      return false;
  }
  return in->ok();
}

void AppendStream(How how, uint8_t rule, ByteView numbers,
                  const std::vector<StreamException>& exceptions, Bytes* out) {
  out->push_back(static_cast<char>(rule << 4 | how));
  out->append(numbers);
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
    position += in->Varint();
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

// The decimal that a rule turns back into exactly this value.
std::optional<int64_t> ToDecimal(const PointValue& value, uint8_t rule, int exponent) {
  const double product = value.as_double() * kPowers[exponent];
  if (!(std::fabs(product) <= kProductMax)) return std::nullopt;
  const int64_t number = std::llround(product);
  if (FloatByRule(rule, FromDecimal(number, exponent)) != value) return std::nullopt;
  return number;
}

uint8_t PickFloatRule(std::span<const PointValue> values) {
  size_t misses[3] = {};
  for (const PointValue& value : values) {
    for (uint8_t rule : {kFloatsWide, kFloatsShortest, kFloatsSingle}) {
      misses[rule] += FloatByRule(rule, value.as_double()).flags != value.flags;
    }
  }
  return static_cast<uint8_t>(std::min_element(misses, misses + 3) - misses);
}

// Decimals of all values but some; false if they would not be worth it.
bool ToDecimals(std::span<const PointValue> values, uint8_t rule, int* exponent,
                std::vector<uint64_t>* numbers, std::vector<StreamException>* exceptions) {
  const size_t exceptions_max = values.size() / 4 + 1;
  size_t misses = 0;
  *exponent = 0;
  for (const PointValue& value : values) {
    int e = *exponent;
    while (e <= kExponentMax && !ToDecimal(value, rule, e)) ++e;
    if (e <= kExponentMax) {
      *exponent = e;
    } else if (++misses > exceptions_max) {
      return false;
    }
  }
  std::optional<uint64_t> filler;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto number = ToDecimal(values[i], rule, *exponent);
    if (number) {
      if (!filler) std::fill(numbers->begin(), numbers->end(), static_cast<uint64_t>(*number));
      filler = static_cast<uint64_t>(*number);
    } else {
      exceptions->push_back({static_cast<uint32_t>(i), values[i]});
      if (exceptions->size() > exceptions_max) return false;
    }
    numbers->push_back(filler.value_or(0));
  }
  return filler.has_value();
}

void EncodeFloatsAsTheyAre(std::span<const PointValue> values, uint8_t rule, Bytes* out) {
  Bytes bytes;
  std::vector<StreamException> exceptions;
  for (size_t i = 0; i < values.size(); ++i) {
    const double wide = values[i].as_double();
    // Converting a NaN between widths may change its bits.
    const bool exact = rule == kFloatsWide
                           ? values[i].flags == kFloat64
                           : FloatByRule(rule, wide) == values[i] && !std::isnan(wide);
    if (!exact) exceptions.push_back({static_cast<uint32_t>(i), values[i]});
    if (rule == kFloatsSingle) {
      AppendBig(&bytes, exact ? values[i].bits : 0, 4);
    } else {
      AppendBig(&bytes, exact ? std::bit_cast<uint64_t>(wide) : 0, 8);
    }
  }
  AppendStream(kAsTheyAre, rule, bytes, exceptions, out);
}

}  // namespace

void EncodeInts(std::span<const PointValue> values, Bytes* out) {
  std::vector<uint64_t> numbers;
  numbers.reserve(values.size());
  size_t misses[2] = {};
  for (const PointValue& value : values) {
    numbers.push_back(value.bits);
    for (uint8_t rule : {kIntsShortest, kIntsWide}) {
      misses[rule] += IntByRule(rule, value.as_int()) != value;
    }
  }
  const uint8_t rule = misses[kIntsWide] < misses[kIntsShortest] ? kIntsWide : kIntsShortest;
  std::vector<StreamException> exceptions;
  for (size_t i = 0; i < values.size(); ++i) {
    if (IntByRule(rule, values[i].as_int()) != values[i]) {
      exceptions.push_back({static_cast<uint32_t>(i), values[i]});
    }
  }
  const Numbers packed = PackNumbers(numbers);
  AppendStream(packed.how, rule, packed.bytes, exceptions, out);
}

void EncodeFloats(std::span<const PointValue> values, Bytes* out) {
  const uint8_t rule = PickFloatRule(values);
  int exponent = 0;
  std::vector<uint64_t> numbers;
  std::vector<StreamException> exceptions;
  Bytes plain;
  EncodeFloatsAsTheyAre(values, rule, &plain);
  if (ToDecimals(values, rule, &exponent, &numbers, &exceptions)) {
    const Numbers packed = PackNumbers(numbers);
    Bytes decimal;
    AppendStream(packed.how, rule, Bytes(1, static_cast<char>(exponent)) + packed.bytes, exceptions,
                 &decimal);
    if (decimal.size() <= plain.size()) {
      out->append(decimal);
      return;
    }
  }
  out->append(plain);
}

bool DecodeInts(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest) {
  const uint8_t kind = in->U8();
  rest->rule = kind >> 4;
  if (!in->ok() || rest->rule > kIntsWide) return false;
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
  } else if (how == kAsTheyAre) {
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

}  // namespace hg::points
