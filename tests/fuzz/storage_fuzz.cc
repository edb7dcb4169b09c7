// Files and records of the embedded engine: reading any bytes gives a value or an error, and values
// are written and read again without a change. Checksums are corrected here, because no fuzzer
// guesses them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/request_context.h"
#include "storage/base/varint.h"
#include "storage/engine/log_body.h"
#include "storage/engine/registry.h"
#include "storage/engine/row_file.h"
#include "storage/engine/stored_row.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/log_recovery.h"
#include "storage/lsm/manifest.h"
#include "storage/points/row_codec.h"
#include "tests/fault/faulty_file.h"

namespace hg {
namespace {

/// The maximum number of points of a row that is examined: a few bytes can mean millions.
constexpr uint32_t kPointsMax = 4000;

void AppendLittle(Bytes* out, uint64_t v, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

Bytes WithCrc(Bytes bytes) {
  AppendLittle(&bytes, crc32c::Value(bytes), 4);
  return bytes;
}

void WriteFile(FaultyFileSystem* disk, const std::string& path, ByteView content) {
  auto file = disk->Open(path, OpenMode::kCreate);
  INVARIANT(file.ok() && (*file)->WriteAt(0, content).ok());
}

/// The magic and the version come from the encoder, so the decoder always reads the body. With
/// `extended`, the version is the newest one.
void Manifest(ByteView body, bool extended) {
  lsm::Manifest manifest, again;
  manifest.forgotten_series = extended ? 1 : 0;
  const Bytes header = lsm::EncodeManifest(manifest).substr(0, 8);
  if (!lsm::DecodeManifest(WithCrc(header + Bytes(body)), &manifest)) return;
  const Bytes written = lsm::EncodeManifest(manifest);
  INVARIANT(lsm::DecodeManifest(written, &again));
  INVARIANT(lsm::EncodeManifest(again) == written);
  const KeyLayout& layout = manifest.layout;
  for (const int width : {layout.metric_width, layout.tagk_width, layout.tagv_width})
    INVARIANT(width >= 1 && width <= 8);
  INVARIANT(layout.salt_width >= 0 && layout.salt_width <= 8 && layout.salt_buckets >= 1);
}

/// Writes records from the pieces of the input, then changes one byte of the file or cuts its end.
/// Recovery returns the records before the damage, and a second recovery returns the same.
void Log(ByteView in, uint8_t damage) {
  constexpr uint64_t kNumber = 3, kKey = 0x123456789ABCDEF;
  Bytes file(lsm::kLogFileHeaderBytes, '\0');
  lsm::EncodeLogFileHeader({kNumber, 0, 0, kKey}, file.data());
  std::vector<Bytes> bodies;
  while (!in.empty()) {
    const size_t size = std::min<size_t>(ByteAt(in, 0), in.size() - 1);
    bodies.emplace_back(in.substr(1, size));
    in.remove_prefix(1 + size);
    char header[lsm::kLogRecordHeaderBytes];
    lsm::EncodeLogRecordHeader(
        kKey, {static_cast<uint32_t>(size), crc32c::Value(bodies.back()), bodies.size(), 0, 1},
        header);
    file.append(header, sizeof header).append(bodies.back());
  }
  const size_t at =
      lsm::kLogFileHeaderBytes + (file.size() - lsm::kLogFileHeaderBytes) * damage / 256;
  if (damage % 2 == 0) {
    file.resize(at);
  } else if (at < file.size()) {
    file[at] = static_cast<char>(file[at] ^ 0x10);
  }
  FaultyFileSystem disk(1);
  WriteFile(&disk, "d/" + lsm::LogFileName(kNumber), file);
  size_t counts[2] = {};
  for (size_t& count : counts) {
    const auto recovered =
        lsm::RecoverLog(disk, "d", kNumber, 0, 0, [&](const lsm::LogRecord& record) -> Status {
          INVARIANT(count < bodies.size() && record.body == bodies[count]);
          ++count;
          return {};
        });
    INVARIANT(recovered.ok());
  }
  INVARIANT(counts[0] == counts[1]);
}

void LogBodies(ByteView in) {
  std::vector<PointEntry> entries, again;
  if (engine::DecodePoints(in, &entries) && entries.size() <= engine::kRecordPointsMax) {
    Bytes out(2 + entries.size() * engine::kEntryBytesMax + 8, '\0');
    out.resize(engine::EncodePoints(entries, out.data()));
    INVARIANT(engine::DecodePoints(out, &again) && again.size() == entries.size());
    Bytes twice(out.size() + 64, '\0');
    twice.resize(engine::EncodePoints(again, twice.data()));
    INVARIANT(twice == out);
  }
  uint32_t number = 0;
  ByteView tsuid;
  if (engine::DecodeSeries(in, &number, &tsuid)) {
    Bytes out;
    engine::EncodeSeries(number, tsuid, &out);
    uint32_t same = 0;
    ByteView back;
    INVARIANT(engine::DecodeSeries(out, &same, &back) && same == number && back == tsuid);
  }
  engine::RowRecord record, copy;
  if (engine::DecodeRowRecord(in, &record)) {
    Bytes out, twice;
    engine::EncodeRowRecord(record, &out);
    INVARIANT(engine::DecodeRowRecord(out, &copy));
    engine::EncodeRowRecord(copy, &twice);
    INVARIANT(twice == out);
  }
}

void CellRows(ByteView in) {
  lsm::CellRow row, again;
  if (!lsm::DecodeCellRow(in, &row)) return;
  Bytes out;
  lsm::EncodeCellRow(row, &out);
  INVARIANT(lsm::DecodeCellRow(out, &again));
  INVARIANT(again == row);
}

/// Both ways of reading a row-hour agree, and the row can be written again.
void RowHours(ByteView in) {
  const auto summary = points::ReadRowSummary(in);
  if (summary.ok() && summary->count > kPointsMax) return;
  std::vector<points::PartPoint> row;
  const auto traits = points::DecodeRow(in, 7, &row);
  points::RowColumns columns;
  const Status read = points::AppendColumns(in, &columns);
  if (!traits.ok()) {
    INVARIANT(traits.status().code() == StatusCode::kCorruption);
    return;
  }
  INVARIANT(summary.ok() && summary->count == row.size() && !row.empty());
  INVARIANT(read.ok() && columns.offset_ms.size() == row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    INVARIANT(columns.offset_ms[i] == row[i].offset_ms());
    INVARIANT(row[i].qualifier.valid_flags());
    INVARIANT(i == 0 || row[i - 1].offset_ms() <= row[i].offset_ms());
  }
  Bytes out;
  points::EncodeRow(row, *traits, &out);
  std::vector<points::PartPoint> again;
  INVARIANT(points::DecodeRow(out, 7, &again).ok());
  // Sequence numbers of points are stored only if raw cells need them and a point has one.
  const bool kept = traits->has_raw && std::any_of(row.begin(), row.end(), [](const auto& point) {
                      return point.sequence != 0;
                    });
  for (points::PartPoint& point : row) {
    if (!kept) point.sequence = 7;
  }
  INVARIANT(again == row);
}

void RowKeys(ByteView in, uint8_t shape) {
  KeyLayout layout;
  layout.metric_width = 1 + shape % 4;
  layout.tagk_width = 1 + shape / 4 % 4;
  layout.salt_width = shape / 16 % 2;
  Bytes tsuid;
  uint32_t base = 0;
  if (engine::SplitRowFileKey(layout, in, &tsuid, &base))
    INVARIANT(engine::RowFileKey(layout, tsuid, base) == in);
  (void)engine::IsRegularKey(layout, in, &tsuid, &base);
  if (shape % 32 != 0) return;  // creating a registry takes long
  engine::Registry registry(layout);
  const size_t width = static_cast<size_t>(layout.metric_width + layout.pair_width());
  for (; in.size() >= width; in.remove_prefix(width)) {
    const ByteView series = in.substr(0, width);
    if (registry.Find(series)) continue;
    const uint32_t number = registry.size();
    registry.Add(series);
    INVARIANT(registry.Find(series) == number && registry.TsuidOf(number) == series);
  }
  MemoryTally memory(nullptr);
  const std::vector<uint32_t> all = registry.Match("", SeriesMatcher(), &memory)->numbers;
  INVARIANT(all.size() == registry.size());
  for (size_t i = 1; i < all.size(); ++i)
    INVARIANT(registry.TsuidOf(all[i - 1]) < registry.TsuidOf(all[i]));
}

/// Reads a file with one block and an index that consist of the bytes of the input.
void BlockFiles(ByteView in, uint8_t cut) {
  const size_t index_bytes = in.size() * (cut % 64) / 256;
  Bytes file = WithCrc(Bytes(in.substr(index_bytes)));
  Bytes index(in.substr(0, index_bytes));
  if (cut % 64 == 0) {
    index.assign(1, '\0');  // first key ""
    AppendVarint(&index, 0);
    AppendVarint(&index, file.size());
  }
  // Half of the files have a filter, which has the same bytes as the index.
  const Bytes filter = cut < 128 ? Bytes() : index;
  // A quarter of the files have a meta block, which has the same bytes as the index.
  const Bytes meta = cut % 4 == 3 ? index : Bytes();
  Bytes trailer;
  if (!meta.empty()) {
    AppendLittle(&trailer, file.size(), 8);
    AppendLittle(&trailer, meta.size(), 8);
    AppendLittle(&trailer, crc32c::Value(meta), 4);
    file += meta;
  }
  AppendLittle(&trailer, file.size(), 8);
  AppendLittle(&trailer, filter.size(), 8);
  AppendLittle(&trailer, cut, 8);  // first and last time
  AppendLittle(&trailer, in.size(), 8);
  AppendLittle(&trailer, crc32c::Value(filter), 4);
  AppendLittle(&trailer, cut % 5, 1);
  AppendLittle(&trailer, cut, 4);  // checksum of the blocks
  file += filter;
  AppendLittle(&trailer, file.size(), 8);
  AppendLittle(&trailer, index.size(), 8);
  AppendLittle(&trailer, cut, 8);
  AppendLittle(&trailer, crc32c::Value(index), 4);
  trailer = WithCrc(std::move(trailer));
  trailer.append(meta.empty() ? "HGBLOCK\5" : "HGBLOCK\6", 8);
  FaultyFileSystem disk(1);
  WriteFile(&disk, "f", file + index + trailer);
  const auto opened = lsm::BlockFile::Open(disk, "f");
  if (!opened.ok()) {
    INVARIANT(opened.status().code() == StatusCode::kCorruption);
    return;
  }
  INVARIANT((*opened)->has_meta() == !meta.empty());
  if (!meta.empty()) INVARIANT(**(*opened)->ReadMeta(lsm::CacheUse::kPast, nullptr) == meta);
  const Status check = lsm::BlockFile::Check(*opened);
  INVARIANT(check.ok() || check.code() == StatusCode::kCorruption);
  lsm::BlockFileScan scan(*opened, "a", "");
  Bytes value;
  for (int i = 0; i < 100; ++i) {
    const auto more = scan.Next();
    if (!more.ok() || !*more) break;
    INVARIANT(scan.key() >= "a");
    (void)(*opened)->Get(scan.key(), &value);
  }
  scan.Seek("b");
  (void)scan.Next();
}

}  // namespace
}  // namespace hg

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const hg::ByteView rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 7) {
    case 0:
      hg::Manifest(rest, data[1] % 2 == 1);
      break;
    case 1:
      hg::Log(rest, data[1]);
      break;
    case 2:
      hg::LogBodies(rest);
      break;
    case 3:
      hg::CellRows(rest);
      break;
    case 4:
      hg::RowHours(rest);
      break;
    case 5:
      hg::RowKeys(rest, data[1]);
      break;
    case 6:
      hg::BlockFiles(rest, data[1]);
      break;
  }
  return 0;
}
