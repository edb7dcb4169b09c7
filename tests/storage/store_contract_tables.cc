// Tables: created, described, altered and dropped; and what their families keep.

#include <doctest/doctest.h>

#include "tests/storage/store_contract_parts.h"

namespace hg {
namespace {

void TablesAreCreatedOnceAndRefusedWithAnotherDescriptor(StoreSubject& s) {
  CHECK(s.store().CreateTable(kContractTable).ok());
  CHECK(s.store().CreateTable({"g", {{"a"}}, false}).code() == StatusCode::kConflict);
  CHECK(s.store().CreateTable({"other", {{"x"}}, false}).ok());
  s.Disturb();
  CHECK(s.store().CreateTable(kContractTable).ok());
  auto tables = s.store().ListTables();
  REQUIRE(tables.ok());
  auto has = [&](const char* name) {
    return std::any_of(tables->begin(), tables->end(),
                       [&](const auto& t) { return t.name == name; });
  };
  CHECK(has("g"));
  CHECK(has("other"));
}

void TablesAreDescribedAlteredAndDropped(StoreSubject& s) {
  FamilyDescriptor odd = Family("odd", 3);
  odd.ttl_s = 1000;
  odd.compression = "NONE";
  odd.data_block_encoding = "DIFF";
  TableDescriptor table{"x", {{"a"}, odd}, false};
  REQUIRE(s.store().CreateTable(table).ok());
  REQUIRE(s.store().Mutate("x", {{"k", {PutCell("a", "q", "1"), PutCell("odd", "q", "2")}}}).ok());
  s.Disturb();
  CHECK(*s.store().DescribeTable("x") == table);
  CHECK(*s.store().DescribeTable("default:x") == table);
  CHECK(s.store().DescribeTable("none").status().code() == StatusCode::kNotFound);
  CHECK(s.store().AlterTable({"none", {{"a"}}, false}).code() == StatusCode::kNotFound);
  // A family is removed with its cells, and another one is added.
  TableDescriptor altered{"x", {{"new"}, odd}, false};
  altered.families[1].versions = 5;
  REQUIRE(s.store().AlterTable(altered).ok());
  CHECK(s.store().DescribeTable("x")->families.size() == 2);
  CHECK(s.store().Mutate("x", {{"k", {PutCell("a", "q", "v")}}}).code() == StatusCode::kNotFound);
  REQUIRE(s.store().Mutate("x", {{"k", {PutCell("new", "q", "3")}}}).ok());
  s.Disturb();
  CHECK(Text(*s.store().Get("x", "k")) == "new:q=3 odd:q=2 ");
  // A change of a table that was altered meanwhile is refused.
  CHECK(s.store().AlterTable(altered, &table).code() == StatusCode::kConflict);
  const TableDescriptor now = *s.store().DescribeTable("x");
  REQUIRE(s.store().AlterTable(table, &now).ok());
  s.Disturb();
  CHECK(Text(*s.store().Get("x", "k")) == "odd:q=2 ");
  CHECK(s.store().CreateTable(table).ok());
  CHECK(s.store().CreateTable(altered).code() == StatusCode::kConflict);
  REQUIRE(s.store().DropTable("x").ok());
  CHECK(s.store().DropTable("x").code() == StatusCode::kNotFound);
  CHECK(s.store().Get("x", "k").status().code() == StatusCode::kNotFound);
  s.Disturb();
  REQUIRE(s.store().CreateTable(table).ok());
  CHECK(s.store().Get("x", "k")->empty());
  s.Disturb();
  CHECK(s.store().Get("x", "k")->empty());
}

void NamespacesKeepTablesApart(StoreSubject& s) {
  REQUIRE(s.store().CreateTable({"one:t", {{"f"}}, false}).ok());
  REQUIRE(s.store().CreateTable({"two:t", {{"f"}}, false}).ok());
  REQUIRE(s.store().Mutate("one:t", {{"k", {PutCell("f", "q", "1")}}}).ok());
  REQUIRE(s.store().Mutate("two:t", {{"k", {PutCell("f", "q", "2")}}}).ok());
  s.Disturb();
  CHECK(Text(*s.store().Get("one:t", "k")) == "f:q=1 ");
  CHECK(Text(*s.store().Get("two:t", "k")) == "f:q=2 ");
  CHECK(s.store().CreateTable({"a:b:c", {{"f"}}, false}).code() == StatusCode::kInvalidArgument);
}

void DescriptorsThatCannotBeAreRefused(StoreSubject& s) {
  const auto code = [&](auto change) {
    TableDescriptor table{"x", {{"f"}}, false};
    change(table.families[0]);
    return s.store().CreateTable(table).code();
  };
  CHECK(code([](auto& f) { f.name = "a:b"; }) == StatusCode::kInvalidArgument);
  CHECK(code([](auto& f) { f.versions = 0; }) == StatusCode::kInvalidArgument);
  CHECK(code([](auto& f) { f.min_versions = 2; }) == StatusCode::kInvalidArgument);
  CHECK(code([](auto& f) { f.compression = "LZO"; }) == StatusCode::kUnsupported);
  CHECK(code([](auto& f) { f.data_block_encoding = "x"; }) == StatusCode::kInvalidArgument);
  CHECK(s.store().DescribeTable("x").status().code() == StatusCode::kNotFound);
}

Row GetVersions(StoreSubject& s, const Bytes& key, int32_t versions, int64_t min_ms = 0,
                int64_t max_ms = INT64_MAX) {
  CellSelection wanted;
  wanted.max_versions = versions;
  wanted.min_ms = min_ms;
  wanted.max_ms = max_ms;
  auto row = s.store().GetCells("v", key, wanted);
  REQUIRE(row.ok());
  return *row;
}

void TheNewestVersionsAreKeptAndReadByNumberAndTime(StoreSubject& s) {
  if (!s.obeys_clock()) return;
  REQUIRE(s.store().CreateTable({"v", {Family("f", 3)}, false}).ok());
  s.clock().SetMs(1000);
  // The clock does not advance, yet each write is a version of its own.
  for (int i = 1; i <= 5; ++i) {
    REQUIRE(s.store().Mutate("v", {{"k", {PutCell("f", "q", std::to_string(i))}}}).ok());
    if (i == 2) s.Disturb();
  }
  for (int round = 0; round < 4; ++round) {
    CHECK(Text(GetVersions(s, "k", 100)) == "f:q=5 f:q=4 f:q=3 ");
    CHECK(Text(GetVersions(s, "k", 2)) == "f:q=5 f:q=4 ");
    CHECK(Text(GetVersions(s, "k", 1)) == "f:q=5 ");
    s.Disturb();
  }
  const Row three = GetVersions(s, "k", 3);
  REQUIRE(three.cells.size() == 3);
  CHECK(three.cells[0].timestamp_ms > three.cells[1].timestamp_ms);
  CHECK(three.cells[1].timestamp_ms > three.cells[2].timestamp_ms);
  const int64_t middle = three.cells[1].timestamp_ms;
  CHECK(Text(GetVersions(s, "k", 3, middle, middle + 1)) == "f:q=4 ");
  CHECK(Text(GetVersions(s, "k", 3, 0, middle)) == "f:q=3 ");
  CHECK(Text(GetVersions(s, "k", 3, middle)) == "f:q=5 f:q=4 ");
  // Deletes of one version: by its time, and of the newest one.
  CellChange one{CellChange::Kind::kDeleteVersion, "f", "q", {}, middle};
  REQUIRE(s.store().Mutate("v", {{"k", {one}}}).ok());
  CHECK(Text(GetVersions(s, "k", 1)) == "f:q=5 ");
  CHECK(Text(GetVersions(s, "k", 3)).starts_with("f:q=5 f:q=3 "));
  one.timestamp_ms.reset();
  REQUIRE(s.store().Mutate("v", {{"k", {one}}}).ok());
  s.Disturb();
  CHECK(Text(GetVersions(s, "k", 1)) == "f:q=3 ");
  CellChange of_family{CellChange::Kind::kDeleteFamilyVersion, "f", {}, {}, {}};
  CHECK(s.store().Mutate("v", {{"k", {of_family}}}).code() == StatusCode::kInvalidArgument);
  of_family.timestamp_ms = three.cells[2].timestamp_ms;
  REQUIRE(s.store().Mutate("v", {{"k", {of_family}}}).ok());
  for (const Cell& cell : GetVersions(s, "k", 3).cells) CHECK(cell.value < "3");
}

void CellsGoWhenTheirTimeToLiveIsOver(StoreSubject& s) {
  if (!s.obeys_clock()) return;
  FamilyDescriptor short_lived = Family("f", 2);
  short_lived.ttl_s = 10;
  FamilyDescriptor kept = short_lived;
  kept.name = "m";
  kept.min_versions = 1;
  REQUIRE(s.store().CreateTable({"v", {short_lived, kept}, false}).ok());
  const int64_t start = 1'000'000;
  s.clock().SetMs(start);
  CellChange early = PutAt("f", "early", "v", start);
  early.ttl_ms = 5000;
  CellChange late = PutAt("f", "late", "v", start);
  late.ttl_ms = 50'000;
  REQUIRE(s.store()
              .Mutate("v", {{"k",
                             {PutAt("f", "q", "v", start), early, late, PutAt("m", "q", "1", start),
                              PutAt("m", "q", "2", start + 1)}}})
              .ok());
  const auto at = [&](int64_t ms) {
    s.clock().SetMs(start + ms);
    s.Disturb();
    const Row row = *s.store().Get("v", "k");
    ScanSpec spec = Spec();
    spec.table = "v";
    const std::vector<Row> scanned = ScanAll(s.store(), spec);
    CHECK(scanned.size() == (row.empty() ? 0 : 1));
    if (!scanned.empty()) CHECK(Text(scanned[0]) == Text(row));
    return Text(row);
  };
  CHECK(at(5000) == "f:early=v f:late=v f:q=v m:q=2 ");
  CHECK(at(5001) == "f:late=v f:q=v m:q=2 ");
  CHECK(at(10'000) == "f:late=v f:q=v m:q=2 ");
  CHECK(at(10'001) == "m:q=2 ");
  CHECK(at(1'000'000) == "m:q=2 ");
}

// An append and an increment without a TTL keep the TTL of the cell. It begins anew, because the
// new cell has a new time (HBase carries the tag of the TTL forward).
void AppendsAndIncrementsSetAndKeepATimeToLive(StoreSubject& s) {
  if (!s.obeys_clock()) return;
  FamilyDescriptor short_lived = Family("f", 1);
  short_lived.ttl_s = 20;
  REQUIRE(s.store().CreateTable({"v", {short_lived}, false}).ok());
  const int64_t start = 1'000'000;
  s.clock().SetMs(start);
  const auto names_at = [&](int64_t ms) {
    s.clock().SetMs(start + ms);
    s.Disturb();
    std::string names;
    const Row row = *s.store().Get("v", "k");
    for (const Cell& cell : row.cells) names += cell.qualifier + " ";
    return names;
  };
  REQUIRE(s.store().Append("v", "k", "f", "a", "1", 2000).ok());
  REQUIRE(s.store().Append("v", "k", "f", "b", "1").ok());
  CHECK(s.store().Append("v", "k", "f", "c", "1", 0).code() == StatusCode::kInvalidArgument);
  CHECK(*s.store().Increment("v", "k", "f", "n", 5, 2000) == 5);
  CHECK(*s.store().IncrementColumns("v", "k", {{"f", "m", 1}, {"f", "o", 2}}, 4000) ==
        std::vector<int64_t>{1, 2});
  CHECK(names_at(1000) == "a b m n o ");
  REQUIRE(s.store().Append("v", "k", "f", "a", "2").ok());
  CHECK(*s.store().Increment("v", "k", "f", "n", 1) == 6);
  CHECK(*s.store().Increment("v", "k", "f", "o", 1, 8000) == 3);
  CHECK(names_at(2500) == "a b m n o ");  // a and n are visible until second 3
  CHECK(Text(*s.store().Get("v", "k", "f", {"a"})) == "f:a=12 ");
  CHECK(names_at(3500) == "b m o ");
  CHECK(names_at(4500) == "b o ");
  REQUIRE(s.store().Append("v", "k", "f", "a", "3").ok());
  CHECK(Text(*s.store().Get("v", "k", "f", {"a"})) == "f:a=3 ");
  CHECK(names_at(20'500) == "a ");  // the TTL of the family
}

}  // namespace

std::vector<StoreCheck> TableChecks() {
  return {TablesAreCreatedOnceAndRefusedWithAnotherDescriptor,
          TablesAreDescribedAlteredAndDropped,
          NamespacesKeepTablesApart,
          DescriptorsThatCannotBeAreRefused,
          TheNewestVersionsAreKeptAndReadByNumberAndTime,
          CellsGoWhenTheirTimeToLiveIsOver,
          AppendsAndIncrementsSetAndKeepATimeToLive};
}

}  // namespace hg
