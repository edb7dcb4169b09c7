// The vectors of opentsdb-schema.md §23.1 and §23.2: from a point in a request to the stored bytes.

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/model/number_text.h"
#include "tests/support/hex.h"

namespace hg::codec {
namespace {

// "000001=000002 000003=000004", in any order.
Bytes TsuidOfText(std::string_view metric, const std::string& tags) {
  std::vector<Bytes> pairs;
  std::istringstream words(tags);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    pairs.push_back(Hex(word.substr(0, equals)) + Hex(word.substr(equals + 1)));
  }
  return MakeTsuid(Hex(metric), pairs);
}

KeyLayout Salted(int width, int buckets) {
  KeyLayout layout;
  layout.salt_width = width;
  layout.salt_buckets = buckets;
  return layout;
}

struct PointVector {
  const char* name;
  const char* metric;
  const char* tags;
  int64_t time;
  const char* text;
  EntryPath path;
  const char* key;
  const char* salt;
  const char* qualifier;
  const char* value;
};

// clang-format off
const PointVector kPoints[] = {
    {"V01", "000001", "000001=000001", 1356998400, "0", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0000", "00"},
    {"V02", "000001", "000001=000001", 1356998401, "42", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0010", "2A"},
    {"V03", "000001", "000001=000001", 1356998402, "127", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0020", "7F"},
    {"V04", "000001", "000001=000001", 1356998403, "128", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0031", "0080"},
    {"V05", "000001", "000001=000001", 1356998404, "-1", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0040", "FF"},
    {"V06", "000001", "000001=000001", 1356998405, "-128", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0050", "80"},
    {"V07", "000001", "000001=000001", 1356998406, "-129", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0061", "FF7F"},
    {"V08", "000001", "000001=000001", 1356998415, "32767", EntryPath::kTelnet, "00000150E22700000001000001", "08", "00F1", "7FFF"},
    {"V09", "000001", "000001=000001", 1356998416, "32768", EntryPath::kTelnet, "00000150E22700000001000001", "08", "0103", "00008000"},
    {"V10", "000001", "000001=000001", 1356998460, "-32769", EntryPath::kTelnet, "00000150E22700000001000001", "08", "03C3", "FFFF7FFF"},
    {"V11", "000001", "000001=000001", 1356998700, "2147483647", EntryPath::kTelnet, "00000150E22700000001000001", "08", "12C3", "7FFFFFFF"},
    {"V12", "000001", "000001=000001", 1356998701, "2147483648", EntryPath::kTelnet, "00000150E22700000001000001", "08", "12D7", "0000000080000000"},
    {"V13", "000001", "000001=000001", 1356998702, "-2147483649", EntryPath::kTelnet, "00000150E22700000001000001", "08", "12E7", "FFFFFFFF7FFFFFFF"},
    {"V14", "000001", "000001=000001", 1356998703, "9223372036854775807", EntryPath::kTelnet, "00000150E22700000001000001", "08", "12F7", "7FFFFFFFFFFFFFFF"},
    {"V15", "000001", "000001=000001", 1356998704, "-9223372036854775808", EntryPath::kTelnet, "00000150E22700000001000001", "08", "1307", "8000000000000000"},
    {"V16", "000001", "000001=000001", 1292148123, "4294967296", EntryPath::kTelnet, "0000014D049D20000001000001", "08", "07B7", "0000000100000000"},
    {"V17", "000001", "000001=000001", 1356999000, "42.5", EntryPath::kTelnet, "00000150E22700000001000001", "08", "258B", "422A0000"},
    {"V18", "000001", "000001=000001", 1356999001, "0.1", EntryPath::kTelnet, "00000150E22700000001000001", "08", "259F", "3FB999999999999A"},
    {"V19", "000001", "000001=000001", 1356999001, "0.1", EntryPath::kImport, "00000150E22700000001000001", "08", "259B", "3DCCCCCD"},
    {"V20", "000001", "000001=000001", 1356999002, "-0.0", EntryPath::kTelnet, "00000150E22700000001000001", "08", "25AB", "80000000"},
    {"V21", "000001", "000001=000001", 1356999003, "1e3", EntryPath::kTelnet, "00000150E22700000001000001", "08", "25BB", "447A0000"},
    {"V22", "000001", "000001=000001", 1356999004, "16777217.0", EntryPath::kTelnet, "00000150E22700000001000001", "08", "25CF", "4170000010000000"},
    {"V23", "000001", "000001=000001", 1356999004, "16777217.0", EntryPath::kImport, "00000150E22700000001000001", "08", "25CB", "4B800000"},
    {"V24", "000001", "000001=000001", 1356999005, "3.14159265358979", EntryPath::kTelnet, "00000150E22700000001000001", "08", "25DF", "400921FB54442D11"},
    {"V25", "000001", "000001=000001", 1357001999, "7", EntryPath::kTelnet, "00000150E22700000001000001", "08", "E0F0", "07"},
    {"V26", "000001", "000001=000001", 1357002000, "7", EntryPath::kTelnet, "00000150E23510000001000001", "08", "0000", "07"},
    {"V27", "000001", "000001=000001", 1356998400000, "1", EntryPath::kTelnet, "00000150E22700000001000001", "08", "F0000000", "01"},
    {"V28", "000001", "000001=000001", 1356998400001, "1", EntryPath::kTelnet, "00000150E22700000001000001", "08", "F0000040", "01"},
    {"V29", "000001", "000001=000001", 1356998400500, "42.5", EntryPath::kTelnet, "00000150E22700000001000001", "08", "F0007D0B", "422A0000"},
    {"V30", "000001", "000001=000001", 1356998460000, "300", EntryPath::kTelnet, "00000150E22700000001000001", "08", "F03A9801", "012C"},
    {"V31", "000001", "000001=000001", 1357001999999, "0.1", EntryPath::kTelnet, "00000150E22700000001000001", "08", "FDBB9FCF", "3FB999999999999A"},
    {"V32", "000001", "000001=000001", 1357002000000, "0", EntryPath::kTelnet, "00000150E23510000001000001", "08", "F0000000", "00"},
    {"V33", "000001", "000001=000001", 1, "5", EntryPath::kTelnet, "00000100000000000001000001", "08", "0010", "05"},
    {"V34", "000001", "000001=000001", 4294967295, "5", EntryPath::kTelnet, "000001FFFFF960000001000001", "08", "69F0", "05"},
    {"V35", "000001", "000001=000001", 4294967296, "5", EntryPath::kTelnet, "00000100418890000001000001", "08", "F0A36000", "05"},
    {"V36", "000001", "000001=000001", 9999999999999, "5", EntryPath::kTelnet, "000001540BD910000001000001", "08", "FAAE5FC0", "05"},
    {"V37", "000001", "000002=000003 000001=000001", 1356998400, "1", EntryPath::kTelnet, "00000150E22700000001000001000002000003", "03", "0000", "01"},
    {"V38", "000001", "000003=000005 000001=000001 000002=000003", 1356998400, "1", EntryPath::kTelnet, "00000150E22700000001000001000002000003000003000005", "0D", "0000", "01"},
    {"V39", "000002", "000001=000002", 1356998410, "2.5", EntryPath::kTelnet, "00000250E22700000001000002", "0A", "00AB", "40200000"},
    {"V40", "FF00FE", "000080=0000FF", 1356998410, "9", EntryPath::kTelnet, "FF00FE50E227000000800000FF", "0D", "00A0", "09"},
    {"V41", "0B1420", "000001=000001", 1356998410, "9", EntryPath::kTelnet, "0B142050E22700000001000001", "06", "00A0", "09"},
    {"V42", "000FA0", "000001=000001 000002=00000A 000003=000100 000004=00FFFF 000005=010000 000006=7F0000 000007=800000 000008=FFFFFF", 1700000000, "-7", EntryPath::kTelnet, "000FA06553EDE000000100000100000200000A00000300010000000400FFFF0000050100000000067F0000000007800000000008FFFFFF", "05", "3200", "F9"},
};
// clang-format on

TEST_CASE("points become the recorded keys, qualifiers and values (V01…V42)") {
  const KeyLayout salted = Salted(1, 20);
  for (const PointVector& v : kPoints) {
    CAPTURE(v.name);
    const Timestamp time{v.time};
    PointValue value;
    NumberError error;
    REQUIRE(ParseValue(v.text, v.path, &value, &error));
    const Bytes tsuid = TsuidOfText(v.metric, v.tags);

    CHECK(ToHexUpper(MakeRowKey(KeyLayout(), tsuid, time.base())) == v.key);
    CHECK(ToHexUpper(MakeRowKey(salted, tsuid, time.base())) == std::string(v.salt) + v.key);
    const Qualifier qualifier = Qualifier::Of(time, value.flags);
    CHECK(ToHexUpper(qualifier.Encode()) == v.qualifier);
    CHECK(ToHexUpper(EncodeValue(value)) == v.value);
    CHECK(ReadValueBits(Hex(v.value).data(), qualifier.flags()) == value.bits);
    CHECK(qualifier.is_millis() == time.is_millis());
  }
}

struct SaltVector {
  const char* name;
  const char* metric;
  const char* tags;
  int64_t time;
  const char* key;
  uint32_t bucket;
};

// clang-format off
const SaltVector kSalts[] = {
    {"S01", "000001", "000001=000001", 1356998400, "0800000150E22700000001000001", 8},
    {"S02", "000001", "000001=000001", 1700000000, "080000016553EDE0000001000001", 8},
    {"S03", "000001", "000001=000002", 1356998400, "0900000150E22700000001000002", 9},
    {"S04", "000001", "000002=000003 000001=000001", 1356998400, "0300000150E22700000001000001000002000003", 3},
    {"S05", "000002", "000001=000001", 1356998400, "0900000250E22700000001000001", 9},
    {"S06", "FFFFFF", "FFFFFF=FFFFFF", 1356998400, "0EFFFFFF50E22700FFFFFFFFFFFF", 14},
    {"S07", "FF00FE", "000080=0000FF", 1356998400500, "0DFF00FE50E227000000800000FF", 13},
    {"S08", "00AB12", "000001=000001 000002=000002 000003=000003", 1356998400, "1200AB1250E22700000001000001000002000002000003000003", 18},
};
// clang-format on

TEST_CASE("salted keys equal the recorded ones and are decoded again (S01…S08)") {
  const KeyLayout layout = Salted(1, 20);
  for (const SaltVector& v : kSalts) {
    CAPTURE(v.name);
    const Bytes tsuid = TsuidOfText(v.metric, v.tags);
    const Bytes key = MakeRowKey(layout, tsuid, Timestamp{v.time}.base());
    CHECK(ToHexUpper(key) == v.key);
    CHECK(SaltBucket(layout, tsuid) == v.bucket);
    const Result<RowKey> row = RowKey::Decode(layout, key);
    REQUIRE(row.ok());
    CHECK(row->tsuid() == tsuid);
    CHECK(row->base() == Timestamp{v.time}.base());
    CHECK(row->salt() == Bytes(1, static_cast<char>(v.bucket)));
    CHECK(row->metric() == Hex(v.metric));
  }
}

TEST_CASE(
    "other salt widths and bucket counts than the default give OpenTSDB's salts "
    "(opentsdb-schema.md §4.3)") {
  const Bytes low = TsuidOfText("000001", "000001=000001");
  const Bytes high = TsuidOfText("FF00FE", "000080=0000FF");
  const struct {
    int width;
    int buckets;
    const char* low;
    const char* high;
  } vectors[] = {
      {1, 20, "08", "0D"},
      {2, 20, "0008", "000D"},
      {4, 20, "00000008", "0000000D"},
      {1, 256, "C0", "E5"},
      {2, 1000, "03C8", "028D"},
      {1, 2, "00", "01"},
      {1, 1, "00", "00"},
      {8, 20, "0000000000000008", "000000000000000D"},
  };
  for (const auto& v : vectors) {
    const KeyLayout layout = Salted(v.width, v.buckets);
    CHECK(ToHexUpper(MakeRowKey(layout, low, 1356998400)) ==
          std::string(v.low) + "00000150E22700000001000001");
    CHECK(ToHexUpper(MakeRowKey(layout, high, 1356998400)) ==
          std::string(v.high) + "FF00FE50E227000000800000FF");
  }
  // A bucket number that is too large for the width keeps its low byte.
  const KeyLayout narrow = Salted(1, 100000);
  const uint32_t bucket = SaltBucket(narrow, low);
  CHECK(bucket == 691019968 % 100000);
  CHECK(ByteAt(MakeRowKey(narrow, low, 0), 0) == (bucket & 0xFF));
}

}  // namespace
}  // namespace hg::codec
