// Objects next to points: annotations, histograms, rollups (opentsdb-schema.md §11, §12, §13).

#include <doctest/doctest.h>

#include <string>

#include "storage/codec/annotation.h"
#include "storage/codec/histogram.h"
#include "storage/codec/rollup.h"
#include "storage/codec/row_key.h"
#include "storage/model/point.h"
#include "tests/support/hex.h"

namespace hg::codec {
namespace {

TEST_CASE("annotations have OpenTSDB's row keys and qualifiers (opentsdb-schema.md §11.1)") {
  const struct {
    int64_t start;
    const char* local_key;
    const char* global_key;
    const char* qualifier;
  } vectors[] = {
      {1356998400, "00000150E22700000001000001", "00000050E22700", "010000"},
      {1292148123, "0000014D049D20000001000001", "0000004D049D20", "01007B"},
      {1369141261, "000001519B6FD0000001000001", "000000519B6FD0", "01003D"},
      {1369141261000, "000001519B6FD0000001000001", "000000519B6FD0", "01003D"},
      {1369141261500, "000001519B6FD0000001000001", "000000519B6FD0", "010000F03C"},
      {1369141000, "000001519B61C0000001000001", "000000519B61C0", "010475"},
  };
  const KeyLayout plain;
  KeyLayout salted;
  salted.salt_width = 1;
  for (const auto& v : vectors) {
    CAPTURE(v.start);
    const AnnotationPlace place = PlaceAnnotation(v.start);
    CHECK(ToHexUpper(place.qualifier) == v.qualifier);
    CHECK(ToHexUpper(MakeRowKey(plain, Hex("000001000001000001"), place.base)) == v.local_key);
    CHECK(ToHexUpper(MakeGlobalRowKey(plain, place.base)) == v.global_key);
    CHECK(ToHexUpper(MakeRowKey(salted, Hex("000001000001000001"), place.base)) ==
          std::string("08") + v.local_key);
    CHECK(ToHexUpper(MakeGlobalRowKey(salted, place.base)) == std::string("00") + v.global_key);
  }
  CHECK(ObjectOffsetMs(Hex("010475")) == 1141000);
  CHECK(ObjectOffsetMs(Hex("010000F03C")) == 61500);
}

TEST_CASE("an annotation's JSON has OpenTSDB's order, escapes and nulls, and is read back") {
  Annotation note;
  note.tsuid = "000001000001000001";
  note.start_time = 1369141261;
  note.description = "Outage";
  note.custom = Annotation::Custom{{"owner", "jdoe"}, {"dept", "ops"}};
  const std::string json =
      R"({"tsuid":"000001000001000001","startTime":1369141261,"endTime":0,"description":"Outage","notes":"",)"
      R"("custom":{"dept":"ops","owner":"jdoe"}})";
  CHECK(EncodeAnnotation(note) == json);
  const Result<Annotation> read = DecodeAnnotation(json);
  REQUIRE(read.ok());
  CHECK(*read == note);

  Annotation global;
  global.start_time = 1369141261500;
  global.end_time = 1369141300;
  global.notes = "a\"b\\c/\n\x01\x1f é 温 😀";
  const std::string global_json =
      "{\"startTime\":1369141261500,\"endTime\":1369141300,\"description\":\"\","
      "\"notes\":\"a\\\"b\\\\c/\\n\\u0001\\u001F é 温 😀\",\"custom\":null}";
  CHECK(EncodeAnnotation(global) == global_json);
  const Result<Annotation> read_global = DecodeAnnotation(global_json);
  REQUIRE(read_global.ok());
  CHECK(*read_global == global);

  // Java orders by UTF-16 units: the surrogates of the emoji come before U+FB01, although its bytes
  // in UTF-8 come after.
  Annotation ordered;
  ordered.custom = Annotation::Custom{{"ﬁ", "1"}, {"😀", "2"}, {"z", "3"}};
  CHECK(EncodeAnnotation(ordered).find("{\"z\":\"3\",\"😀\":\"2\",\"ﬁ\":\"1\"}") !=
        std::string::npos);
}

TEST_CASE("stored annotations of other writers are read leniently, and damaged ones refused") {
  const Result<Annotation> odd = DecodeAnnotation(
      R"({"custom":{},"unknown":[1,{"a":[]}],"startTime":5,"notes":null,"description":"d"})");
  REQUIRE(odd.ok());
  CHECK(odd->start_time == 5);
  CHECK(odd->description == "d");
  CHECK(odd->notes.empty());
  REQUIRE(odd->custom.has_value());
  CHECK(odd->custom->empty());
  CHECK(EncodeAnnotation(*odd).find("\"custom\":{}") != std::string::npos);
  for (const char* json : {"", "{nope", "[]", "7", R"({"startTime":"x"})", R"({"custom":[]})",
                           R"({"custom":{"a":1}})", R"({"description":1})", "{} x"}) {
    CAPTURE(json);
    CHECK(DecodeAnnotation(json).status().code() == StatusCode::kCorruption);
  }
}

TEST_CASE("half a surrogate pair in a stored annotation does not make it unreadable") {
  const Result<Annotation> read =
      DecodeAnnotation(R"({"startTime":1,"description":"x\udc00","custom":{"k\udfff":"v\udc00"}})");
  REQUIRE(read.ok());
  const Result<Annotation> again = DecodeAnnotation(EncodeAnnotation(*read));
  REQUIRE(again.ok());
  CHECK(*again == *read);
}

TEST_CASE(
    "a modified annotation keeps fields that the request omits, and a replaced one does not") {
  Annotation stored;
  stored.start_time = 100;
  stored.end_time = 200;
  stored.description = "old";
  stored.notes = "stored notes";
  stored.custom = Annotation::Custom{{"k", "v"}};
  Annotation request;
  request.start_time = 100;
  CHECK_FALSE(HasAnnotationChanges(request));
  request.description = "new";
  CHECK(HasAnnotationChanges(request));

  const Annotation modified = MergeAnnotation(request, stored, false);
  CHECK(modified.description == "new");
  CHECK(modified.end_time == 200);
  CHECK(modified.notes == "stored notes");
  CHECK(modified.custom == stored.custom);

  const Annotation replaced = MergeAnnotation(request, stored, true);
  CHECK(replaced.description == "new");
  CHECK(replaced.end_time == 0);
  CHECK(replaced.notes.empty());
  CHECK_FALSE(replaced.custom.has_value());

  // 1369141261000 and 1369141261 share a cell. The smaller positive start stays.
  request.start_time = 100000;
  CHECK(MergeAnnotation(request, stored, true).start_time == 100);
  stored.start_time = 0;
  CHECK(MergeAnnotation(request, stored, true).start_time == 100000);
}

TEST_CASE("histogram qualifiers depend only on the form of the time (opentsdb-schema.md §12)") {
  CHECK(ToHexUpper(HistogramQualifier(Timestamp{1356998400})) == "060000");
  CHECK(ToHexUpper(HistogramQualifier(Timestamp{1356998523})) == "06007B");
  CHECK(ToHexUpper(HistogramQualifier(Timestamp{1356998400500})) == "06000001F4");
  CHECK(ToHexUpper(HistogramQualifier(Timestamp{1356998400000})) == "0600000000");
}

TEST_CASE("simple histograms have OpenTSDB's bytes (opentsdb-schema.md §12)") {
  const struct {
    SimpleHistogram histogram;
    const char* hex;
  } vectors[] = {
      {{0, {{1, 2, 5}, {0, 1, 300}}, 0, 2}, "000002000000003F800000AC023F80000040000000050002"},
      {{3, {}, 0, 0}, "0300000000"},
      {{0, {{0, 1, 16384}, {1, 2, INT64_MAX}}, 0, 0},
       "000002000000003F8000008080013F80000040000000FFFFFFFFFFFFFFFF7F0000"},
  };
  for (const auto& v : vectors) {
    const Result<Bytes> bytes = EncodeSimpleHistogram(v.histogram);
    REQUIRE(bytes.ok());
    CHECK(ToHexUpper(*bytes) == v.hex);
  }
  const Result<SimpleHistogram> read = DecodeSimpleHistogram(Hex(vectors[0].hex));
  REQUIRE(read.ok());
  CHECK(read->buckets == std::vector<HistogramBucket>{{0, 1, 300}, {1, 2, 5}});
  CHECK(read->overflow == 2);
  // This histogram has no buckets. OpenTSDB stores its five bytes, too, but fails each query that
  // reads them.
  const Result<SimpleHistogram> empty = DecodeSimpleHistogram(Hex(vectors[1].hex));
  REQUIRE(empty.ok());
  CHECK(*empty == vectors[1].histogram);
  // The largest number takes nine bytes: eight with seven bits each, and one with eight bits.
  const Result<Bytes> widest = EncodeSimpleHistogram({0, {}, UINT64_MAX, 0});
  REQUIRE(widest.ok());
  CHECK(ToHexUpper(*widest) == "000000FFFFFFFFFFFFFFFFFF00");
  CHECK(DecodeSimpleHistogram(*widest)->underflow == UINT64_MAX);
  for (const char* damaged : {"", "000001000000", "000002000000003F800000AC02", "00000080808080"}) {
    CAPTURE(damaged);
    CHECK(DecodeSimpleHistogram(Hex(damaged)).status().code() == StatusCode::kCorruption);
  }
}

TEST_CASE("a negative number of buckets counts as none, as in OpenTSDB") {
  const auto read = DecodeSimpleHistogram(Hex("00FFFF0504000000"));
  REQUIRE(read.ok());
  CHECK(read->buckets.empty());
  CHECK(read->underflow == 5);
  CHECK(read->overflow == 4);
}

TEST_CASE("of buckets with equal bounds the last one is stored") {
  const Result<Bytes> bytes = EncodeSimpleHistogram({0, {{0, 1, 1}, {1, 2, 9}, {0, 1, 2}}, 0, 0});
  REQUIRE(bytes.ok());
  CHECK(DecodeSimpleHistogram(*bytes)->buckets ==
        std::vector<HistogramBucket>{{0, 1, 2}, {1, 2, 9}});
}

RollupInterval Interval(uint32_t interval_s, RollupSpanUnit unit, uint32_t count) {
  return {interval_s, unit, count, RollupIntervalsPerRow(interval_s, unit, count)};
}

TEST_CASE("rollups have OpenTSDB's row keys and qualifiers (opentsdb-schema.md §13.4)") {
  using Unit = RollupSpanUnit;
  constexpr int64_t kNewYear = 1357016400;  // 2013-01-01 05:00:00
  constexpr int64_t kMarch = 1362873600;    // 2013-03-10 00:00:00
  const struct {
    int64_t time;
    RollupInterval interval;
    uint32_t intervals;
    const char* base;
    uint8_t aggregator;
    uint8_t flags;
    const char* qualifier;
  } vectors[] = {
      {kNewYear, Interval(3600, Unit::kDays, 1), 24, "50E22700", 0, kInt8, "000050"},
      {kNewYear, Interval(3600, Unit::kDays, 1), 24, "50E22700", 1, kInt16, "010051"},
      {kNewYear, Interval(3600, Unit::kDays, 1), 24, "50E22700", 3, kFloat32, "03005B"},
      {kNewYear, Interval(600, Unit::kHours, 6), 36, "50E22700", 0, kInt8, "0001E0"},
      {kNewYear, Interval(600, Unit::kHours, 6), 36, "50E22700", 1, kInt16, "0101E1"},
      {kNewYear, Interval(600, Unit::kHours, 6), 36, "50E22700", 3, kFloat32, "0301EB"},
      {kNewYear, Interval(86400, Unit::kMonths, 1), 32, "50E22700", 0, kInt8, "000000"},
      {kNewYear, Interval(86400, Unit::kMonths, 1), 32, "50E22700", 1, kInt16, "010001"},
      {kNewYear, Interval(86400, Unit::kMonths, 1), 32, "50E22700", 3, kFloat32, "03000B"},
      {kNewYear, Interval(86400, Unit::kYears, 1), 366, "50E22700", 1, kInt16, "010001"},
      {kNewYear, Interval(1, Unit::kHours, 1), 3600, "50E26D50", 1, kInt16, "010001"},
      {kMarch, Interval(3600, Unit::kDays, 1), 24, "513BCD00", 0, kFloat32, "00000B"},
      {kMarch, Interval(86400, Unit::kMonths, 1), 32, "512FEF80", 0, kFloat32, "00009B"},
      {kMarch, Interval(86400, Unit::kYears, 1), 366, "50E22700", 0, kFloat32, "00044B"},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.qualifier);
    CHECK(v.interval.intervals_max == v.intervals);
    Bytes base;
    AppendBig(&base, RollupBase(v.time, v.interval), 4);
    CHECK(ToHexUpper(base) == v.base);
    const Result<RollupQualifier> made =
        MakeRollupQualifier(v.aggregator, v.time, v.flags, v.interval);
    REQUIRE(made.ok());
    CHECK(ToHexUpper(made->Encode()) == v.qualifier);
    CHECK(*DecodeRollupQualifier(made->Encode()) == *made);
  }
  // Index 3840 would read as a millisecond qualifier.
  const RollupInterval wide = Interval(60, Unit::kMonths, 1);
  CHECK(MakeRollupQualifier(0, kNewYear + 86400 * 2, kInt8, wide).ok());
  CHECK(MakeRollupQualifier(0, kNewYear + 86400 * 3, kInt8, wide).status().code() ==
        StatusCode::kInvalidArgument);
  for (const char* damaged : {"", "0000", "800000", "000002", "00000000"}) {
    CHECK(DecodeRollupQualifier(Hex(damaged)).status().code() == StatusCode::kCorruption);
  }
}

}  // namespace
}  // namespace hg::codec
