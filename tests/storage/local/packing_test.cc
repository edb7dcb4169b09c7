#include "storage/local/packing.h"

#include <doctest/doctest.h>

#include <limits>

#include "storage/local/calls.h"

namespace hg::local {
namespace {

/// Packs, unpacks and packs again: the bytes must be equal.
template <typename T>
void CheckRoundTrip(const T& value) {
  const Bytes packed = Packer().Put(value).Take();
  T read{};
  Unpacker in(packed);
  REQUIRE(in.Get(&read));
  CHECK(in.at_end());
  CHECK(Packer().Put(read).Take() == packed);
  // Truncated anywhere, it is refused and not misread.
  for (size_t size = 0; size < packed.size(); ++size) {
    T cut{};
    Unpacker short_of(ByteView(packed).substr(0, size));
    CHECK_FALSE(short_of.Get(&cut));
  }
}

TEST_CASE("packed values are unpacked, field by field") {
  CheckRoundTrip(std::numeric_limits<int64_t>::min());
  CheckRoundTrip(std::numeric_limits<uint64_t>::max());
  CheckRoundTrip(-0.0);
  CheckRoundTrip(std::optional<Bytes>("x"));
  CheckRoundTrip(std::optional<Bytes>());
  CheckRoundTrip(Row{"key", {{"f", "q", Bytes("\0v", 2), -7}}});
  CheckRoundTrip(
      RowMutation{"key", {{CellChange::Kind::kDeleteFamilyVersion, "f", "q", "", 5, 6}}});
  TableDescriptor table{"t", {{"f"}}, true, {"a", "b"}};
  table.families[0].bloom_filter = BloomFilter::kRow;
  table.families[0].ttl_s = 17;
  CheckRoundTrip(table);
  Bytes packed = Packer().Put(table).Take();
  TableDescriptor read;
  REQUIRE(Unpacker(packed).Get(&read));
  CHECK(read == table);

  ScanSpec spec;
  spec.table = "t";
  spec.family = "f";
  spec.max_versions = 3;
  spec.batch_bytes = SIZE_MAX;
  spec.filter.kind = RowFilter::Kind::kAnd;
  spec.filter.children.resize(2);
  spec.filter.children[0].kind = RowFilter::Kind::kSeries;
  spec.filter.children[0].series.clauses = {{"\0\0\1", TagClause::Kind::kOneOf, {"a", "b"}}};
  spec.filter.children[0].layout.salt_width = 1;
  spec.filter.children[1].chance = 0.25;
  CheckRoundTrip(spec);
  ScanSpec again;
  packed = Packer().Put(spec).Take();
  REQUIRE(Unpacker(packed).Get(&again));
  CHECK(again.table == "t");
  CHECK(again.family == "f");
  CHECK(again.max_versions == 3);
  CHECK(again.batch_bytes == SIZE_MAX);
  CHECK(again.filter.children[0].layout.salt_width == 1);
  CHECK(again.filter.children[1].chance == 0.25);
}

TEST_CASE("a packed result has a value or an error") {
  const Result<Bytes> good = Bytes("x");
  const Result<Bytes> bad = Status::Conflict("no");
  const std::vector<Result<Bytes>> both = {good, bad};
  const Bytes packed = Packer().Put(both).Take();
  std::vector<Result<Bytes>> read;
  REQUIRE(Unpacker(packed).Get(&read));
  REQUIRE(read.size() == 2);
  CHECK(*read[0] == "x");
  CHECK(read[1].status().ToString() == bad.status().ToString());
}

TEST_CASE("an error of every code is unpacked") {
  const auto greatest = static_cast<int>(kGreatest<StatusCode>);
  for (int code = 1; code <= greatest; ++code) {
    const std::vector<Result<Bytes>> bad = {Status(static_cast<StatusCode>(code), "no")};
    std::vector<Result<Bytes>> read;
    REQUIRE(Unpacker(Packer().Put(bad).Take()).Get(&read));
    CHECK(static_cast<int>(read[0].status().code()) == code);
  }
  CHECK(StatusCodeName(static_cast<StatusCode>(greatest)) != "unknown");
  CHECK(StatusCodeName(static_cast<StatusCode>(greatest + 1)) == "unknown");
}

TEST_CASE("filters that are nested without end are refused") {
  RowFilter filter;
  for (int depth = 1; depth < Unpacker::kDepthMax; ++depth) {
    RowFilter outer;
    outer.kind = RowFilter::Kind::kAnd;
    outer.children.push_back(std::move(filter));
    filter = std::move(outer);
  }
  RowFilter read;
  Bytes packed = Packer().Put(filter).Take();
  // The layout and the matcher of the innermost filter are one level deeper.
  CHECK_FALSE(Unpacker(packed).Get(&read));
  packed = Packer().Put(filter.children[0]).Take();
  CHECK(Unpacker(packed).Get(&read));
}

/// The test compares the sizes of the packed structures with default values.
TEST_CASE("the packed form is that of this version: raise kProtocol if it changes") {
  CHECK(kProtocol == 6);
  const auto size = [](const auto& value) { return Packer().Put(value).Take().size(); };
  CHECK(size(Cell()) == 4);
  CHECK(size(CellChange()) == 6);
  CHECK(size(RowMutation()) == 2);
  CHECK(size(ColumnIncrement()) == 3);
  CHECK(size(ColumnAppend()) == 3);
  CHECK(size(CellSelection()) == 28);
  CHECK(size(ScanSpec()) == 63);
  CHECK(size(FamilyDescriptor()) == 28);
  CHECK(size(TableDescriptor()) == 7);
  CHECK(size(RegionInfo()) == 8);
  CHECK(size(StoreCapabilities()) == 2);
  CHECK(size(CopyProgress()) == 7);
  CHECK(size(CheckReport()) == 4);
  CHECK(size(RepairReport()) == 2);
  CHECK(static_cast<int>(kGreatest<Call>) == 28);
}

TEST_CASE("an unknown kind, and a count larger than the remaining bytes, are refused") {
  Call call{};
  CHECK_FALSE(Unpacker(Bytes("\xFF\x01", 2)).Get(&call));
  std::vector<Bytes> values;
  CHECK_FALSE(Unpacker(Bytes("\xFF\xFF\x7F", 3)).Get(&values));
}

}  // namespace
}  // namespace hg::local
