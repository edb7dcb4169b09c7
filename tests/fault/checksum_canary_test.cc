// Canaries of the checksums: they show that each checksum is needed. If a byte is changed and its
// checksum is corrected, wrong data is read without an error. damage_test shows that this never
// happens with the original checksums.

#include "storage/base/crc32c.h"
#include "storage/codec/row_key.h"
#include "storage/lsm/log_format.h"
#include "storage/lsm/manifest.h"
#include "tests/fault/damaged_store.h"

namespace hg {
namespace {

void PutLittle(Bytes* content, size_t at, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) (*content)[at + i] = static_cast<char>(value >> (8 * i));
}

uint64_t LittleAt(const Bytes& content, size_t at) {
  uint64_t value = 0;
  for (size_t i = 8; i > 0; --i) value = value << 8 | ByteAt(content, at + i - 1);
  return value;
}

// Computes the checksum of the bytes again and stores it after them.
void Seal(Bytes* content, size_t begin, size_t end) {
  PutLittle(content, end, crc32c::Value(ByteView(*content).substr(begin, end - begin)));
}

std::vector<Bytes> WorkloadKeys() {
  std::vector<Bytes> keys;
  for (uint64_t i = 0; i < kWorkloadSeries; ++i) {
    for (uint32_t hour = 0; hour < 2; ++hour) {
      keys.push_back(codec::MakeRowKey(KeyLayout(), WorkloadTsuid(i), kWorkloadBase + hour * 3600));
    }
  }
  return keys;
}

void WriteWhole(FaultyFileSystem& disk, const std::string& path, const Bytes& content) {
  const auto file = disk.Open(path, OpenMode::kCreate);
  REQUIRE(file.ok());
  REQUIRE((*file)->WriteAt(0, content).ok());
  REQUIRE((*file)->Sync().ok());
}

// The trailer of a block file (FORMAT.md) and the positions of its fields.
constexpr size_t kFilterSize = 8;
constexpr size_t kTrailerBytes = 81;
constexpr size_t kFilterSum = 32;
constexpr size_t kIndexOffset = 41;
constexpr size_t kIndexSum = 65;
constexpr size_t kTrailerSum = 69;
// From version 6 on, these bytes are before the trailer: offset, size and checksum of the meta
// block.
constexpr size_t kMetaBytes = 20;
constexpr char kMetaVersion = 6;
// Files of this version have a filter. The checksum of their trailer covers the version, too.
constexpr char kFilterVersion = 7;

void SealTrailer(Bytes* content, size_t begin, size_t end) {
  Bytes covered = content->substr(begin, end - begin);
  if (content->back() == kFilterVersion) covered.push_back(kFilterVersion);
  PutLittle(content, end, crc32c::Value(covered));
}

// Changes each byte of [begin, end) of a file, lets `forge` correct the checksums, and counts the
// reads that return something other than `right` without an error.
template <typename Forge>
size_t WrongReads(const FaultyFileSystem& disk, const std::string& path, size_t begin, size_t end,
                  const std::string& right, const Forge& forge) {
  size_t wrong = 0;
  for (size_t at = begin; at < end && wrong == 0; ++at) {
    for (const int bit : {0, 3}) {
      FaultyFileSystem damaged = disk.Copy();
      Bytes content = *ReadWholeFile(damaged, path);
      content[at] = static_cast<char>(content[at] ^ (1 << bit));
      forge(&content);
      WriteWhole(damaged, path, content);
      if (path.ends_with(".cells") || path.ends_with(".points")) {
        const uint64_t crc = LittleAt(content, content.size() - kTrailerBytes + kTrailerSum);
        NameAnew(damaged, path, content.size(), static_cast<uint32_t>(crc));
      }
      const Reading reading = Read(damaged, WorkloadKeys());
      wrong += reading.status.ok() && reading.shown != right ? 1 : 0;
    }
  }
  return wrong;
}

TEST_CASE("only the checksum detects a wrong byte in a block, an index or a filter") {
  FaultyFileSystem disk(1);
  WriteStore(disk);
  {
    auto store = Open(disk);
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());
  }
  const std::string right = Read(disk, WorkloadKeys()).shown;
  size_t in_blocks = 0;
  size_t in_indexes = 0;
  size_t in_filters = 0;
  for (const char* kind : {".cells", ".points"}) {
    for (const std::string& name : FilesEndingWith(disk, kind)) {
      const std::string path = "data/" + name;
      const Bytes whole = *ReadWholeFile(disk, path);
      const size_t trailer = whole.size() - kTrailerBytes;
      const size_t begin = whole.back() >= kMetaVersion ? trailer - kMetaBytes : trailer;
      const size_t filter = LittleAt(whole, trailer);
      const size_t parts_end = begin < trailer ? LittleAt(whole, begin) : filter;
      // The table of the filter's parts is at `filter`: the file has one block and one part.
      size_t blocks_end = parts_end;
      if (LittleAt(whole, trailer + kFilterSize) > 0) {
        REQUIRE(whole[filter] == 1);
        blocks_end -= ByteAt(whole, filter + 1);
      }
      const size_t index = LittleAt(whole, trailer + kIndexOffset);
      // Corrects the checksum of a section, and then the trailer that contains it.
      const auto reseal = [&](size_t first, size_t end, size_t sum) {
        return [=](Bytes* content) {
          const auto part = ByteView(*content).substr(first, end - first);
          PutLittle(content, trailer + sum, crc32c::Value(part));
          SealTrailer(content, begin, trailer + kTrailerSum);
        };
      };
      // The file has one block.
      // No wrong byte of the table of the filter's parts leads to a wrong read without an error.
      CHECK(WrongReads(disk, path, filter, index, right, reseal(filter, index, kFilterSum)) == 0);
      in_blocks += WrongReads(disk, path, 1, blocks_end - 4, right,
                              [&](Bytes* content) { Seal(content, 0, blocks_end - 4); });
      in_indexes += WrongReads(disk, path, index, begin, right, reseal(index, begin, kIndexSum));
      if (blocks_end < parts_end) {
        in_filters += WrongReads(disk, path, blocks_end, parts_end - 4, right,
                                 [&](Bytes* content) { Seal(content, blocks_end, parts_end - 4); });
      }
    }
  }
  CHECK(in_blocks > 0);
  CHECK(in_indexes > 0);
  CHECK(in_filters > 0);
}

TEST_CASE("only the checksums detect a wrong byte in the head or the body of a log record") {
  FaultyFileSystem disk(1);
  WriteStore(disk);
  const std::string right = Read(disk, WorkloadKeys()).shown;
  const std::string name = FilesEndingWith(disk, ".log").front();
  const std::string path = "data/" + name;
  const Bytes whole = *ReadWholeFile(disk, path);
  lsm::LogFileHeader file;
  REQUIRE(lsm::DecodeLogFileHeader(whole, &file));
  lsm::LogRecordHeader header;
  ByteView body;
  size_t bodies = 0;
  size_t heads = 0;
  for (size_t at = lsm::kLogFileHeaderBytes;
       lsm::DecodeLogRecord(file.key, ByteView(whole).substr(at), &header, &body);
       at += lsm::kLogRecordHeaderBytes + body.size()) {
    const size_t begin = at + lsm::kLogRecordHeaderBytes;
    const size_t size = body.size();
    bodies += WrongReads(disk, path, begin, begin + size, right, [&](Bytes* content) {
      lsm::LogRecordHeader forged = header;
      forged.body_crc = crc32c::Value(ByteView(*content).substr(begin, size));
      lsm::EncodeLogRecordHeader(file.key, forged, content->data() + at);
    });
    // The sequence, as one of its bytes.
    heads += WrongReads(disk, path, at + 8, at + 16, right, [&](Bytes* content) {
      lsm::LogRecordHeader forged = header;
      forged.sequence = LittleAt(*content, at + 8);
      lsm::EncodeLogRecordHeader(file.key, forged, content->data() + at);
    });
  }
  CHECK(bodies > 0);
  CHECK(heads > 0);
}

TEST_CASE("only the checksum detects a wrong byte in the manifest") {
  FaultyFileSystem disk(1);
  WriteStore(disk);
  const std::string right = Read(disk, WorkloadKeys()).shown;
  const std::string path = std::string("data/") + lsm::kManifestName;
  const size_t size = ReadWholeFile(disk, path)->size();
  CHECK(WrongReads(disk, path, 8, size - 4, right,
                   [&](Bytes* content) { Seal(content, 0, size - 4); }) > 0);
}

}  // namespace
}  // namespace hg
