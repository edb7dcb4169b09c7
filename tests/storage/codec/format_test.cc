// The examples of storage/codec/FORMAT.md are true.

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "storage/codec/annotation.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/compacted.h"
#include "storage/codec/histogram.h"
#include "storage/codec/rollup.h"
#include "storage/codec/row_key.h"
#include "storage/model/number_text.h"

namespace hg::codec {
namespace {

using Words = std::vector<std::string>;

Bytes Hex(std::string_view hex) {
  Bytes out;
  REQUIRE(FromHex(hex, &out));
  return out;
}

std::string PointsText(const std::vector<StoredPoint>& points) {
  std::string out;
  for (const StoredPoint& p : points) {
    const PointValue value = p.value();
    out += (out.empty() ? "" : " ") + std::to_string(p.offset_ms()) + "=" +
           (value.is_float() ? JavaDouble(value.as_double()) : std::to_string(value.as_int()));
  }
  return out;
}

std::string KeyText(const KeyLayout& layout, const Bytes& key) {
  const Result<RowKey> row = RowKey::Decode(layout, key);
  REQUIRE(row.ok());
  CHECK(MakeRowKey(layout, row->tsuid(), row->base()) == key);
  return std::to_string(row->base()) + " " + ToHexUpper(row->tsuid());
}

std::string HistogramText(const Bytes& value) {
  const Result<SimpleHistogram> histogram = DecodeSimpleHistogram(value);
  REQUIRE(histogram.ok());
  std::ostringstream out;
  out << int{histogram->codec_id};
  for (const HistogramBucket& b : histogram->buckets)
    out << " " << b.lower << "," << b.upper << "=" << b.count;
  out << " u=" << histogram->underflow << " o=" << histogram->overflow;
  return out.str();
}

std::string RollupText(const Bytes& qualifier) {
  const Result<RollupQualifier> rollup = DecodeRollupQualifier(qualifier);
  REQUIRE(rollup.ok());
  std::ostringstream out;
  out << int{rollup->aggregator_id} << " " << rollup->index << " " << std::uppercase << std::hex
      << int{rollup->flags};
  return out.str();
}

std::string Explain(const Words& words) {
  KeyLayout salted;
  salted.salt_width = 1;
  if (words[0] == "key") return KeyText(KeyLayout(), Hex(words[1]));
  if (words[0] == "salted") return KeyText(salted, Hex(words[1]));
  if (words[0] == "cell") {
    std::vector<StoredPoint> points;
    bool repaired = false;
    REQUIRE(ReadPointCell(Hex(words.at(1)), Hex(words.at(2)), &points, &repaired).ok());
    return PointsText(points);
  }
  if (words[0] == "append") {
    const Result<AppendCell> cell = ParseAppendCell(Hex(words[1]));
    REQUIRE(cell.ok());
    return PointsText(cell->points);
  }
  if (words[0] == "annotation") return ToHexUpper(PlaceAnnotation(std::stoll(words[1])).qualifier);
  if (words[0] == "histogram") return HistogramText(Hex(words[1]));
  if (words[0] == "rollup") return RollupText(Hex(words[1]));
  FAIL("unknown kind of example: " << words[0]);
  return {};
}

TEST_CASE("the examples of FORMAT.md are read as it says") {
  std::ifstream file(HOURGLASS_CODEC_FORMAT);
  REQUIRE(file);
  bool inside = false;
  std::map<std::string, int> seen;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```example";
      continue;
    }
    if (!inside) continue;
    CAPTURE(line);
    const size_t colon = line.find(" : ");
    REQUIRE(colon != std::string::npos);
    std::istringstream left(line.substr(0, colon));
    Words words;
    for (std::string word; left >> word;) words.push_back(word);
    CHECK(Explain(words) == line.substr(colon + 3));
    ++seen[words[0]];
  }
  CHECK(seen.size() == 7);  // kinds of examples
}

}  // namespace
}  // namespace hg::codec
