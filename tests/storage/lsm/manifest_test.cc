#include "storage/lsm/manifest.h"

#include <doctest/doctest.h>

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
  m.stamp_floor_ms = 1'700'000'000'000;
  m.next_table = 3;
  m.tables = {{1, "tsdb", true, {"t"}}, {2, "tsdb-uid", false, {"id", "name"}}};
  m.runs = {{1, 3, 11, 1, 600, 0, 4096}, {2, 0, 10, 601, 1234, 77, 0}};
  return m;
}

TEST_CASE("a manifest is read as it was written, and nothing damaged is one") {
  const Bytes bytes = EncodeManifest(Some());
  Manifest back;
  REQUIRE(DecodeManifest(bytes, &back));
  CHECK(EncodeManifest(back) == bytes);
  CHECK(back.layout == Some().layout);
  CHECK(back.runs == Some().runs);
  CHECK(back.tables[1].families == std::vector<Bytes>{"id", "name"});
  for (size_t n = 0; n < bytes.size(); ++n) {
    CHECK(!DecodeManifest(bytes.substr(0, n), &back));
    Bytes flipped = bytes;
    flipped[n] = static_cast<char>(flipped[n] ^ 1);
    CHECK(!DecodeManifest(flipped, &back));
  }
}

TEST_CASE("a manifest whose keys cannot be is none, though its checksum is right") {
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

// FORMAT.md shows these bytes.
TEST_CASE("a small manifest is as documented") {
  Manifest m;
  m.tables = {{1, "t", true, {"f"}}};
  m.next_table = 2;
  CHECK(ToHex(EncodeManifest(m)) ==
        "48474d414e00000103030300140100010000020101017401010166000bc948da");
}

}  // namespace
}  // namespace hg::lsm
