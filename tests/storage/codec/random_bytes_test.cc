// No bytes crash a decoder: each gives a Status, or a value that is encoded as it was understood.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "storage/codec/annotation.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/histogram.h"
#include "storage/codec/rollup.h"
#include "storage/codec/row_key.h"
#include "storage/codec/value.h"

namespace hg::codec {
namespace {

constexpr int kRounds = 100000;

// HOURGLASS_TEST_SEED selects the seed of a failure.
uint64_t Seed() {
  const char* text = std::getenv("HOURGLASS_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t n) { return engine_() % n; }
  uint64_t Next() { return engine_(); }
  Bytes AnyBytes(size_t length_max) {
    Bytes out(Below(length_max + 1), '\0');
    // Small bytes are frequent, so that flags and lengths often make sense.
    for (char& c : out) c = static_cast<char>(Below(3) == 0 ? Below(16) : Next());
    return out;
  }
  StoredPoint Point() {
    constexpr uint8_t kFlags[] = {kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64};
    const uint8_t flags = kFlags[Below(6)];
    const Bytes value = EncodeValue({Next(), flags});
    const Qualifier qualifier =
        Below(2) == 0 ? Qualifier::Seconds(static_cast<uint32_t>(Below(3600)), flags)
                      : Qualifier::Millis(static_cast<uint32_t>(Below(3600000)), flags);
    return {qualifier, ReadValueBits(value.data(), flags)};
  }
  std::vector<StoredPoint> Points(size_t count_max) {
    std::vector<StoredPoint> points(1 + Below(count_max));
    for (StoredPoint& p : points) p = Point();
    return points;
  }

 private:
  std::mt19937_64 engine_;
};

TEST_CASE(
    "point cells of random bytes give an error, or points that are encoded and decoded again") {
  const uint64_t seed = Seed();
  CAPTURE(seed);
  Random random(seed);
  int understood = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Bytes qualifier = random.AnyBytes(12);
    const Bytes value = random.AnyBytes(24);
    std::vector<StoredPoint> points;
    bool repaired = false;
    const Status status = ReadPointCell(qualifier, value, &points, &repaired);
    (void)ParsePointCell(qualifier, value);
    if (!status.ok() || points.empty()) continue;
    ++understood;
    Bytes written_qualifier;
    Bytes written_value;
    EncodePointCell(points, &written_qualifier, &written_value);
    std::vector<StoredPoint> again;
    repaired = false;
    REQUIRE(ReadPointCell(written_qualifier, written_value, &again, &repaired).ok());
    REQUIRE_FALSE(repaired);
    REQUIRE(again == points);
    REQUIRE(ParsePointCell(written_qualifier, written_value).ok());
  }
  CHECK(understood > kRounds / 100);
}

TEST_CASE("random points written as one cell are read back") {
  const uint64_t seed = Seed();
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < kRounds / 10; ++i) {
    const std::vector<StoredPoint> points = random.Points(20);
    Bytes qualifier;
    Bytes value;
    EncodePointCell(points, &qualifier, &value);
    std::vector<StoredPoint> again;
    bool repaired = false;
    REQUIRE(ReadPointCell(qualifier, value, &again, &repaired).ok());
    REQUIRE(again == points);
    REQUIRE(ClassifyQualifier(qualifier) ==
            (points.size() == 1 ? CellClass::kPoint : CellClass::kCompacted));
  }
}

TEST_CASE("append cells of random bytes and random points keep the last point of each offset") {
  const uint64_t seed = Seed();
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < kRounds; ++i) {
    const Result<AppendCell> cell = ParseAppendCell(random.AnyBytes(40));
    if (!cell.ok()) continue;
    Bytes written;
    for (const StoredPoint& point : cell->points) AppendPair(&written, point);
    const Result<AppendCell> again = ParseAppendCell(written);
    REQUIRE(again.ok());
    REQUIRE_FALSE(again->needs_repair);
    REQUIRE(again->points == cell->points);
  }
  for (int i = 0; i < kRounds / 10; ++i) {
    std::vector<StoredPoint> points = random.Points(8);
    if (random.Below(2) == 0) points.push_back(points[random.Below(points.size())]);
    Bytes bytes;
    std::map<uint32_t, StoredPoint> expected;
    for (const StoredPoint& point : points) {
      AppendPair(&bytes, point);
      expected[point.offset_ms()] = point;
    }
    const Result<AppendCell> cell = ParseAppendCell(bytes);
    REQUIRE(cell.ok());
    REQUIRE(cell->points.size() == expected.size());
    size_t at = 0;
    for (const auto& [offset, point] : expected) REQUIRE(cell->points[at++] == point);
  }
}

TEST_CASE("row keys of random bytes and layouts are decoded and encoded again") {
  const uint64_t seed = Seed();
  CAPTURE(seed);
  Random random(seed);
  int fitting = 0;
  for (int i = 0; i < kRounds; ++i) {
    KeyLayout layout;
    layout.metric_width = 1 + static_cast<int>(random.Below(8));
    layout.tagk_width = 1 + static_cast<int>(random.Below(8));
    layout.tagv_width = 1 + static_cast<int>(random.Below(8));
    layout.salt_width = static_cast<int>(random.Below(9));
    layout.salt_buckets = 1 + static_cast<int>(random.Below(300));
    const Bytes key = random.AnyBytes(60);
    (void)IsGlobalRowKey(layout, key);
    const Result<RowKey> row = RowKey::Decode(layout, key);
    if (!row.ok()) continue;
    ++fitting;
    const Bytes tsuid = row->tsuid();
    REQUIRE(CheckTsuid(layout, tsuid).ok());
    REQUIRE(SaltBucket(layout, tsuid) < static_cast<uint32_t>(layout.salt_buckets));
    const Bytes again = MakeRowKey(layout, tsuid, row->base());
    REQUIRE(again.substr(static_cast<size_t>(layout.salt_width)) ==
            key.substr(static_cast<size_t>(layout.salt_width)));
    Bytes pairs;
    for (size_t p = 0; p < row->pair_count(); ++p)
      pairs += Bytes(row->tagk(p)) + Bytes(row->tagv(p));
    REQUIRE(pairs == row->pairs());
  }
  CHECK(fitting > kRounds / 100);
}

TEST_CASE("histograms of random bytes and random content are decoded and encoded again") {
  const uint64_t seed = Seed();
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < kRounds; ++i) {
    const Result<SimpleHistogram> read = DecodeSimpleHistogram(random.AnyBytes(60));
    if (!read.ok()) continue;
    const Result<Bytes> written = EncodeSimpleHistogram(*read);
    REQUIRE(written.ok());
    const Result<SimpleHistogram> again = DecodeSimpleHistogram(*written);
    REQUIRE(again.ok());
    REQUIRE(*EncodeSimpleHistogram(*again) == *written);
  }
  for (int i = 0; i < kRounds / 10; ++i) {
    SimpleHistogram histogram;
    histogram.codec_id = static_cast<uint8_t>(random.Next());
    for (uint64_t n = 1 + random.Below(5); n > 0; --n) {
      const auto lower = static_cast<float>(histogram.buckets.size());
      histogram.buckets.push_back({lower, lower + 1, random.Next() >> random.Below(64)});
    }
    histogram.underflow = random.Next() >> random.Below(64);
    const Result<Bytes> written = EncodeSimpleHistogram(histogram);
    REQUIRE(written.ok());
    REQUIRE(*DecodeSimpleHistogram(*written) == histogram);
  }
}

TEST_CASE("rollup qualifiers and annotations of random bytes do not crash") {
  const uint64_t seed = Seed();
  CAPTURE(seed);
  Random random(seed);
  const std::string sample =
      R"({"tsuid":"00","startTime":1,"endTime":2,"description":"a","notes":"b","custom":{"k":"v"}})";
  for (int i = 0; i < kRounds; ++i) {
    const Bytes qualifier = random.AnyBytes(4);
    const Result<RollupQualifier> rollup = DecodeRollupQualifier(qualifier);
    if (rollup.ok()) REQUIRE(rollup->Encode() == qualifier);

    std::string json =
        sample;  // JSON with some bytes changed, because random bytes are hardly ever JSON
    for (uint64_t n = 1 + random.Below(4); n > 0; --n)
      json[random.Below(json.size())] = static_cast<char>(random.Next());
    const Result<Annotation> note = DecodeAnnotation(json);
    if (!note.ok()) continue;
    const Result<Annotation> again = DecodeAnnotation(EncodeAnnotation(*note));
    REQUIRE(again.ok());
    REQUIRE(*again == *note);
  }
}

}  // namespace
}  // namespace hg::codec
