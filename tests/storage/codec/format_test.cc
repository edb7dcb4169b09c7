// The examples in storage/codec/FORMAT.md are correct: the code reads them as described and writes
// them unchanged.

#include "storage/codec/annotation.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/histogram.h"
#include "storage/codec/rollup.h"
#include "storage/codec/row_key.h"
#include "tests/storage/format_examples.h"
#include "tests/storage/shown.h"

namespace hg::codec {
namespace {

std::string PointText(const StoredPoint& point) {
  return std::to_string(point.offset_ms()) + "=" + Shown(point.value());
}

std::string PointsText(const std::vector<StoredPoint>& points) {
  std::string out;
  for (const StoredPoint& point : points) out += (out.empty() ? "" : ", ") + PointText(point);
  return out;
}

std::string KeyText(const KeyLayout& layout, const Bytes& key) {
  const Result<RowKey> row = RowKey::Decode(layout, key);
  REQUIRE(row.ok());
  CHECK(MakeRowKey(layout, row->tsuid(), row->base()) == key);
  return std::to_string(row->base()) + " " + ToHexUpper(row->tsuid());
}

std::string Key(const FormatExample& example) { return KeyText({}, example.bytes()); }

KeyLayout LayoutOf(const FormatExample& example) {
  return {example.number(0), example.number(1), example.number(2), example.number(3),
          example.number(4)};
}

std::string KeyOfLayout(const FormatExample& example) {
  return KeyText(LayoutOf(example), example.bytes(5));
}

std::string GlobalKey(const FormatExample& example) {
  const KeyLayout layout = LayoutOf(example);
  const Bytes key = example.bytes(5);
  CHECK(IsGlobalRowKey(layout, key));
  const uint32_t base = ReadBig32(key.data() + key.size() - 4);
  CHECK(MakeGlobalRowKey(layout, base) == key);
  return std::to_string(base);
}

std::string Class(const FormatExample& example) {
  constexpr const char* kNames[] = {"point",     "compacted", "append",   "annotation",
                                    "histogram", "unknown",   "malformed"};
  return kNames[static_cast<size_t>(ClassifyQualifier(example.bytes()))];
}

std::vector<StoredPoint> PointsOf(const Bytes& qualifier, const Bytes& value, bool* repaired) {
  std::vector<StoredPoint> points;
  REQUIRE(ReadPointCell(qualifier, value, &points, repaired).ok());
  return points;
}

std::string Cell(const FormatExample& example) {
  const Bytes qualifier = Hex(example.words.at(0));
  const Bytes value = example.bytes(1);
  bool repaired = false;
  const std::vector<StoredPoint> points = PointsOf(qualifier, value, &repaired);
  CHECK_FALSE(repaired);
  Bytes written_qualifier, written_value;
  EncodePointCell(points, &written_qualifier, &written_value);
  CHECK(written_qualifier == qualifier);
  CHECK(written_value == value);
  return PointsText(points);
}

// This form is no longer written.
std::string ToleratedCell(const FormatExample& example) {
  const Bytes qualifier = Hex(example.words.at(0));
  bool repaired = false;
  const std::string text = PointsText(PointsOf(qualifier, example.bytes(1), &repaired));
  return text + (repaired ? " (repaired)" : "");
}

std::string Append(const FormatExample& example) {
  const Result<AppendCell> cell = ParseAppendCell(example.bytes());
  REQUIRE(cell.ok());
  Bytes written;
  for (const StoredPoint& point : cell->points) AppendPair(&written, point);
  if (cell->needs_repair) return PointsText(cell->points) + "; repaired " + ToHexUpper(written);
  CHECK(written == example.bytes());
  return PointsText(cell->points);
}

std::string AnnotationPlaceText(const FormatExample& example) {
  const AnnotationPlace place = PlaceAnnotation(std::stoll(example.words.at(0)));
  return std::to_string(place.base) + " " + ToHexUpper(place.qualifier) + " " +
         std::to_string(ObjectOffsetMs(place.qualifier));
}

std::string AnnotationText(const FormatExample& example) {
  const Result<Annotation> note = DecodeAnnotation(example.words.at(0));
  REQUIRE(note.ok());
  CHECK(EncodeAnnotation(*note) == example.words[0]);
  std::string text = (note->tsuid.empty() ? "global" : note->tsuid) + " " +
                     std::to_string(note->start_time) + " to " + std::to_string(note->end_time) +
                     " '" + note->description + "' '" + note->notes + "'";
  for (const auto& [key, value] : note->custom.value_or(Annotation::Custom()))
    text.append(" ").append(key).append("=").append(value);
  return text;
}

std::string HistogramPlace(const FormatExample& example) {
  const Bytes qualifier = HistogramQualifier(Timestamp{std::stoll(example.words.at(0))});
  const Result<uint32_t> offset = HistogramOffsetMs(qualifier);
  REQUIRE(offset.ok());
  return ToHexUpper(qualifier) + " " + std::to_string(*offset);
}

std::string HistogramText(const FormatExample& example) {
  const Result<SimpleHistogram> histogram = DecodeSimpleHistogram(example.bytes());
  REQUIRE(histogram.ok());
  const Result<Bytes> written = EncodeSimpleHistogram(*histogram);
  REQUIRE(written.ok());
  CHECK(*written == example.bytes());
  std::ostringstream out;
  out << int{histogram->codec_id};
  for (const HistogramBucket& b : histogram->buckets)
    out << " " << b.lower << "," << b.upper << "=" << b.count;
  out << " u=" << histogram->underflow << " o=" << histogram->overflow;
  return out.str();
}

std::string RollupText(const RollupQualifier& rollup) {
  std::ostringstream out;
  out << int{rollup.aggregator_id} << " " << rollup.index << " " << std::uppercase << std::hex
      << int{rollup.flags};
  return out.str();
}

std::string Rollup(const FormatExample& example) {
  const Result<RollupQualifier> rollup = DecodeRollupQualifier(example.bytes());
  REQUIRE(rollup.ok());
  CHECK(rollup->Encode() == example.bytes());
  return RollupText(*rollup);
}

std::string RollupByName(const FormatExample& example) {
  const RollupAggregate aggregate{static_cast<uint8_t>(example.number(1)), example.words.at(0)};
  const auto rollup = DecodeRollupQualifierOf(aggregate, example.bytes(2));
  REQUIRE(rollup);
  return RollupText(*rollup);
}

std::string RollupPlace(const FormatExample& example) {
  const std::map<std::string, RollupSpanUnit> units = {{"h", RollupSpanUnit::kHours},
                                                       {"d", RollupSpanUnit::kDays},
                                                       {"n", RollupSpanUnit::kMonths},
                                                       {"y", RollupSpanUnit::kYears}};
  RollupInterval interval;
  interval.interval_s = static_cast<uint32_t>(example.number(0));
  interval.span_count = static_cast<uint32_t>(example.number(1));
  interval.unit = units.at(example.words.at(2));
  interval.intervals_max =
      RollupIntervalsPerRow(interval.interval_s, interval.unit, interval.span_count);
  const int64_t time_s = example.number(3);
  const Result<RollupQualifier> rollup = MakeRollupQualifier(0, time_s, kInt8, interval);
  REQUIRE(rollup.ok());
  return std::to_string(RollupBase(time_s, interval)) + " " + std::to_string(rollup->index) +
         " of " + std::to_string(interval.intervals_max);
}

TEST_CASE("the examples of the data table's format match the code") {
  CheckFormatExamples(HG_SOURCE_DIR "/storage/codec/FORMAT.md",
                      {{"key", Key},
                       {"key-of", KeyOfLayout},
                       {"global-key-of", GlobalKey},
                       {"class", Class},
                       {"cell", Cell},
                       {"tolerated", ToleratedCell},
                       {"append", Append},
                       {"annotation-at", AnnotationPlaceText},
                       {"annotation", AnnotationText},
                       {"histogram-at", HistogramPlace},
                       {"histogram", HistogramText},
                       {"rollup-at", RollupPlace},
                       {"rollup", Rollup},
                       {"rollup-named", RollupByName}});
}

}  // namespace
}  // namespace hg::codec
