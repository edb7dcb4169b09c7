#include "storage/lsm/manifest.h"

#include <doctest/doctest.h>

#include "storage/base/crc32c.h"
#include "tests/fault/faulty_file.h"

namespace hg::lsm {
namespace {

Manifest Some() {
  Manifest m;
  m.layout.salt_width = 1;
  m.next_number = 12;
  m.flushed = 1234;
  m.log_file = 7;
  m.log_position = 99999;
  m.logs = {{7, 1235}, {9, 1300}};
  m.stamp_floor_ms = 1'700'000'000'000;
  m.next_table = 3;
  m.next_region = 9;
  FamilyDescriptor odd{"name"};
  odd.versions = 7;
  odd.min_versions = 2;
  odd.ttl_s = 3600;
  odd.keep_deleted_cells = odd.new_version_behavior = odd.in_memory = true;
  odd.block_cache = false;
  odd.bloom_filter = BloomFilter::kNone;
  odd.compression = "ZSTD";
  odd.data_block_encoding = "FAST_DIFF";
  odd.block_size = 4096;
  m.tables = {{1, "tsdb", true, {{"t"}}, {{3, ""}, {8, Bytes("\1\0", 2)}}},
              {2, "tsdb-uid", false, {{"id"}, {}, odd}}};
  m.parts = {{1, 3, 11, 1, 600, 0, 4096, 0, 77, true, false, 1'700'000'000'000},
             {1, 8, 11, 1, 600, 0, 4096, 0, 77, true, false, 1'700'000'000'000},
             {2, 0, 10, 601, 1234, 77, 0, 0xFFFFFFFF, 0, false, true, -5}};
  return m;
}

TEST_CASE("a manifest is decoded as it was encoded, and no damaged one is accepted") {
  const Bytes bytes = EncodeManifest(Some());
  Manifest back;
  REQUIRE(DecodeManifest(bytes, &back));
  CHECK(EncodeManifest(back) == bytes);
  CHECK(back.layout == Some().layout);
  CHECK(back.parts == Some().parts);
  CHECK(back.tables[1].families == Some().tables[1].families);
  CHECK(back.tables[0].regions == Some().tables[0].regions);
  CHECK(back.next_region == 9);
  CHECK(back.logs == Some().logs);
  for (size_t n = 0; n < bytes.size(); ++n) {
    CHECK(!DecodeManifest(bytes.substr(0, n), &back));
    Bytes flipped = bytes;
    flipped[n] = static_cast<char>(flipped[n] ^ 1);
    CHECK(!DecodeManifest(flipped, &back));
  }
}

// Returns the bytes, followed by their checksum.
Bytes Sealed(Bytes bytes) {
  const uint32_t crc = crc32c::Value(bytes);
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(crc >> (8 * i)));
  return bytes;
}

TEST_CASE("A manifest of another version is distinguished from a damaged one") {
  constexpr size_t kVersionAt = 7;
  Bytes newer = EncodeManifest(Some());
  newer.resize(newer.size() - 4);
  newer[kVersionAt] = 8;
  Manifest none;
  CHECK(!DecodeManifest(Sealed(newer), &none));
  FaultyFileSystem disk(1);
  const auto load = [&](const Bytes& bytes) {
    const auto file = *disk.Open("d/MANIFEST", OpenMode::kCreate);
    REQUIRE(file->WriteAt(0, bytes).ok());
    return LoadManifest(disk, "d").status();
  };
  const Status status = load(Sealed(newer));
  CHECK(status.code() == StatusCode::kUnsupported);
  CHECK(status.message().find("version 8") != std::string::npos);
  CHECK(load(newer + "torn").code() == StatusCode::kCorruption);
}

TEST_CASE("A split policy of a table gives the manifest version 7 instead of 6") {
  constexpr size_t kVersionAt = 7;
  Manifest one = Some();
  CHECK(EncodeManifest(one)[kVersionAt] == 6);
  const TableSplitPolicy policy{TableSplitPolicy::Kind::kDelimitedKeyPrefix, 0, Bytes("\0_", 2)};
  one.tables[0].split_policy = policy;
  Bytes bytes = EncodeManifest(one);
  CHECK(bytes[kVersionAt] == 7);
  Manifest read;
  REQUIRE(DecodeManifest(bytes, &read));
  CHECK(read.tables[0].split_policy == policy);
  CHECK(read.tables[1].split_policy == TableSplitPolicy());
  CHECK(EncodeManifest(read) == bytes);
  one.tables[0].split_policy.kind = static_cast<TableSplitPolicy::Kind>(7);
  CHECK(!DecodeManifest(EncodeManifest(one), &read));
}

TEST_CASE("A forgotten series gives the manifest version 7 instead of 6") {
  constexpr size_t kVersionAt = 7;
  Manifest manifest = Some(), back;
  CHECK(EncodeManifest(manifest)[kVersionAt] == 6);
  manifest.series_end = 70'000;
  CHECK(EncodeManifest(manifest)[kVersionAt] == 6);
  manifest.forgotten_series = 69'000;
  const Bytes bytes = EncodeManifest(manifest);
  CHECK(bytes[kVersionAt] == 7);
  REQUIRE(DecodeManifest(bytes, &back));
  CHECK(back.series_end == 70'000);
  CHECK(back.forgotten_series == 69'000);
  CHECK(EncodeManifest(back) == bytes);
  manifest.forgotten_series = 70'001;
  CHECK(!DecodeManifest(EncodeManifest(manifest), &back));
}

TEST_CASE("A part is in the folder of its namespace") {
  Manifest one = Some();
  one.tables[1].name = "a:tsdb-uid";
  one.parts[2].space = "a";
  Bytes bytes = EncodeManifest(one);
  Manifest back;
  REQUIRE(DecodeManifest(bytes, &back));
  CHECK(back.parts == one.parts);
}

TEST_CASE("A manifest whose log files do not ascend, or are not needed, is refused") {
  const auto read = [](std::vector<LogFile> logs) {
    Manifest manifest = Some(), back;
    manifest.logs = std::move(logs);
    return DecodeManifest(EncodeManifest(manifest), &back);
  };
  CHECK(read({}));
  CHECK(read({{7, 1}, {8, 2}, {100, 3}}));
  CHECK_FALSE(read({{6, 1}}));
  CHECK_FALSE(read({{8, 1}, {8, 2}}));
  CHECK_FALSE(read({{9, 1}, {8, 2}}));
}

TEST_CASE("a manifest with impossible widths of keys is refused although its checksum is right") {
  const auto read = [](const KeyLayout& layout) {
    Manifest manifest = Some(), back;
    manifest.layout = layout;
    return DecodeManifest(EncodeManifest(manifest), &back);
  };
  CHECK(read({8, 1, 8, 8, 1}));
  CHECK_FALSE(read({0, 3, 3, 0, 20}));
  CHECK_FALSE(read({3, 9, 3, 0, 20}));
  CHECK_FALSE(read({3, 3, -1, 0, 20}));
  CHECK_FALSE(read({3, 3, 3, 9, 20}));
  CHECK_FALSE(read({3, 3, 3, 0, 0}));
}

TEST_CASE("a replaced manifest is the old or the new one, whatever fails") {
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    Manifest before = Some();
    REQUIRE(SaveManifest(disk, "d", before).ok());
    Manifest after = Some();
    after.flushed = 5678;
    disk.FailCall(n);
    const bool saved = SaveManifest(disk, "d", after).ok();
    const bool reached = disk.failed();
    disk.PowerCut();
    auto loaded = LoadManifest(disk, "d");
    REQUIRE(loaded.ok());
    if (saved) {
      CHECK(loaded->flushed == 5678);
    } else {
      CHECK((loaded->flushed == 1234 || loaded->flushed == 5678));
    }
    if (!reached) break;
  }
}

TEST_CASE("a manifest whose regions do not cover each key once is refused") {
  const auto read = [](std::vector<RegionEntry> regions, uint32_t region_of_part) {
    Manifest manifest, back;
    manifest.next_region = 9;
    manifest.tables = {{1, "t", false, {{"f"}}, std::move(regions)}};
    manifest.parts = {{1, region_of_part, 11, 1, 600, 7, 0}};
    return DecodeManifest(EncodeManifest(manifest), &back);
  };
  CHECK(read({{0, ""}}, 0));
  CHECK(read({{5, ""}, {2, "b"}, {8, "ba"}}, 2));
  CHECK_FALSE(read({}, 0));
  CHECK_FALSE(read({{0, "a"}}, 0));
  CHECK_FALSE(read({{0, ""}, {1, "b"}, {2, "b"}}, 0));
  CHECK_FALSE(read({{0, ""}, {1, "b"}, {2, "a"}}, 0));
  CHECK_FALSE(read({{0, ""}, {0, "b"}}, 0));
  CHECK_FALSE(read({{0, ""}, {9, "b"}}, 0));
  CHECK_FALSE(read({{0, ""}, {1, "b"}}, 2));
}

}  // namespace
}  // namespace hg::lsm
