// Cells of the data table: classes, single and compacted cells, append cells (opentsdb-schema.md
// §6.2, §7.4, §8, §10).

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "tests/support/hex.h"

namespace hg::codec {
namespace {

// Parses "0000=2A 0011=012C": each point as a single cell.
std::string Text(const std::vector<StoredPoint>& points) {
  std::string out;
  for (const StoredPoint& p : points) {
    if (!out.empty()) out += ' ';
    out += ToHexUpper(p.qualifier.Encode()) + '=' + ToHexUpper(EncodeValue(p.value()));
  }
  return out;
}

TEST_CASE("the length and the first byte of a qualifier determine the kind of its cell") {
  const struct {
    const char* qualifier;
    CellClass cell_class;
  } vectors[] = {
      {"0000", CellClass::kPoint},
      {"E0FF", CellClass::kPoint},
      {"F0000000", CellClass::kPoint},
      {"FDBB9FCF", CellClass::kPoint},
      {"00000010", CellClass::kCompacted},
      {"E0F0E0F0", CellClass::kCompacted},
      {"000000100020", CellClass::kCompacted},
      {"F00000000010", CellClass::kCompacted},
      {"050000", CellClass::kAppend},
      {"050102", CellClass::kAppend},
      {"010000", CellClass::kAnnotation},
      {"0100000000", CellClass::kAnnotation},
      {"06007B", CellClass::kHistogram},
      {"06000001F4", CellClass::kHistogram},
      {"0500000000", CellClass::kUnknown},
      {"00", CellClass::kUnknown},
      {"020000", CellClass::kUnknown},
      {"01000000000000", CellClass::kUnknown},
      {"", CellClass::kMalformed},
      {"F000", CellClass::kMalformed},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.qualifier);
    CHECK(ClassifyQualifier(Hex(v.qualifier)) == v.cell_class);
  }
}

TEST_CASE("offsets of both resolutions, their limits and reserved bits are encoded") {
  CHECK(Qualifier{0xE0FF}.offset_ms() == 3599000);
  CHECK(Qualifier{0xFDBB9FCF}.offset_ms() == 3599999);
  CHECK(Qualifier{0xF0000000}.offset_ms() == Qualifier{0}.offset_ms());
  CHECK(Qualifier{0xF0000FC1}.offset_ms() == 63);
  CHECK(Qualifier{0xF0000FF1}.offset_ms() == 63);  // bits 5 and 4 are ignored
  CHECK(Qualifier::Seconds(3599, kFloat64).bits == 0xE0FF);
  CHECK(Qualifier::Millis(3599999, kFloat64).bits == 0xFDBB9FCF);
}

TEST_CASE("readers of cells repair single second-resolution points and walk compacted ones") {
  const struct {
    const char* about;
    const char* qualifier;
    const char* value;
    const char* points;
    bool repaired;
  } vectors[] = {
      {"plain", "0000", "2A", "0000=2A", false},
      {"C01's result", "00000010", "2A1800", "0000=2A 0010=18", false},
      {"opentsdb-schema.md §8.1, second resolution", "000000110020", "2A012C1800",
       "0000=2A 0011=012C 0020=18", false},
      {"opentsdb-schema.md §8.1, mixed", "F0000FC10010002B", "012C184228000001",
       "F0000FC1=012C 0010=18 002B=42280000", false},
      {"batch writer, no trailing byte", "0000001BF0017701", "2A40200000012C",
       "0000=2A 001B=40200000 F0017701=012C", false},
      {"wrong trailing byte", "00000010", "2A187F", "0000=2A 0010=18", false},
      {"unsorted inside", "002000000010", "03010200", "0020=03 0000=01 0010=02", false},
      {"C09: single with zeros in front", "001B", "0000000040866666", "001B=40866666", true},
      {"C10: 8 bytes under a 4-byte flag", "0003", "0000000000000004", "0007=0000000000000004",
       true},
      {"C30: 1 byte under an 8-byte flag", "0007", "05", "0000=05", true},
      {"2 bytes under a 1-byte flag", "0000", "0102", "0001=0102", true},
      {"single under a double's flag", "000F", "40866666", "000B=40866666", true},
      {"the same fault inside a compacted cell is none", "001B0020", "00000000408666660700",
       "001B=00000000 0020=40", false},
      {"millisecond cell longer than its flag", "F0000000", "0102", "F0000000=01", false},
      {"a value that ends early ends the walk", "000000110020", "2A012C", "0000=2A 0011=012C",
       false},
      {"too long a value", "00000010", "2A18191A00", "0000=2A 0010=18", false},
      {"only a trailing byte", "00000010", "00", "0000=00", false},
      {"no value", "0000", "", "", false},
      {"no values", "00000010", "", "", false},
      {"offset beyond the hour", "E100", "01", "E100=01", false},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.about);
    std::vector<StoredPoint> points;
    bool repaired = false;
    REQUIRE(ReadPointCell(Hex(v.qualifier), Hex(v.value), &points, &repaired).ok());
    CHECK(Text(points) == v.points);
    CHECK(repaired == v.repaired);
  }
}

TEST_CASE("readers refuse cells that they cannot interpret") {
  const struct {
    const char* about;
    const char* qualifier;
    const char* value;
  } vectors[] = {
      {"C26: sign-extended float", "001B", "FFFFFFFF40866666"},
      {"another high half", "001B", "0000000140866666"},
      {"three bytes", "0002", "010203"},
      {"float of one byte", "0008", "01"},
      {"float of two bytes", "0009", "0102"},
      {"nine bytes", "0000", "010203040506070809"},
      {"millisecond cell shorter than its flag", "F0000007", "05"},
      {"millisecond qualifier cut", "0010F0000000F000", "2A180900"},
      {"millisecond qualifier of two bytes", "F000", "01"},
      {"value cut in its middle", "00000013", "2A0102"},
      {"no qualifier", "", "2A"},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.about);
    std::vector<StoredPoint> points;
    bool repaired = false;
    CHECK(ReadPointCell(Hex(v.qualifier), Hex(v.value), &points, &repaired).code() ==
          StatusCode::kCorruption);
  }
}

TEST_CASE("the strict reader sorts, reports the trailer, and requires that every byte is used") {
  Result<StrictCell> cell = ParsePointCell(Hex("002000000010"), Hex("0301027F"));
  REQUIRE(cell.ok());
  CHECK(Text(cell->points) == "0000=01 0010=02 0020=03");
  CHECK_FALSE(cell->sorted);
  CHECK(cell->trailer == 0x7F);

  cell = ParsePointCell(Hex("0000F00000000010"), Hex("01020301"));
  REQUIRE(cell.ok());
  CHECK_FALSE(cell->sorted);  // two points at one time
  CHECK(Text(cell->points) == "0000=01 F0000000=02 0010=03");

  cell = ParsePointCell(Hex("001B"), Hex("0000000040866666"));
  REQUIRE(cell.ok());
  CHECK(cell->repaired);
  CHECK(cell->sorted);

  const struct {
    const char* qualifier;
    const char* value;
  } refused[] = {
      {"00000010", "2A18"},        // no trailing byte
      {"00000010", "2A18191A00"},  // too long
      {"000000110020", "2A012C"},  // too short
      {"F0000000", "0102"},        // a single point longer than its flags say
      {"0000", ""},
      {"00000010", "00"},
  };
  for (const auto& v : refused) {
    CAPTURE(v.qualifier);
    CAPTURE(v.value);
    CHECK(ParsePointCell(Hex(v.qualifier), Hex(v.value)).status().code() ==
          StatusCode::kCorruption);
  }
}

TEST_CASE("compacted cells are written with their trailing byte, single points without") {
  const struct {
    const char* points;
    const char* qualifier;
    const char* value;
  } vectors[] = {
      {"0000=2A", "0000", "2A"},
      {"F0000000=18", "F0000000", "18"},
      {"0000=2A 0010=18", "00000010", "2A1800"},                                        // C01
      {"F0000FC1=012C 0010=18 002B=42280000", "F0000FC10010002B", "012C184228000001"},  // C03
      {"F0000000=01 F0000041=0102", "F0000000F0000041", "01010200"},                    // C04
      {"000B=42280000 F0001F4F=3FB999999999999A 0010=01", "000BF0001F4F0010",
       "422800003FB999999999999A0101"},  // C06
      {"0007=0000000000000004 0017=0000000000000005", "00070017",
       "0000000000000004000000000000000500"},             // C08
      {"F0000000=18 0010=05", "F00000000010", "180501"},  // C25
  };
  for (const auto& v : vectors) {
    std::vector<StoredPoint> points;
    bool repaired = false;
    const std::string text = v.points;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      const std::string point = text.substr(at, end - at);
      const size_t equals = point.find('=');
      REQUIRE(ReadPointCell(Hex(point.substr(0, equals)), Hex(point.substr(equals + 1)), &points,
                            &repaired)
                  .ok());
      at = end + 1;
    }
    Bytes qualifier;
    Bytes value;
    EncodePointCell(points, &qualifier, &value);
    CHECK(ToHexUpper(qualifier) == v.qualifier);
    CHECK(ToHexUpper(value) == v.value);
  }
}

TEST_CASE("an append cell grows by pairs and is read by offset (opentsdb-schema.md §23.4)") {
  Bytes cell;
  const struct {
    StoredPoint point;
    const char* cell;
    const char* qualifier;
    const char* value;  // the merged value: with a trailing byte if there are two points or more
  } steps[] = {
      {{Qualifier::Seconds(1, kInt8), 24}, "001018", "0010", "18"},
      {{Qualifier::Seconds(0, kInt8), 42}, "00101800002A", "00000010", "2A1800"},
      {{Qualifier::Millis(63, kInt16), 300},
       "00101800002AF0000FC1012C",
       "0000F0000FC10010",
       "2A012C1801"},
  };
  for (const auto& step : steps) {
    AppendPair(&cell, step.point);
    CHECK(ToHexUpper(cell) == step.cell);
    const Result<AppendCell> parsed = ParseAppendCell(cell);
    REQUIRE(parsed.ok());
    Bytes qualifier;
    Bytes value;
    EncodePointCell(parsed->points, &qualifier, &value);
    CHECK(ToHexUpper(qualifier) == step.qualifier);
    CHECK(ToHexUpper(value) == step.value);
  }
}

TEST_CASE("in an append cell the last point of an instant wins, across resolutions") {
  Result<AppendCell> cell = ParseAppendCell(Hex("00201800002A002019"));
  REQUIRE(cell.ok());
  CHECK(cell->needs_repair);
  CHECK(Text(cell->points) == "0000=2A 0020=19");
  Bytes repaired;
  for (const StoredPoint& point : cell->points) AppendPair(&repaired, point);
  CHECK(ToHexUpper(repaired) == "00002A002019");

  cell = ParseAppendCell(Hex("00002AF00000002B"));
  REQUIRE(cell.ok());
  CHECK(Text(cell->points) == "F0000000=2B");
  cell = ParseAppendCell(Hex("00002A001018"));
  REQUIRE(cell.ok());
  CHECK_FALSE(cell->needs_repair);
  cell = ParseAppendCell("");
  REQUIRE(cell.ok());
  CHECK(cell->points.empty());
  for (const char* damaged : {"00002A00", "00", "0000", "F00000", "000201020304", "00090102"}) {
    CAPTURE(damaged);
    CHECK(ParseAppendCell(Hex(damaged)).status().code() == StatusCode::kCorruption);
  }
}

TEST_CASE("duplicates are compared by value bytes: the width counts, the flags do not") {
  CHECK(SameValueBytes(PointValue::Int(5), PointValue::Int(5)));
  CHECK_FALSE(SameValueBytes(PointValue::Int(5), {5, kInt64}));
  CHECK(SameValueBytes({0x42280000, kInt32}, PointValue::Float(42.0F)));
  CHECK(SameValueBytes(PointValue::Int(-1), {0xFF, kInt8}));
  CHECK_FALSE(SameValueBytes(PointValue::Int(1), PointValue::Int(2)));
}

TEST_CASE("row keys that do not fit their layout are refused, with the key in the error") {
  const KeyLayout layout;
  CHECK(RowKey::Decode(layout, Hex("00000150E22700000001000001")).ok());
  for (const char* key : {"", "000001", "00000150E227", "00000150E22700", "00000150E2270000000100",
                          "00000150E2270000000100000100"}) {
    CAPTURE(key);
    const Status status = RowKey::Decode(layout, Hex(key)).status();
    CHECK(status.code() == StatusCode::kCorruption);
    CHECK(status.message().find(key) != std::string_view::npos);
    CHECK_FALSE(TsuidOf(layout, Hex(key)).ok());
  }
  CHECK(CheckTsuid(layout, Hex("000001000001000001")).ok());
  for (const char* tsuid : {"", "000001", "00000100", "0000010000010000010000"}) {
    CHECK(CheckTsuid(layout, Hex(tsuid)).code() == StatusCode::kInvalidArgument);
  }
}

TEST_CASE("keys of other widths are decoded at the right positions") {
  KeyLayout layout;
  layout.metric_width = layout.tagk_width = layout.tagv_width = 4;
  layout.salt_width = 1;
  const Bytes tsuid = Hex("000000010000000100000001");
  Bytes key = MakeRowKey(layout, tsuid, 1356998400);
  CHECK(ToHexUpper(key) == "080000000150E227000000000100000001");
  SetRowKeyBase(layout, 3600, &key);
  CHECK(key == MakeRowKey(layout, tsuid, 3600));

  layout = {.metric_width = 2, .tagk_width = 1, .tagv_width = 3};
  const Bytes narrow = Hex("00010A00000B0C00000D");
  const Bytes narrow_key = MakeRowKey(layout, narrow, 3600);
  const Result<RowKey> row = RowKey::Decode(layout, narrow_key);
  REQUIRE(row.ok());
  CHECK(row->pair_count() == 2);
  CHECK(ToHexUpper(row->tagk(1)) == "0C");
  CHECK(ToHexUpper(row->tagv(1)) == "00000D");
  CHECK(row->tsuid() == narrow);
  std::string pairs;
  ForEachPair(layout, narrow,
              [&](ByteView k, ByteView v) { pairs += ToHexUpper(k) + "=" + ToHexUpper(v) + ";"; });
  CHECK(pairs == "0A=00000B;0C=00000D;");
}

TEST_CASE("the row of global annotations has a zero salt and is recognized by its zeros") {
  KeyLayout layout;
  CHECK(ToHexUpper(MakeGlobalRowKey(layout, 1356998400)) == "00000050E22700");
  CHECK(IsGlobalRowKey(layout, Hex("00000050E22700")));
  CHECK_FALSE(IsGlobalRowKey(layout, Hex("00000150E22700")));
  CHECK_FALSE(IsGlobalRowKey(layout, Hex("00000050E22700000001000001")));
  layout.salt_width = 1;
  CHECK(ToHexUpper(MakeGlobalRowKey(layout, 1356998400)) == "0000000050E22700");
  // A row of the zero metric keeps a zero salt even with pairs.
  CHECK(ByteAt(MakeRowKey(layout, Hex("000000000001000001"), 0), 0) == 0);
}

}  // namespace
}  // namespace hg::codec
