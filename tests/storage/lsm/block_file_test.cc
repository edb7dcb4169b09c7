#include "storage/lsm/block_file.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "tests/fault/faulty_file.h"

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

std::shared_ptr<const BlockFile> Write(FaultyFileSystem& disk, const Entries& entries) {
  auto writer = BlockFileWriter::Create(disk, "d/file");
  REQUIRE(writer.ok());
  for (const auto& [key, value] : entries) REQUIRE((*writer)->Add(key, value).ok());
  REQUIRE((*writer)->Finish().ok());
  auto file = BlockFile::Open(disk, "d/file");
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

TEST_CASE("entries come back by get, by scan and by seek") {
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

TEST_CASE("any flipped bit is found, and costs its own block only") {
  FaultyFileSystem disk(1);
  const Entries entries = SomeEntries(1, 3000);
  (void)Write(disk, entries);
  const uint64_t size = *(*disk.Open("d/file", OpenMode::kRead))->Size();
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const uint64_t byte = i < 45 ? size - 1 - static_cast<uint64_t>(i) : random() % size;
    CAPTURE(byte);
    disk.FlipBit("d/file", byte, static_cast<int>(random() % 8));
    auto file = BlockFile::Open(disk, "d/file");
    Status status = file.ok() ? BlockFile::Check(*file) : file.status();
    CHECK(status.code() == StatusCode::kCorruption);
    CHECK(status.message().find("d/file at ") != std::string::npos);
    (void)Write(disk, entries);
  }
}

}  // namespace
}  // namespace hg::lsm
