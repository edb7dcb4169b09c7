#include "storage/points/row_codec.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "storage/points/bit_pack.h"
#include "storage/points/byte_reader.h"
#include "storage/points/number_stream.h"
#include "storage/points/row_layout.h"
#include "storage/points/row_statistics.h"
#include "storage/points/split_row.h"

namespace hg::points {
namespace {

PartPoint Point(uint32_t offset_ms, bool millis, PointValue value, uint32_t sequence = 0) {
  return {millis ? codec::Qualifier::Millis(offset_ms, value.flags)
                 : codec::Qualifier::Seconds(offset_ms / 1000, value.flags),
          sequence, value.bits};
}

std::vector<PartPoint> Grid(size_t n, uint32_t step_s, const auto& value) {
  std::vector<PartPoint> points;
  for (size_t i = 0; i < n; ++i) {
    points.push_back(Point(static_cast<uint32_t>(i) * step_s * 1000, false, value(i)));
  }
  return points;
}

// Checks that DecodeRow and AppendColumns both return exactly the bits of `points`.
void CheckDecodes(const Bytes& encoded, const std::vector<PartPoint>& points, RowTraits traits) {
  traits.dups = std::adjacent_find(points.begin(), points.end(), [](const auto& a, const auto& b) {
                  return a.offset_ms() == b.offset_ms();
                }) != points.end();
  auto summary = ReadRowSummary(encoded);
  REQUIRE(summary.ok());
  CHECK(summary->traits == traits);
  CHECK(summary->count == points.size());
  std::vector<PartPoint> back;
  auto read = DecodeRow(encoded, 7, &back);
  REQUIRE(read.ok());
  CHECK(*read == traits);
  const bool own = traits.has_raw && std::any_of(points.begin(), points.end(),
                                                 [](const auto& p) { return p.sequence != 0; });
  std::vector<PartPoint> expected = points;
  for (PartPoint& point : expected) {
    if (!own) point.sequence = 7;
  }
  REQUIRE(back == expected);

  RowColumns columns;
  REQUIRE(AppendColumns(encoded, &columns).ok());
  REQUIRE(columns.value.size() == points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const PointValue value{points[i].bits, points[i].qualifier.flags()};
    CHECK(columns.offset_ms[i] == points[i].offset_ms());
    CHECK((columns.is_double.empty() ? columns.all_double : columns.is_double[i] != 0) ==
          value.is_float());
    const uint64_t wide =
        value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits;
    if (columns.value[i] != wide) {
      REQUIRE(columns.value[i] == wide);
    }
  }
}

// Encodes, also in the form of merged files, and decodes again. Returns the encoding.
Bytes CheckRoundTrip(const std::vector<PartPoint>& points, RowTraits traits = {RowForm::kAuto}) {
  Bytes encoded = "front";
  EncodeRow(points, traits, &encoded);
  REQUIRE(encoded.starts_with("front"));
  encoded.erase(0, 5);
  CheckDecodes(encoded, points, traits);
  Bytes split = "front";
  REQUIRE(SplitRow(encoded, &split));
  REQUIRE(split.starts_with("front"));
  split.erase(0, 5);
  CheckDecodes(split, points, traits);
  Bytes again;
  REQUIRE(SplitRow(split, &again));
  CHECK(again == split);
  return encoded;
}

// Returns the statistics that the encoded row has. All forms of the row must have the same.
std::optional<RowStatistics> StatisticsIn(const std::vector<PartPoint>& points) {
  Bytes encoded, split;
  EncodeRow(points, {RowForm::kAuto}, &encoded);
  REQUIRE(SplitRow(encoded, &split));
  const auto read = ReadRowStatistics(split);
  REQUIRE(read.ok());
  CHECK(*ReadRowStatistics(encoded) == *read);
  RowStatistics settled;
  CHECK(ReadSettledStatistics(split, &settled) == read->has_value());
  if (*read) CHECK(settled == **read);
  return *read;
}

TEST_CASE("a row contains the statistics of its points") {
  std::mt19937_64 random(9);
  for (const bool doubles : {false, true}) {
    for (const uint32_t step_s : {1, 10, 17, 35}) {
      auto points = Grid(3600 / step_s, step_s, [&](size_t) {
        const auto number = static_cast<int64_t>(random() % 100'000) - 40'000;
        return doubles ? PointValue::Double(static_cast<double>(number) / 7)
                       : PointValue::Int(number);
      });
      points.erase(points.begin() + 1);  // no constant distance
      double least = 1e9, most = -1e9, sum = 0;
      for (const PartPoint& point : points) {
        const double v = doubles ? std::bit_cast<double>(point.bits)
                                 : static_cast<double>(static_cast<int64_t>(point.bits));
        least = std::min(least, v);
        most = std::max(most, v);
        sum += v;
      }
      const auto found = StatisticsIn(points);
      REQUIRE(found);
      CHECK(found->count == points.size());
      CHECK(found->first_offset_ms == 0);
      CHECK(found->last_offset_ms == points.back().offset_ms());
      CHECK(found->all_double == doubles);
      CHECK(found->least == least);
      CHECK(found->most == most);
      CHECK(found->sum == sum);
    }
  }
}

TEST_CASE("wrong statistics are detected") {
  for (const bool doubles : {false, true}) {
    Bytes encoded, split;
    EncodeRow(Grid(200, 10,
                   [&](size_t i) {
                     return doubles ? PointValue::Double(static_cast<double>(i % 9) / 10)
                                    : PointValue::Int(static_cast<int64_t>(i % 9));
                   }),
              {RowForm::kAuto}, &encoded);
    CHECK(StatisticsHold(encoded));
    REQUIRE(SplitRow(encoded, &split));
    CHECK(StatisticsHold(split));
    RowStatistics kept = **ReadRowStatistics(split);
    Bytes right, wrong;
    AppendStatistics(kept, &right);
    kept.sum += 1;
    AppendStatistics(kept, &wrong);
    const size_t at = split.find(right);
    REQUIRE(at != Bytes::npos);
    split.replace(at, right.size(), wrong);
    CHECK_FALSE(StatisticsHold(split));
  }
}

TEST_CASE("rows whose sums do not fit have no statistics") {
  const auto with = [](PointValue odd) {
    return StatisticsIn(Grid(200, 10,
                             [&](size_t i) {
                               if (i == 7) return odd;
                               return odd.is_float() ? PointValue::Double(0.5) : PointValue::Int(5);
                             }))
        .has_value();
  };
  CHECK(with(PointValue::Double(0.0)));
  CHECK(with(PointValue::Int(-1000)));
  CHECK_FALSE(with(PointValue::Double(-0.0)));
  CHECK_FALSE(with(PointValue::Double(std::numeric_limits<double>::quiet_NaN())));
  CHECK_FALSE(with(PointValue::Double(std::numeric_limits<double>::infinity())));
  CHECK_FALSE(with(PointValue::Int(int64_t{1} << 53)));
  CHECK_FALSE(with(PointValue::Int(INT64_MIN)));
  CHECK_FALSE(StatisticsIn(Grid(200, 10, [](size_t i) {
                return i == 3 ? PointValue::Int(1) : PointValue::Double(1.5);
              })).has_value());
  CHECK_FALSE(StatisticsIn(Grid(99, 10, [](size_t) { return PointValue::Int(1); })).has_value());
}

TEST_CASE("packed numbers of every width are restored at any position") {
  std::mt19937_64 random(1);
  for (int width = 0; width <= 64; ++width) {
    for (size_t count : {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 200}) {
      std::vector<uint64_t> values(count);
      const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
      for (uint64_t& value : values) value = random() & mask;
      if (count > 2) values[1] = mask;
      Bytes packed;
      PackBits(values, width, &packed);
      CHECK(packed.size() == PackedBytes(count, width));
      std::vector<uint64_t> back(count, 1);
      // An exact copy on the heap, so that the address sanitizer finds reads beyond the end.
      std::vector<char> exact(packed.begin(), packed.end());
      UnpackBits({exact.data(), exact.size()}, count, width,
                 [&](size_t i, uint64_t v) { back[i] = v; });
      REQUIRE(back == values);
    }
  }
}

TEST_CASE("rows of every kind of number are restored bit for bit") {
  std::mt19937_64 random(2);
  std::vector<PointValue> odd = {PointValue::Double(-0.0),
                                 PointValue::Float(-0.0F),
                                 PointValue::Double(0.0),
                                 PointValue::Float(0.0F),
                                 PointValue{0x7FF8000000000123, kFloat64},
                                 PointValue{0x7FF0000000000001, kFloat64},  // a signalling NaN
                                 PointValue{0x7F800001, kFloat32},          // another
                                 PointValue{0x7FC00005, kFloat32},
                                 PointValue::Double(HUGE_VAL),
                                 PointValue::Float(-HUGE_VALF),
                                 PointValue::Double(5e-324),
                                 PointValue::Float(1e-45F),
                                 PointValue::Double(1.7976931348623157e308),
                                 PointValue::Double(9007199254740993.0),
                                 PointValue::Double(1e15 + 0.3),
                                 PointValue::Double(0.1),
                                 PointValue::Float(0.1F),
                                 PointValue{0, kInt64},
                                 PointValue{5, kInt32},
                                 PointValue::Int(INT64_MIN),
                                 PointValue::Int(INT64_MAX),
                                 PointValue::Int(-1)};
  for (const PointValue& value : odd) CheckRoundTrip({Point(0, false, value)});
  for (const PointValue& a : odd) {
    for (const PointValue& b : odd) {
      CheckRoundTrip({Point(1000, false, a), Point(2000, false, b)});
      CheckRoundTrip(Grid(40, 60, [&](size_t i) { return i % 7 == 3 ? a : b; }));
    }
  }
  for (size_t n : {1, 2, 3, 9, 60, 360}) {
    CheckRoundTrip(Grid(n, 10, [&](size_t) { return odd[random() % odd.size()]; }));
    CheckRoundTrip(Grid(n, 10, [](size_t) { return PointValue::Int(5); }));
    CheckRoundTrip(
        Grid(n, 10, [](size_t i) { return PointValue::Int(1000 + static_cast<int64_t>(i) * 3); }));
    CheckRoundTrip(
        Grid(n, 10, [&](size_t) { return PointValue::Int(static_cast<int64_t>(random())); }));
    CheckRoundTrip(Grid(n, 10, [&](size_t) { return PointValue{random() % 100, kInt64}; }));
    CheckRoundTrip(
        Grid(n, 10, [&](size_t) { return PointValue::Double((random() % 100000) / 100.0); }));
    CheckRoundTrip(
        Grid(n, 10, [&](size_t) { return PointValue::Double(std::bit_cast<double>(random())); }));
    CheckRoundTrip(Grid(n, 10, [&](size_t) {
      return PointValue{random() & 0xFFFFFFFF, kFloat32};
    }));
    // Like points from telnet: floats if they represent the number exactly.
    CheckRoundTrip(Grid(n, 10, [&](size_t) {
      const double value = (random() % 10000) / 100.0;
      return static_cast<double>(static_cast<float>(value)) == value
                 ? PointValue::Float(static_cast<float>(value))
                 : PointValue::Double(value);
    }));
    // Like imported points: always floats.
    CheckRoundTrip(Grid(n, 10, [&](size_t) {
      return PointValue::Float(static_cast<float>((random() % 10000) / 100.0));
    }));
  }
}

TEST_CASE(
    "random rows of both resolutions, with duplicates, cell forms and sequence numbers, are "
    "restored") {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::vector<PartPoint> points;
    const size_t n = 1 + random() % 120;
    const uint32_t kind = random() % 6;
    uint32_t at = random() % 1000;
    for (size_t i = 0; i < n; ++i) {
      const bool millis = kind == 0 || (kind >= 4 && random() % 2 == 0);
      const uint32_t step = kind == 1   ? 10000
                            : kind == 2 ? 1000 * (1 + random() % 30)
                                        : random() % 20000;
      at = std::min(at + (kind == 5 && random() % 3 == 0 ? 0 : step), 3599000U);
      if (!millis) at -= at % 1000;
      PointValue value;
      switch (random() % 4) {
        case 0:
          value = PointValue::Int(static_cast<int64_t>(random() >> (random() % 64)));
          break;
        case 1:
          value = PointValue::Double((random() % 1000) / 10.0);
          break;
        case 2:
          value = PointValue::Float(static_cast<float>(random() % 1000) / 4);
          break;
        default:
          value = PointValue::Double(std::bit_cast<double>(random()));
      }
      points.push_back(Point(at, millis, value, static_cast<uint32_t>(random() % 5)));
      if (at % 1000 != 0) at = at + 1;
    }
    RowPart part;
    part.points = points;
    Normalize(&part);
    const RowTraits traits{static_cast<RowForm>(random() % 4), random() % 2 == 0};
    CheckRoundTrip(part.points, traits);
  }
}

TEST_CASE("typical machine metrics take few bytes") {
  std::mt19937_64 random(3);
  int64_t level = 50;
  auto walk = [&](size_t) {
    level = std::clamp<int64_t>(level + static_cast<int64_t>(random() % 3) - 1, 0, 100);
    return level;
  };
  auto bytes_per_point = [](const std::vector<PartPoint>& points) {
    return static_cast<double>(CheckRoundTrip(points).size()) / static_cast<double>(points.size());
  };
  CHECK(bytes_per_point(Grid(360, 10, [&](size_t i) { return PointValue::Int(walk(i)); })) < 0.45);
  // Half of the size is statistics.
  CHECK(bytes_per_point(Grid(360, 10, [](size_t) { return PointValue::Double(0.25); })) < 0.07);
  double gauge = 20;
  CHECK(bytes_per_point(Grid(360, 10, [&](size_t) {
          gauge += (static_cast<double>(random() % 301) - 150) / 100;
          return PointValue::Double(std::round(gauge * 100) / 100);
        })) < 1.4);
  CHECK(bytes_per_point(Grid(360, 10, [&](size_t i) {
          return PointValue::Int(10'000'000 + static_cast<int64_t>(i) * 1000 +
                                 static_cast<int64_t>(random() % 1000));
        })) < 1.5);
  CHECK(bytes_per_point(Grid(360, 10, [&](size_t) {
          return PointValue::Double(std::bit_cast<double>(random()));
        })) < 8.1);
}

TEST_CASE("a full hour of milliseconds and a long constant row are restored") {
  std::vector<PartPoint> points;
  for (uint32_t ms = 0; ms < 300'000; ++ms)
    points.push_back(Point(ms * 12, true, PointValue::Int(1)));
  CheckRoundTrip(points);
}

TEST_CASE("other bytes are refused or decoded to something, and never crash") {
  std::mt19937_64 random(4);
  std::vector<Bytes> samples;
  samples.emplace_back();
  EncodeRow(Grid(50, 10, [&](size_t i) { return PointValue::Int(static_cast<int64_t>(i * i)); }),
            {RowForm::kAuto}, &samples.back());
  samples.emplace_back();
  EncodeRow(Grid(50, 60,
                 [&](size_t i) {
                   return i % 5 == 0 ? PointValue::Double(std::bit_cast<double>(random()))
                                     : PointValue::Double(static_cast<double>(i) / 10);
                 }),
            {RowForm::kOne, true}, &samples.back());
  samples.emplace_back();
  std::vector<PartPoint> mixed;
  for (uint32_t i = 0; i < 50; ++i) {
    mixed.push_back(
        Point(i * 2000, i % 2 == 0,
              i % 3 == 0 ? PointValue::Int(i) : PointValue::Float(static_cast<float>(i)), i));
  }
  EncodeRow(mixed, {RowForm::kSingle, true}, &samples.back());

  for (size_t i = 0; i < 3; ++i) {
    Bytes split;
    REQUIRE(SplitRow(samples[i], &split));
    samples.push_back(split);
  }

  size_t refused = 0;
  for (int round = 0; round < 60000; ++round) {
    Bytes bytes = samples[random() % samples.size()];
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    for (size_t flips = 1 + random() % 3; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const ByteView view(exact.data(), exact.size());
    std::vector<PartPoint> points;
    RowColumns columns;
    auto read = DecodeRow(view, 0, &points);
    if (!read.ok()) {
      CHECK(read.status().code() == StatusCode::kCorruption);
      ++refused;
    } else {
      CHECK(AppendColumns(view, &columns).ok());
      for (const PartPoint& point : points) {
        codec::Qualifier q;
        if (!CanonicalQualifier(point.qualifier.Encode(), &q)) REQUIRE(false);
      }
    }
    (void)AppendColumns(view, &columns);
    (void)ReadRowSummary(view);
    Bytes split;
    if (SplitRow(view, &split) && read.ok()) {
      std::vector<PartPoint> again;
      CAPTURE(ToHex(bytes));
      CAPTURE(ToHex(split));
      CAPTURE(DecodeRow(split, 0, &again).status().message());
      REQUIRE(DecodeRow(split, 0, &again).ok());
      CHECK(again == points);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("both ways to read statistics agree on damaged rows") {
  std::mt19937_64 random(5);
  std::vector<Bytes> samples;
  for (const int kind : {0, 1, 2}) {
    EncodeRow(Grid(150, 10,
                   [&](size_t) {
                     const auto number = static_cast<int64_t>(random() % 1000);
                     if (kind == 0) return PointValue::Int(number);
                     return PointValue::Double(static_cast<double>(number) / (kind == 1 ? 10 : 7));
                   }),
              {RowForm::kAuto}, &samples.emplace_back());
    REQUIRE(ReadRowStatistics(samples.back())->has_value());
  }
  size_t found = 0;
  for (int round = 0; round < 60000; ++round) {
    Bytes bytes = samples[random() % samples.size()];
    if (random() % 2 == 0) bytes.resize(random() % std::min<size_t>(bytes.size(), 120));
    constexpr size_t kFront = 40;  // the statistics end there
    for (size_t flips = random() % 3; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % std::min(bytes.size(), kFront)] = static_cast<char>(random());
    }
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const ByteView view(exact.data(), exact.size());
    const auto checked = ReadRowStatistics(view);
    const bool some = checked.ok() && checked->has_value();
    const RowTraits traits = some ? ReadRowSummary(view)->traits : RowTraits();
    RowStatistics settled;
    const bool read = ReadSettledStatistics(view, &settled);
    REQUIRE(read == (some && !traits.dups && !traits.has_raw));
    if (read) REQUIRE(settled == **checked);
    found += read;
  }
  CHECK(found > 1000);
}

TEST_CASE("columns are sorted by time, however unordered they are") {
  std::mt19937_64 random(8);
  for (const size_t count : {0, 1, 2, 17, 3600}) {
    for (const size_t disorder : {1, 4, 5000}) {
      std::vector<std::pair<uint32_t, int64_t>> points;
      for (size_t i = 0; i < count; ++i) points.emplace_back(1000 * i, int64_t(i * i));
      for (size_t i = 0; i < count; ++i) {
        std::swap(points[i], points[std::min(count - 1, i + random() % disorder)]);
      }
      RowColumns columns;
      const auto push = [&columns](uint32_t offset, const PointValue& value) {
        columns.Resize(columns.size() + 1);
        columns.Set(columns.size() - 1, offset, value);
      };
      for (const auto& [offset, number] : points) {
        push(offset,
             number % 2 == 0 ? PointValue::Int(number) : PointValue::Double(double(number)));
      }
      REQUIRE(columns.SortByTime());
      for (size_t i = 0; i < count; ++i) {
        const auto number = static_cast<int64_t>(i * i);
        const bool is_double =
            columns.is_double.empty() ? columns.all_double : columns.is_double[i] != 0;
        REQUIRE(columns.offset_ms[i] == 1000 * i);
        REQUIRE(is_double == (number % 2 != 0));
        REQUIRE((is_double ? int64_t(std::bit_cast<double>(columns.value[i]))
                           : int64_t(columns.value[i])) == number);
      }
      if (count < 2) continue;
      push(1000, PointValue::Int(5));
      CHECK_FALSE(columns.SortByTime());
    }
  }
}

TEST_CASE("rows of different kinds are decoded one after the other") {
  const std::vector<PointValue> ints = {PointValue::Int(7), PointValue::Int(-3)};
  const std::vector<PointValue> doubles = {PointValue::Double(0.25), PointValue::Float(1.5F)};
  const std::vector<PointValue> both = {PointValue::Int(300), PointValue::Double(1e300)};
  const std::vector<const std::vector<PointValue>*> kinds = {&ints, &doubles, &both};
  for (const auto* first : kinds) {
    for (const auto* second : kinds) {
      for (const auto* third : kinds) {
        RowColumns columns;
        std::vector<PointValue> expected;
        uint32_t offset = 0;
        for (const auto* values : {first, second, third}) {
          std::vector<PartPoint> points;
          for (const PointValue& value : *values) {
            points.push_back({codec::Qualifier::Seconds(offset++, value.flags), 0, value.bits});
            expected.push_back(value);
          }
          Bytes encoded;
          EncodeRow(points, {RowForm::kAuto}, &encoded);
          REQUIRE(AppendColumns(encoded, &columns).ok());
        }
        REQUIRE(columns.size() == expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          const PointValue& value = expected[i];
          CHECK(columns.offset_ms[i] == i * 1000);
          CHECK((columns.is_double.empty() ? columns.all_double : columns.is_double[i] != 0) ==
                value.is_float());
          CHECK(columns.value[i] ==
                (value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits));
        }
      }
    }
  }
}

TEST_CASE("exceptions of a stream whose positions do not rise are damage") {
  std::vector<PointValue> values(100, PointValue::Int(1));
  values[10] = values[20] = {1, 3};  // stored in four bytes instead of one
  Bytes encoded;
  EncodeInts(values, &encoded);
  const auto decodes = [&] {
    std::vector<uint64_t> wide(values.size());
    StreamRest rest;
    ByteReader in(encoded);
    return DecodeInts(&in, values.size(), wide.data(), &rest) && in.rest().empty();
  };
  CHECK(decodes());
  char& step = encoded[encoded.size() - 6];  // distance, flags, four bytes of the last value
  REQUIRE(step == 10);
  step = 0;
  CHECK_FALSE(decodes());
  encoded.replace(encoded.size() - 6, 1, "\xF6\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");  // -10
  CHECK_FALSE(decodes());
}

}  // namespace
}  // namespace hg::points
