// The examples in storage/lsm/FORMAT.md are correct: the code reads them as described and, for
// forms that are still written, writes them unchanged.

#include "storage/lsm/block_file.h"
#include "storage/lsm/bloom.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/log_format.h"
#include "storage/lsm/manifest.h"
#include "storage/lsm/table_attributes.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/format_examples.h"
#include "tests/storage/shown.h"

namespace hg::lsm {
namespace {

std::string Number(int64_t v) { return std::to_string(v); }

std::string LogFileAgain(const FormatExample& example) {
  LogFileHeader header;
  REQUIRE(DecodeLogFileHeader(example.bytes(), &header));
  CHECK(header.bytes == example.bytes().size());
  if (header.bytes == kLogFileHeaderBytes) {
    char written[kLogFileHeaderBytes];
    EncodeLogFileHeader(header, written);
    CHECK(Bytes(written, sizeof written) == example.bytes());
  }
  return "file " + std::to_string(header.number) + " from " + std::to_string(header.start) +
         " synced " + std::to_string(header.synced) + " key " + std::to_string(header.key);
}

std::string LogRecordText(const FormatExample& example) {
  const auto key = static_cast<uint64_t>(example.number(0));
  const Bytes bytes = example.bytes(1);
  LogRecordHeader header;
  ByteView body;
  REQUIRE(DecodeLogRecord(key, bytes, &header, &body));
  CHECK_FALSE(DecodeLogRecord(key + 1, bytes, &header, &body));
  char written[kLogRecordHeaderBytes];
  EncodeLogRecordHeader(key, header, written);
  CHECK(Bytes(written, sizeof written) + Bytes(body) == bytes);
  return "record " + std::to_string(header.sequence) + " kind " + std::to_string(header.kind) +
         " synced " + std::to_string(header.synced) + " body " + Shown(body);
}

std::string TableText(const TableEntry& table) {
  std::string text = " | table " + std::to_string(table.id) + " " + Shown(table.name) +
                     (table.points ? " points" : "");
  for (const FamilyDescriptor& family : table.families) {
    text += "; " + (family.name.empty() ? "dropped" : DescribeFamily(family));
  }
  for (const RegionEntry& region : table.regions) {
    text += "; region " + std::to_string(region.id) + " from " + Shown(region.start);
  }
  for (const auto& [name, value] : DescribeSplitPolicy(table.split_policy)) {
    text += "; " + name + " " + Shown(value);
  }
  return text;
}

std::string FileText(uint64_t bytes, uint32_t crc) {
  return std::to_string(bytes) + (bytes == 0 ? "" : " with CRC " + std::to_string(crc));
}

std::string PartText(const PartEntry& part) {
  return " | part " + std::to_string(part.number) + " of " + std::to_string(part.table) + "/" +
         std::to_string(part.region) + " records " + std::to_string(part.first_sequence) + " to " +
         std::to_string(part.last_sequence) + " cells " +
         FileText(part.cells_bytes, part.cells_crc) + " points " +
         FileText(part.points_bytes, part.points_crc) + (part.reference ? " reference" : "") +
         (part.tombstones ? " tombstones" : "") + " made " + Number(part.made_ms) + " rows " +
         Number(part.first_base) + " to " + Number(part.last_base) + (part.loose ? " loose" : "") +
         " rewritten " + Number(part.rewrites) +
         (part.space.empty() ? "" : " in '" + part.space + "'");
}

std::string ManifestText(const Manifest& m) {
  std::string text =
      "widths " + Number(m.layout.metric_width) + " " + Number(m.layout.tagk_width) + " " +
      Number(m.layout.tagv_width) + " " + Number(m.layout.salt_width) + " buckets " +
      Number(m.layout.salt_buckets) + " next file " + std::to_string(m.next_number) + " flushed " +
      std::to_string(m.flushed) + " log " + std::to_string(m.log_file) + " from " +
      std::to_string(m.log_position) + " stamp " + Number(m.stamp_floor_ms) + " next table " +
      Number(m.next_table) + " next region " + Number(m.next_region);
  for (const auto& file : m.logs) {
    text += " | log file " + std::to_string(file.number) + " from record " +
            std::to_string(file.first_sequence);
  }
  for (const TableEntry& table : m.tables) text += TableText(table);
  for (const PartEntry& part : m.parts) text += PartText(part);
  if (m.forgotten_series > 0) {
    text +=
        " | series to " + Number(m.series_end) + ", " + Number(m.forgotten_series) + " forgotten";
  }
  return text;
}

std::string ManifestExample(const FormatExample& example) {
  Manifest manifest;
  REQUIRE(DecodeManifest(example.bytes(), &manifest));
  CHECK(EncodeManifest(manifest) == example.bytes());
  return ManifestText(manifest);
}

std::string FilterBits(const FormatExample& example) {
  std::vector<uint64_t> hashes;
  for (const std::string& key : example.words) hashes.push_back(BloomHash(key));
  return ToHex(MakeBloom(hashes));
}

using EntryList = std::vector<std::pair<Bytes, Bytes>>;

EntryList EntriesOf(const std::shared_ptr<const BlockFile>& file) {
  EntryList entries;
  BlockFileScan scan(file, "", "");
  for (;;) {
    const auto more = scan.Next();
    INFO(more.status().ToString());
    REQUIRE(more.ok());
    if (!*more) return entries;
    entries.emplace_back(scan.key(), scan.value());
  }
}

std::shared_ptr<const BlockFile> OpenBytes(FaultyFileSystem& disk, ByteView bytes) {
  const auto file = disk.Open("d/file", OpenMode::kCreate);
  REQUIRE(file.ok());
  REQUIRE((*file)->WriteAt(0, bytes).ok());
  const auto opened = BlockFile::Open(disk, "d/file");
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  CHECK(BlockFile::Check(*opened).ok());
  return *opened;
}

std::string BlockFileText(const BlockFile& file, const EntryList& entries) {
  std::string text =
      Number(static_cast<int64_t>(file.blocks())) + " blocks, times " +
      (file.times().known() ? Number(file.times().min_ms) + " to " + Number(file.times().max_ms)
                            : "unknown");
  if (file.has_meta()) text += ", meta " + Shown(**file.ReadMeta(CacheUse::kPast, nullptr));
  for (const auto& [key, value] : entries) {
    text += ", " + Shown(key) + "=" + Shown(value);
    Bytes got;
    CHECK(*file.Get(key, &got));
    CHECK(got == value);
    CHECK_FALSE(*file.Get(key + "?", &got));
  }
  return text;
}

// Words: the requested block size, and the file, plain and with a filter.
std::string BlockFileExample(const FormatExample& example) {
  FaultyFileSystem disk(1);
  const auto file = OpenBytes(disk, example.bytes(1));
  const EntryList entries = EntriesOf(file);
  BlockWriting writing;
  writing.packing = Packing::kPlain;
  writing.block_bytes = static_cast<size_t>(example.number(0));
  writing.bloom = true;
  auto writer = BlockFileWriter::Create(disk, "d/written", writing);
  REQUIRE(writer.ok());
  for (const auto& [key, value] : entries) REQUIRE((*writer)->Add(key, value).ok());
  if (file->times().known()) {
    (*writer)->AddTime(file->times().min_ms);
    (*writer)->AddTime(file->times().max_ms);
  }
  if (file->has_meta()) (*writer)->SetMeta(**file->ReadMeta(CacheUse::kPast, nullptr));
  REQUIRE((*writer)->Finish().ok());
  CHECK(ToHex(*ReadWholeFile(disk, "d/written")) == ToHex(example.bytes(1)));
  return BlockFileText(*file, entries);
}

// Compressed blocks are only read, because the output of a compressor depends on its version.
std::string BlockFileRead(const FormatExample& example) {
  FaultyFileSystem disk(1);
  const auto file = OpenBytes(disk, example.bytes());
  return BlockFileText(*file, EntriesOf(file));
}

std::string Column(uint8_t family, ByteView qualifier) {
  return Number(family) + ":" + Shown(qualifier);
}

std::string VersionText(const CellVersion& cell) {
  const std::map<CellKind, std::string> kinds = {
      {CellKind::kPut, "put"},
      {CellKind::kDelete, "delete version"},
      {CellKind::kDeleteFamilyVersion, "delete version of family"},
      {CellKind::kDeleteColumn, "delete column"},
      {CellKind::kDeleteFamily, "delete family"}};
  std::string text = Column(cell.family, cell.qualifier) + " " + kinds.at(cell.kind);
  if (cell.kind == CellKind::kPut) text += " " + Shown(cell.value);
  text += " at " + Number(cell.timestamp_ms) + " written " + std::to_string(cell.sequence);
  if (cell.expires_ms != kNeverExpires) text += " expires " + Number(cell.expires_ms);
  return text;
}

std::string CellText(const StoredCell& cell) {
  std::string text = Column(cell.family, cell.qualifier);
  if (cell.tombstone_ms != kNoTombstone) text += " tombstone " + Number(cell.tombstone_ms);
  if (cell.has_value) {
    text += (cell.operand ? " append " : " put ") + Shown(cell.value) + " at " +
            Number(cell.timestamp_ms);
  }
  return text;
}

std::string Row(const FormatExample& example) {
  CellRow row;
  REQUIRE(DecodeCellRow(example.bytes(), &row));
  Bytes written;
  EncodeCellRow(row, &written);
  CHECK(written == example.bytes());
  std::vector<std::string> parts;
  for (size_t family = 0; family < row.family_tombstones.size(); ++family) {
    const int64_t tombstone = row.family_tombstones[family];
    if (tombstone != kNoTombstone)
      parts.push_back(std::to_string(family) + ": tombstone " + Number(tombstone));
  }
  for (const StoredCell& cell : row.cells) parts.push_back(CellText(cell));
  for (const CellVersion& cell : row.versions) parts.push_back(VersionText(cell));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

TEST_CASE("the examples of the engine's formats match the code") {
  CheckFormatExamples(HG_SOURCE_DIR "/storage/lsm/FORMAT.md", {{"log-file", LogFileAgain},
                                                               {"log-record", LogRecordText},
                                                               {"manifest", ManifestExample},
                                                               {"filter", FilterBits},
                                                               {"block-file", BlockFileExample},
                                                               {"read-block-file", BlockFileRead},
                                                               {"row", Row}});
}

}  // namespace
}  // namespace hg::lsm
