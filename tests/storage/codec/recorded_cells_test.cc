// Every cell that OpenTSDB 2.4.1 stored in the recorded suites is decoded and encoded to the same
// bytes (tests/compat/conformance). Tables with deliberate damage are left out: schema-interop*,
// cli-broken.

#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "storage/codec/annotation.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/histogram.h"
#include "storage/codec/rollup.h"
#include "storage/codec/row_key.h"
#include "tests/support/hex.h"

namespace hg::codec {
namespace {

const std::filesystem::path kConformance = HOURGLASS_CONFORMANCE;

int Setting(const rapidjson::Value& config, const char* key, int otherwise) {
  const auto member = config.FindMember(key);
  return member == config.MemberEnd() ? otherwise : std::stoi(member->value.GetString());
}

// The widths with which a suite was recorded; none if there is no suite of that name.
std::optional<KeyLayout> LayoutOf(const std::string& suite) {
  std::ifstream file(kConformance / "suites" / (suite + ".json"));
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  rapidjson::Document document;
  document.Parse(text.str().c_str());
  REQUIRE(document.IsObject());
  KeyLayout layout;
  if (!document.HasMember("config")) return layout;
  const rapidjson::Value& config = document["config"];
  layout.metric_width = Setting(config, "tsd.storage.uid.width.metric", 3);
  layout.tagk_width = Setting(config, "tsd.storage.uid.width.tagk", 3);
  layout.tagv_width = Setting(config, "tsd.storage.uid.width.tagv", 3);
  layout.salt_width = Setting(config, "tsd.storage.salt.width", 0);
  layout.salt_buckets = Setting(config, "tsd.storage.salt.buckets", 20);
  return layout;
}

struct CellCounts {
  int points = 0, compacted = 0, appends = 0, annotations = 0, histograms = 0, rollups = 0;
};

void CheckKey(const KeyLayout& layout, const Bytes& key) {
  if (IsGlobalRowKey(layout, key)) return;
  const Result<RowKey> row = RowKey::Decode(layout, key);
  REQUIRE(row.ok());
  CHECK(MakeRowKey(layout, row->tsuid(), row->base()) == key);
}

void CheckPoints(const Bytes& qualifier, const Bytes& value, CellCounts* counts) {
  const Result<StrictCell> cell = ParsePointCell(qualifier, value);
  REQUIRE(cell.ok());
  CHECK(cell->sorted);
  CHECK_FALSE(cell->repaired);
  Bytes written_qualifier;
  Bytes written_value;
  EncodePointCell(cell->points, &written_qualifier, &written_value);
  CHECK(written_qualifier == qualifier);
  CHECK(written_value == value);
  ++(cell->points.size() == 1 ? counts->points : counts->compacted);
}

void CheckAppend(const Bytes& value, CellCounts* counts) {
  const Result<AppendCell> cell = ParseAppendCell(value);
  REQUIRE(cell.ok());
  if (cell->needs_repair) return;
  Bytes written;
  for (const StoredPoint& point : cell->points) AppendPair(&written, point);
  CHECK(written == value);
  ++counts->appends;
}

void CheckAnnotation(const KeyLayout& layout, const Bytes& key, const Bytes& qualifier,
                     const Bytes& value, CellCounts* counts) {
  const Result<Annotation> note = DecodeAnnotation(value);
  REQUIRE(note.ok());
  CHECK(EncodeAnnotation(*note) == value);
  const AnnotationPlace place = PlaceAnnotation(note->start_time);
  CHECK(place.qualifier == qualifier);
  CHECK(key == (note->tsuid.empty() ? MakeGlobalRowKey(layout, place.base)
                                    : MakeRowKey(layout, Hex(note->tsuid), place.base)));
  ++counts->annotations;
}

void CheckHistogram(const Bytes& value, CellCounts* counts) {
  const Result<SimpleHistogram> histogram = DecodeSimpleHistogram(value);
  if (!histogram.ok()) return;  // the histogram has another codec, or is too short to decode
  const Result<Bytes> written = EncodeSimpleHistogram(*histogram);
  REQUIRE(written.ok());
  CHECK(*written == value);
  ++counts->histograms;
}

void CheckRollup(const Bytes& qualifier, CellCounts* counts) {
  if (qualifier.size() != 3) return;  // a pre-aggregate without interval has the form of raw points
  const Result<RollupQualifier> rollup = DecodeRollupQualifier(qualifier);
  REQUIRE(rollup.ok());
  CHECK(rollup->Encode() == qualifier);
  ++counts->rollups;
}

void CheckCell(const KeyLayout& layout, const std::string& table, const Bytes& key,
               const Bytes& qualifier, const Bytes& value, CellCounts* counts) {
  CheckKey(layout, key);
  if (table != "tsdb") return CheckRollup(qualifier, counts);
  switch (ClassifyQualifier(qualifier)) {
    case CellClass::kPoint:
    case CellClass::kCompacted:
      return CheckPoints(qualifier, value, counts);
    case CellClass::kAppend:
      return CheckAppend(value, counts);
    case CellClass::kAnnotation:
      return CheckAnnotation(layout, key, qualifier, value, counts);
    case CellClass::kHistogram:
      return CheckHistogram(value, counts);
    case CellClass::kUnknown:
    case CellClass::kMalformed:
      FAIL("a cell that OpenTSDB does not write");
  }
}

TEST_CASE("every recorded cell of points and objects is decoded and encoded unchanged") {
  CellCounts counts;
  for (const auto& entry : std::filesystem::directory_iterator(kConformance / "cells")) {
    const std::string suite = entry.path().stem().string();
    if (suite.starts_with("schema-interop") || suite == "cli-broken") continue;
    const std::optional<KeyLayout> layout = LayoutOf(suite);
    if (!layout) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::istringstream columns(line);
      std::string table, key, family, qualifier, value;
      columns >> table >> key >> family >> qualifier >> value;
      if (family != "t" || table == "tsdb-tree") continue;
      CAPTURE(suite);
      CAPTURE(line);
      CheckCell(*layout, table, Hex(key), Hex(qualifier), Hex(value), &counts);
    }
  }
  CHECK(counts.points > 500);
  CHECK(counts.compacted > 50);
  CHECK(counts.appends > 5);
  CHECK(counts.annotations > 30);
  CHECK(counts.histograms > 5);
  CHECK(counts.rollups > 100);
}

}  // namespace
}  // namespace hg::codec
