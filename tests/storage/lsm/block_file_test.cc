#include "storage/lsm/block_file.h"

#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
#include <random>

#include "storage/base/crc32c.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/fake_watch.h"

namespace hg::lsm {
namespace {

using Entries = std::map<Bytes, Bytes>;

Entries SomeEntries(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  Entries entries;
  while (entries.size() < count) {
    entries["key" + std::to_string(random() % 100000)] = Bytes(random() % 100, 'v');
  }
  return entries;
}

std::shared_ptr<const BlockFile> Write(FaultyFileSystem& disk, const Entries& entries,
                                       const BlockWriting& writing = {},
                                       const BlockReading& reading = {}, const Bytes& meta = {}) {
  auto writer = BlockFileWriter::Create(disk, "d/file", writing);
  REQUIRE(writer.ok());
  for (const auto& [key, value] : entries) REQUIRE((*writer)->Add(key, value).ok());
  (*writer)->SetMeta(meta);
  (*writer)->AddTime(9);
  (*writer)->AddTime(5);
  REQUIRE((*writer)->Finish().ok());
  auto file = BlockFile::Open(disk, "d/file", reading);
  INFO(file.status().ToString());
  REQUIRE(file.ok());
  return *file;
}

Entries ReadAll(BlockFileScan& scan) {
  Entries entries;
  for (;;) {
    auto more = scan.Next();
    REQUIRE(more.ok());
    if (!*more) return entries;
    CHECK(entries.emplace(scan.key(), scan.value()).second);
  }
}

// Replaces the only block of a file by other bytes with their checksum.
void ReplaceFirstBlock(FaultyFileSystem& disk, ByteView block) {
  Bytes out(block);
  auto append_little = [&out](uint64_t v, int width) {
    for (int i = 0; i < width; ++i) out.push_back(static_cast<char>(v >> (8 * i)));
  };
  append_little(crc32c::Value(out), 4);
  const size_t index_offset = out.size();
  const Bytes index = Bytes("\3key") + Bytes(2, '\0') + static_cast<char>(index_offset);
  out += index;
  const size_t trailer = out.size();
  append_little(index_offset, 8);  // checksum of the filter, which is empty
  append_little(0, 8);
  append_little(1, 8);  // times: unknown
  append_little(0, 8);
  append_little(crc32c::Value(""), 4);
  append_little(0, 1);  // packing
  append_little(0, 4);  // checksum of the blocks
  append_little(index_offset, 8);
  append_little(index.size(), 8);
  append_little(1, 8);
  append_little(crc32c::Value(index), 4);
  append_little(crc32c::Value(out.substr(trailer)), 4);
  out += "HGBLOCK\5";
  auto file = disk.Open("d/file", OpenMode::kCreate);
  REQUIRE(file.ok());
  REQUIRE((*file)->WriteAt(0, out).ok());
}

TEST_CASE("entries are returned by get, by scan and by seek") {
  for (const size_t count : {0, 1, 5000}) {
    FaultyFileSystem disk(1);
    const Entries entries = SomeEntries(count, count);
    const auto file = Write(disk, entries);
    CHECK(file->entries() == count);
    CHECK(BlockFile::Check(file).ok());
    BlockFileScan all(file, "", "");
    CHECK(ReadAll(all) == entries);
    std::mt19937_64 random(count);
    BlockFileScan seeking(file, "", "");
    for (int i = 0; i < 500; ++i) {
      const Bytes from = "key" + std::to_string(random() % 110000);
      const Bytes to = "key" + std::to_string(random() % 110000);
      Bytes value;
      auto found = file->Get(from, &value);
      REQUIRE(found.ok());
      const auto expected = entries.find(from);
      CHECK(*found == (expected != entries.end()));
      if (*found) CHECK(value == expected->second);

      BlockFileScan range(file, from, to);
      const Entries wanted =
          from < to ? Entries(entries.lower_bound(from), entries.lower_bound(to)) : Entries();
      CHECK(ReadAll(range) == wanted);

      seeking.Seek(from);
      auto it = entries.lower_bound(from);
      for (int n = 0; n < 3; ++n) {
        auto more = seeking.Next();
        REQUIRE(more.ok());
        CHECK(*more == (it != entries.end()));
        if (!*more) break;
        CHECK(seeking.key() == it->first);
        CHECK(seeking.value() == it->second);
        ++it;
      }
    }
  }
}

TEST_CASE("a seek finds its entry from any position of the scan") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(7, 300);
  BlockWriting writing;
  writing.block_bytes = 2000;
  const auto file = Write(disk, entries, writing);
  REQUIRE(file->blocks() > 5);
  std::vector<Bytes> keys;
  for (const auto& [key, value] : entries) keys.push_back(key);
  BlockFileScan scan(file, "", "");
  for (size_t i = 0; i < keys.size(); ++i) {
    for (const size_t walked : {0, 1, 2, 30}) {
      std::vector<Bytes> targets = {"", "key", keys[i], keys[i] + '\0', "z"};
      for (size_t near = i; near < std::min(i + walked + 3, keys.size()); ++near) {
        targets.push_back(keys[near]);
        targets.push_back(keys[near].substr(0, 5));
        targets.push_back(keys[near] + '\0');
      }
      for (const Bytes& target : targets) {
        scan.Seek(keys[i]);
        for (size_t n = 0; n < walked; ++n) REQUIRE(scan.Next().ok());
        scan.Seek(target);
        auto it = entries.lower_bound(target);
        for (int n = 0; n < 2; ++n) {
          const auto more = scan.Next();
          REQUIRE(more.ok());
          REQUIRE(*more == (it != entries.end()));
          if (!*more) break;
          REQUIRE(scan.key() == it->first);
          REQUIRE(scan.value() == it->second);
          ++it;
        }
      }
    }
  }
}

TEST_CASE("any flipped bit is detected, and affects only its own block") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(1, 3000);
  BlockWriting writing;
  writing.bloom = true;
  for (const Bytes& meta : {Bytes(), Bytes(9000, 'm')}) {
    (void)Write(disk, entries, writing, {}, meta);
    const uint64_t size = *(*disk.Open("d/file", OpenMode::kRead))->Size();
    std::mt19937_64 random(3);
    for (int i = 0; i < 300; ++i) {
      const uint64_t byte = i < 120 ? size - 1 - static_cast<uint64_t>(i) : random() % size;
      CAPTURE(byte);
      disk.FlipBit("d/file", byte, static_cast<int>(random() % 8));
      auto file = BlockFile::Open(disk, "d/file");
      Status status = file.ok() ? BlockFile::Check(*file) : file.status();
      CHECK(status.code() == StatusCode::kCorruption);
      CHECK(status.message().find("d/file at ") != std::string::npos);
      (void)Write(disk, entries, writing, {}, meta);
    }
  }
}

TEST_CASE("blocks with repetitions are compressed, and others are stored as they are") {
  FaultyFileSystem disk(1);
  std::mt19937_64 random(5);
  for (const bool repeats : {true, false}) {
    Entries entries;
    size_t bytes = 0;
    for (int i = 0; i < 4000; ++i) {
      Bytes value;
      for (int n = 0; n < 8; ++n) AppendBig(&value, repeats ? 7 : random(), 8);
      Bytes key;
      AppendBig(&key, static_cast<uint64_t>(i), 8);
      bytes += value.size();
      entries.emplace(key, value);
    }
    const auto file = Write(disk, entries);
    const uint64_t size = *(*disk.Open("d/file", OpenMode::kRead))->Size();
    CHECK((size < bytes / 2) == repeats);
    CHECK(BlockFile::Check(file).ok());
    BlockFileScan all(file, "", "");
    CHECK(ReadAll(all) == entries);
  }
}

// The checksum does not detect this damage: it is correct, but the bytes of the block are invalid.
TEST_CASE("a block that cannot be unpacked is damage with a position") {
  FaultyFileSystem disk(1);
  for (const ByteView block :
       {ByteView("\4 odd packing"), ByteView("\2 for no packer"), ByteView("\3 no frame"),
        ByteView("\3\x28\xB5\x2F\xFD\xE0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 14),
        ByteView("\1\xFF\xFF\xFF\xFF\x0Ftoo much"), ByteView("\1\x05\xFFno copy"), ByteView("\1"),
        ByteView("")}) {
    CAPTURE(ToHexUpper(block));
    auto writer = BlockFileWriter::Create(disk, "d/file");
    REQUIRE(writer.ok());
    REQUIRE((*writer)->Add("key", Bytes(200, 'v')).ok());
    REQUIRE((*writer)->Finish().ok());
    ReplaceFirstBlock(disk, block);
    auto file = BlockFile::Open(disk, "d/file");
    REQUIRE(file.ok());
    const Status status = BlockFile::Check(*file);
    CHECK(status.code() == StatusCode::kCorruption);
    CHECK(status.message().find("d/file at 0") != std::string::npos);
  }
}

TEST_CASE("a file of another version is refused; the error names both versions") {
  FaultyFileSystem disk(1);
  (void)Write(disk, {{"key1", "one"}, {"key2", ""}, {"kez", "three"}});
  const Bytes good = *ReadWholeFile(disk, "d/file");
  for (const char version : {'\4', '\10'}) {
    Bytes bytes = good;
    bytes.back() = version;
    REQUIRE((*disk.Open("d/file", OpenMode::kCreate))->WriteAt(0, bytes).ok());
    const Status status = BlockFile::Open(disk, "d/file").status();
    CHECK(status.code() == StatusCode::kCorruption);
    CHECK(status.message() == "d/file at " + std::to_string(bytes.size() - 8) +
                                  ": a block file of version " + std::to_string(version) +
                                  "; this program reads versions 5 to 7");
  }
}

TEST_CASE("a meta block is read back, and its damage is found with its position") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(5, 2000);
  for (const bool bloom : {false, true}) {
    auto writer = BlockFileWriter::Create(disk, "d/file", {.bloom = bloom});
    REQUIRE(writer.ok());
    for (const auto& [key, value] : entries) REQUIRE((*writer)->Add(key, value).ok());
    const Bytes meta(3000, 'm');
    (*writer)->SetMeta(meta);
    REQUIRE((*writer)->Finish().ok());
    BlockReading reading;
    reading.cache = std::make_shared<BlockCache>(8 << 20);
    const auto file = BlockFile::Open(disk, "d/file", reading);
    INFO(file.status().ToString());
    REQUIRE(file.ok());
    REQUIRE((*file)->has_meta());
    CHECK((*file)->trailer_crc() == (*writer)->trailer_crc());
    CHECK((*file)->bytes() == (*writer)->bytes());
    CHECK(BlockFile::Check(*file).ok());
    BlockFileScan all(*file, "", "");
    CHECK(ReadAll(all) == entries);
    Bytes value;
    CHECK_FALSE(*(*file)->Get("kez", &value));
    CHECK(*(*file)->Get(entries.begin()->first, &value));

    FakeWatch loop;
    loop.StayOnLoop();
    CHECK((*file)->ReadMeta(CacheUse::kKeep, &loop).status().code() == StatusCode::kBusy);
    CHECK(**(*file)->ReadMeta(CacheUse::kKeep, nullptr) == meta);
    CHECK(**(*file)->ReadMeta(CacheUse::kKeep, &loop) == meta);  // from the cache

    Bytes bytes = *ReadWholeFile(disk, "d/file");
    const size_t at = bytes.find(meta);
    REQUIRE(at != Bytes::npos);
    bytes[at + 7] = 'x';
    REQUIRE((*disk.Open("d/file", OpenMode::kCreate))->WriteAt(0, bytes).ok());
    const auto damaged = BlockFile::Open(disk, "d/file");
    REQUIRE(damaged.ok());
    const std::string where = "d/file at " + std::to_string(at) + ": checksum of the meta block";
    for (const Status& status :
         {(*damaged)->ReadMeta(CacheUse::kKeep, nullptr).status(), BlockFile::Check(*damaged)}) {
      CHECK(status.code() == StatusCode::kCorruption);
      CHECK(status.message().find(where) != std::string_view::npos);
    }
    CHECK(*(*damaged)->Get(entries.begin()->first, &value));
  }
}

TEST_CASE("a file without a meta block has none") {
  FaultyFileSystem disk(1);
  CHECK_FALSE(Write(disk, {{"key", "value"}})->has_meta());
}

TEST_CASE("every compression restores the content, and an unknown one is refused by its number") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(4, 3000);
  uint64_t plain = 0;
  for (const Packing packing : {Packing::kPlain, Packing::kSnappy, Packing::kZstd}) {
    BlockWriting writing;
    writing.packing = packing;
    const auto file = Write(disk, entries, writing);
    CHECK(BlockFile::Check(file).ok());
    BlockFileScan all(file, "", "");
    CHECK(ReadAll(all) == entries);
    const uint64_t size = *(*disk.Open("d/file", OpenMode::kRead))->Size();
    if (packing == Packing::kPlain) plain = size;
    CHECK((size < plain / 2) == (packing != Packing::kPlain));
  }
  Bytes bytes = *ReadWholeFile(disk, "d/file");
  const size_t trailer = bytes.size() - 81;
  bytes[trailer + 36] = 9;
  const uint32_t crc = crc32c::Value(ByteView(bytes).substr(trailer, 69));
  for (size_t i = 0; i < 4; ++i) bytes[trailer + 69 + i] = static_cast<char>(crc >> (8 * i));
  REQUIRE((*disk.Open("d/file", OpenMode::kCreate))->WriteAt(0, bytes).ok());
  const Status status = BlockFile::Open(disk, "d/file").status();
  CHECK(status.code() == StatusCode::kCorruption);
  CHECK(status.message().find("d/file") != std::string_view::npos);
  CHECK(status.message().find("unknown method 9") != std::string_view::npos);
}

TEST_CASE("no block is longer than its target plus one entry") {
  FaultyFileSystem disk(1);
  Entries entries;
  for (int i = 1000; i < 3000; ++i) entries["key" + std::to_string(i)] = Bytes(100, 'v');
  BlockWriting writing;
  writing.packing = Packing::kPlain;
  writing.block_bytes = 4096;
  const auto file = Write(disk, entries, writing);
  REQUIRE(file->blocks() > 20);
  for (size_t block = 0; block < file->blocks(); ++block) {
    size_t bytes = 0;
    size_t last = 0;
    REQUIRE(file->ReadEntries(block,
                              [&](ByteView key, ByteView value) {
                                last = 3 + value.size() + (bytes == 0 ? key.size() : 1);
                                bytes += last;
                                return Status();
                              })
                .ok());
    CHECK(bytes - last < 4096);
    if (block + 1 < file->blocks()) CHECK(bytes > 3500);
  }
}

TEST_CASE("the index keeps as much of a long key as distinguishes it from the key before") {
  FaultyFileSystem disk(1);
  Entries entries;
  for (int i = 100; i < 400; ++i) {
    const Bytes number = std::to_string(i);
    entries[number] = "short";
    entries[number + Bytes(1000 * (i % 8), 'k')] = "long";
    if (i % 16 == 7) entries[number + Bytes(1000 * (i % 8), 'k') + "l"] = Bytes(i, 'v');
  }
  const auto file = Write(disk, entries);
  REQUIRE(file->blocks() > 20);
  size_t key_bytes = 0;
  for (const auto& [key, stored] : entries) key_bytes += key.size();
  CHECK(file->memory_bytes() < key_bytes / 20);
  BlockFileScan scan(file, "", "", CacheUse::kPast);
  CHECK(ReadAll(scan) == entries);
  Bytes value;
  const auto check = [&](const Bytes& key) {
    const auto at = entries.lower_bound(key);
    const bool there = at != entries.end() && at->first == key;
    CHECK(*file->Get(key, &value) == there);
    if (there) CHECK(value == at->second);
    BlockFileScan from(file, key, "", CacheUse::kPast);
    REQUIRE(*from.Next() == (at != entries.end()));
    if (at != entries.end()) CHECK(from.key() == at->first);
    scan.Seek(key);
    REQUIRE(*scan.Next() == (at != entries.end()));
    if (at != entries.end()) CHECK(scan.key() == at->first);
  };
  for (size_t block = 0; block < file->blocks(); ++block) {
    const Bytes& separator = file->separator(block);
    check(separator.substr(0, separator.size() - 1));
    check(separator);
    check(separator + '\0');
    check(separator + "k");
  }
  for (const auto& [key, stored] : entries) check(key);
}

TEST_CASE("a filter avoids reading the file for absent keys") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(3, 2000);
  BlockWriting writing;
  writing.bloom = true;
  BlockReading reading;
  reading.counters = std::make_shared<ReadCounters>();
  const auto file = Write(disk, entries, writing, reading);
  Bytes value;
  for (const auto& [key, stored] : entries) REQUIRE(*file->Get(key, &value));
  CHECK(reading.counters->blocks == entries.size());
  CHECK(reading.counters->skipped_by_bloom == 0);
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(*file->Get("kez" + std::to_string(i), &value));
  CHECK(reading.counters->skipped_by_bloom > 970);
  CHECK(reading.counters->blocks < entries.size() + 30);
}

TEST_CASE("a filter has parts, which are read when they are needed and do not stay in memory") {
  FaultyFileSystem disk(1);
  Entries entries;
  for (int i = 0; i < 30'000; ++i) {
    Bytes key = "name";
    AppendBig(&key, static_cast<uint64_t>(i) * 2, 8);
    entries.emplace(std::move(key), "id");
  }
  BlockWriting writing;
  const auto plain = Write(disk, entries, writing);
  const uint64_t index_bytes = plain->memory_bytes();
  writing.bloom = true;
  BlockReading reading;
  reading.counters = std::make_shared<ReadCounters>();
  reading.cache = std::make_shared<BlockCache>(8 << 20);
  const auto file = Write(disk, entries, writing, reading);
  CHECK(file->memory_bytes() < index_bytes + 500);  // all parts together have 37,500 bytes
  const auto absent = [](int i) {
    Bytes key = "name";
    AppendBig(&key, static_cast<uint64_t>(i) * 2 + 1, 8);
    return key;
  };
  FakeWatch hasty;
  hasty.StayOnLoop();
  Bytes value;
  CHECK(file->Get(absent(100), &value, &hasty).status().code() == StatusCode::kBusy);
  CHECK_FALSE(*file->Get(absent(100), &value));
  CHECK_FALSE(*file->Get(absent(100), &value, &hasty));
  CHECK(file->Get(absent(29'000), &value, &hasty).status().code() == StatusCode::kBusy);
  for (int i = 0; i < 30'000; ++i) CHECK_FALSE(*file->Get(absent(i), &value));
  CHECK(reading.counters->skipped_by_bloom > 29'500);
  for (const auto& [key, stored] : entries) REQUIRE(*file->Get(key, &value));
  CHECK(BlockFile::Check(file).ok());
}

TEST_CASE("damage of a part of a filter is reported with its position, and affects only its keys") {
  FaultyFileSystem disk(1);
  Entries entries;
  for (int i = 0; i < 30'000; ++i) {
    Bytes key;
    AppendBig(&key, static_cast<uint64_t>(i), 8);
    entries.emplace(std::move(key), "id");
  }
  BlockWriting writing;
  writing.bloom = true;
  BlockReading reading;
  reading.counters = std::make_shared<ReadCounters>();
  (void)Write(disk, entries, writing, reading);
  const Bytes whole = *ReadWholeFile(disk, "d/file");
  size_t damaged = 0;
  for (uint64_t byte = 0; byte < whole.size() / 2; byte += 1000) {
    disk.FlipBit("d/file", byte, 3);
    const auto file = BlockFile::Open(disk, "d/file", reading);
    REQUIRE(file.ok());
    Bytes value;
    CHECK(*(*file)->Get(entries.rbegin()->first, &value));
    const Status status = BlockFile::Check(*file);
    CHECK(status.code() == StatusCode::kCorruption);
    const std::string message(status.message());
    if (message.ends_with(": checksum of a part of the filter differs")) {
      // A part has 5 KiB, so the damaged byte is near the offset of the part.
      uint64_t offset = 0;
      REQUIRE(std::sscanf(message.c_str(), "d/file at %" SCNu64 ":", &offset) == 1);
      CHECK(offset <= byte);
      CHECK(byte < offset + (8 << 10));
      ++damaged;
    }
    disk.FlipBit("d/file", byte, 3);
  }
  CHECK(damaged > 0);
}

TEST_CASE("a filter has the keys of entries in pieces, also if pieces are the last blocks") {
  FaultyFileSystem disk(1);
  auto writer = BlockFileWriter::Create(disk, "d/file", {.block_bytes = 1000, .bloom = true});
  REQUIRE(writer.ok());
  std::vector<Bytes> keys;
  for (int i = 0; i < 20'000; ++i) {
    Bytes key;
    AppendBig(&key, static_cast<uint64_t>(i), 8);
    REQUIRE((*writer)->Add(key, "first").ok());
    for (int piece = 1; i % 1'999 == 0 && piece < 5; ++piece) {
      REQUIRE((*writer)->AddPiece(Bytes(1, static_cast<char>('0' + piece)), "more").ok());
    }
    keys.push_back(key);
  }
  for (int piece = 1; piece < 5; ++piece) {
    REQUIRE((*writer)->AddPiece(Bytes(1, static_cast<char>('0' + piece)), "more").ok());
  }
  REQUIRE((*writer)->Finish().ok());
  const auto file = BlockFile::Open(disk, "d/file");
  REQUIRE(file.ok());
  CHECK((*file)->continues((*file)->blocks() - 1));
  Bytes value;
  for (const Bytes& key : keys) {
    REQUIRE(*(*file)->Get(key, &value));
    CHECK_FALSE(*(*file)->Get(key + "?", &value));
  }
  CHECK(BlockFile::Check(*file).ok());
}

TEST_CASE("a block is read once if the cache may keep it, and a check reads the disk") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(6, 2000);
  (void)Write(disk, entries);
  BlockReading reading;
  reading.counters = std::make_shared<ReadCounters>();
  reading.cache = std::make_shared<BlockCache>(8 << 20);
  auto file = *BlockFile::Open(disk, "d/file", reading);
  const size_t blocks = file->Separators().size();
  REQUIRE(blocks > 2);
  const auto read = [&](CacheUse use) {
    const uint64_t before = reading.counters->blocks;
    BlockFileScan scan(file, "", "", use);
    CHECK(ReadAll(scan) == entries);
    return reading.counters->blocks - before;
  };
  CHECK(read(CacheUse::kFind) == blocks);
  CHECK(reading.cache->Stats().bytes == 0);
  CHECK(read(CacheUse::kKeep) == blocks);
  CHECK(read(CacheUse::kKeep) == 0);
  CHECK(read(CacheUse::kFind) == 0);
  CHECK(read(CacheUse::kPast) == blocks);
  Bytes value;
  CHECK(*file->Get(entries.begin()->first, &value));
  CHECK(reading.counters->blocks == 3 * blocks);
  // A cached block may be undamaged although the block on disk is damaged.
  disk.FlipBit("d/file", 3, 0);
  CHECK(read(CacheUse::kKeep) == 0);
  CHECK(BlockFile::Check(file).code() == StatusCode::kCorruption);
  file.reset();
  CHECK(reading.cache->Stats().bytes == 0);
}

}  // namespace
TEST_CASE("on an event loop, blocks come from the cache or not at all") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(1, 100);
  BlockReading reading;
  reading.cache = std::make_shared<BlockCache>(1 << 20);
  const auto file = Write(disk, entries, {}, reading);
  const Bytes key = entries.begin()->first;
  Bytes value;
  const auto visit = [](ByteView) { return Status(); };
  const PieceChoice all = [](ByteView part) { return Bytes(part); };
  for (const auto& read : std::initializer_list<std::function<bool(RequestContext*)>>{
           [&](RequestContext* context) {
             return BlockFileScan(file, "", "", CacheUse::kKeep, context).Next().ok();
           },
           [&](RequestContext* context) { return file->Get(key, &value, context).ok(); },
           [&](RequestContext* context) {
             return file->VisitPieces(key, all, visit, context).ok();
           }}) {
    FakeWatch watch;
    watch.StayOnLoop();
    CHECK_FALSE(read(&watch));
    CHECK(watch.refused());
  }
  BlockFileScan reads(file, "", "");
  CHECK(ReadAll(reads) == entries);
  FakeWatch watch;
  watch.StayOnLoop();
  BlockFileScan finds(file, "", "", CacheUse::kKeep, &watch);
  CHECK(ReadAll(finds) == entries);
  CHECK(*file->Get(key, &value, &watch));
  CHECK(*file->VisitPieces(key, all, visit, &watch));
  CHECK_FALSE(watch.refused());
}

}  // namespace hg::lsm
