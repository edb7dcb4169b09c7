// The examples in storage/points/FORMAT.md are correct: the code reads them as described and, for
// forms that are still written, writes them unchanged.

#include <roaring/roaring.hh>

#include "storage/engine/day_index.h"
#include "storage/engine/engine_backup.h"
#include "storage/engine/log_body.h"
#include "storage/engine/row_block.h"
#include "storage/engine/row_file.h"
#include "storage/points/row_codec.h"
#include "storage/points/row_statistics.h"
#include "storage/points/split_row.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/format_examples.h"
#include "tests/storage/shown.h"

namespace hg::engine {
namespace {

const KeyLayout kLayout;

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// Returns "10s" or "500ms", by the resolution of the qualifier.
std::string Shown(codec::Qualifier qualifier) {
  return qualifier.is_millis() ? std::to_string(qualifier.offset_ms()) + "ms"
                               : std::to_string(qualifier.offset_ms() / 1000) + "s";
}

std::string LogPoints(const FormatExample& example) {
  std::vector<PointEntry> entries;
  REQUIRE(DecodePoints(example.bytes(), &entries));
  Bytes written(2 + entries.size() * kEntryBytesMax + 8, '\0');
  written.resize(EncodePoints(entries, written.data()));
  CHECK(written == example.bytes());
  std::vector<std::string> parts;
  for (const PointEntry& entry : entries) {
    const codec::Qualifier qualifier{entry.qualifier};
    parts.push_back("series " + std::to_string(entry.series) + " " + std::to_string(entry.base) +
                    " " + Shown(qualifier) + "=" +
                    hg::Shown(PointValue{entry.bits, qualifier.flags()}));
  }
  return Joined(parts);
}

std::string LogSeries(const FormatExample& example) {
  const Bytes bytes = example.bytes();
  uint32_t number = 0;
  ByteView tsuid;
  REQUIRE(DecodeSeries(bytes, &number, &tsuid));
  Bytes encoded;
  EncodeSeries(number, tsuid, &encoded);
  CHECK(encoded == bytes);
  return "series " + std::to_string(number) + " " + ToHexUpper(tsuid);
}

std::string ChangeText(const StampedChange& change) {
  const std::map<CellChange::Kind, std::string> kinds = {
      {CellChange::Kind::kPut, "put"},
      {CellChange::Kind::kDeleteColumn, "delete column"},
      {CellChange::Kind::kDeleteFamily, "delete family"},
      {CellChange::Kind::kDeleteVersion, "delete version"},
      {CellChange::Kind::kDeleteFamilyVersion, "delete version of family"}};
  std::string text = (change.operand ? "append" : kinds.at(change.kind)) + " " +
                     std::to_string(change.family) + ":" + hg::Shown(change.qualifier) + " at " +
                     std::to_string(change.timestamp_ms);
  if (change.expires_ms != lsm::kNeverExpires)
    text += " expires " + std::to_string(change.expires_ms);
  if (change.kind == CellChange::Kind::kPut) text += " " + hg::Shown(change.value);
  return text;
}

std::string LogRow(const FormatExample& example) {
  RowRecord row;
  REQUIRE(DecodeRowRecord(example.bytes(), &row));
  Bytes written;
  EncodeRowRecord(row, &written);
  CHECK(written == example.bytes());
  std::vector<std::string> parts;
  for (const StampedChange& change : row.changes) parts.push_back(ChangeText(change));
  return "table " + std::to_string(row.table) + " " + hg::Shown(row.key) + " stamp " +
         std::to_string(row.stamp_ms) + ": " + Joined(parts);
}

std::string FileKey(const FormatExample& example) {
  Bytes tsuid;
  uint32_t base = 0;
  REQUIRE(SplitRowFileKey(kLayout, example.bytes(), &tsuid, &base));
  CHECK(RowFileKey(kLayout, tsuid, base) == example.bytes());
  return ToHexUpper(tsuid) + " " + std::to_string(base);
}

struct ReadRow {
  points::RowTraits traits;
  std::vector<points::PartPoint> points;
};

ReadRow RowOf(const FormatExample& example) {
  ReadRow row;
  const auto read = points::DecodeRow(example.bytes(), 0, &row.points);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  row.traits = *read;
  return row;
}

std::string StatisticsText(const RowStatistics& found) {
  return "; statistics " + std::to_string(found.first_offset_ms) + "ms to " +
         std::to_string(found.last_offset_ms) + "ms, " + JavaDouble(found.least) + " to " +
         JavaDouble(found.most) + ", sum " + JavaDouble(found.sum);
}

// Long rows in the examples repeat one number.
std::string PointsText(const ReadRow& row) {
  constexpr size_t kLong = 20;
  std::vector<std::string> parts;
  for (const points::PartPoint& point : row.points) {
    const PointValue value{point.bits, point.qualifier.flags()};
    if (row.points.size() > kLong) CHECK(point.bits == row.points[0].bits);
    parts.push_back(Shown(point.qualifier) + "=" + hg::Shown(value) +
                    (row.traits.has_raw ? " @" + std::to_string(point.sequence) : ""));
  }
  if (parts.size() > kLong) parts = {parts[0], parts[1], "...", parts.back()};
  return Joined(parts);
}

std::string RowText(const FormatExample& example, const ReadRow& row) {
  constexpr const char* kForms[] = {"none", "auto", "single", "one"};
  std::string text = kForms[static_cast<size_t>(row.traits.form)];
  if (row.traits.dups) text += " dups";
  if (row.traits.has_raw) text += " raw";
  text += ": " + PointsText(row);
  const auto statistics = points::ReadRowStatistics(example.bytes());
  REQUIRE(statistics.ok());
  if (!*statistics) return text;
  CHECK(points::StatisticsHold(example.bytes()));
  return text + StatisticsText(**statistics);
}

std::string Row(const FormatExample& example) {
  const ReadRow row = RowOf(example);
  Bytes written;
  points::EncodeRow(row.points, row.traits, &written);
  CHECK(ToHexUpper(written) == ToHexUpper(example.bytes()));
  return RowText(example, row);
}

std::string SplitRowExample(const FormatExample& example) {
  const ReadRow row = RowOf(example);
  Bytes written, split;
  points::EncodeRow(row.points, row.traits, &written);
  REQUIRE(points::SplitRow(written, &split));
  CHECK(ToHexUpper(split) == ToHexUpper(example.bytes()));
  return RowText(example, row);
}

// This form is written only if no other form restores the points.
std::string RowRead(const FormatExample& example) { return RowText(example, RowOf(example)); }

// The packed bytes depend on the version of zstd, so only the unpacked entries are compared.
std::string PackedBlock(const FormatExample& example) {
  Bytes entries, again, back;
  REQUIRE(RowBlockPacker().Unpack(example.bytes(), &entries));
  REQUIRE(RowBlockPacker().Pack(entries, &again));
  REQUIRE(RowBlockPacker().Unpack(again, &back));
  CHECK(back == entries);
  return ToHexUpper(entries);
}

// The registry has the series 000001000001000001, 000001000001000002 and so on.
std::string DayIndexExample(const FormatExample& example) {
  constexpr uint32_t kSeries = 8, kDaysSeen = 20'000;
  Registry registry(kLayout);
  for (uint32_t number = 0; number < kSeries; ++number) {
    Bytes tsuid("\0\0\1\0\0\1\0\0", 8);
    tsuid.push_back(static_cast<char>(number + 1));
    registry.Add(tsuid);
  }
  CHECK(*HasNumbersOf(example.bytes(), registry, nullptr));
  DayIndexWriter writer;
  std::vector<std::string> days;
  for (uint32_t day = 0; day < kDaysSeen; ++day) {
    Roaring series;
    REQUIRE(AddSeriesOfDays(example.bytes(), day, day, &series));
    if (series.isEmpty()) continue;
    std::string text = "day " + std::to_string(day) + " series";
    for (const uint32_t number : series) {
      text += " " + std::to_string(number);
      writer.Add(number, registry.TsuidOf(number), day * kIndexedDayS);
    }
    days.push_back(std::move(text));
  }
  CHECK(ToHexUpper(writer.Encode()) == ToHexUpper(example.bytes()));
  return Joined(days);
}

std::string BackupText(const FormatExample& example) {
  FaultyFileSystem disk(1);
  REQUIRE(ReplaceFile(disk, "b", kBackupName, example.bytes()).ok());
  const auto head = LoadBackupHead(disk, "b");
  INFO(head.status().ToString());
  REQUIRE(head.ok());
  REQUIRE(head->manifest.parts.empty());
  const CopyWatch nobody;
  REQUIRE(WriteBackup(disk, "d", head->manifest, head->made_ms, "c", nobody).ok());
  CHECK(ToHex(*ReadWholeFile(disk, std::string("c/") + kBackupName)) == ToHex(example.bytes()));
  return "made " + std::to_string(head->made_ms) + ", tables " +
         std::to_string(head->manifest.tables.size());
}

TEST_CASE("the examples of the points formats match the code") {
  CheckFormatExamples(HG_SOURCE_DIR "/storage/points/FORMAT.md", {{"log-points", LogPoints},
                                                                  {"log-series", LogSeries},
                                                                  {"log-row", LogRow},
                                                                  {"file-key", FileKey},
                                                                  {"row", Row},
                                                                  {"split-row", SplitRowExample},
                                                                  {"read-row", RowRead},
                                                                  {"packed-block", PackedBlock},
                                                                  {"day-index", DayIndexExample},
                                                                  {"backup", BackupText}});
}

}  // namespace
}  // namespace hg::engine
