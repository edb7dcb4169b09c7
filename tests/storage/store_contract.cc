#include "tests/storage/store_contract.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "tests/support/model_store.h"

namespace hg {
namespace {

const TableDescriptor kTable{"g", {{"a"}, {"b"}}, false};

FamilyDescriptor Family(Bytes name, int32_t versions) {
  FamilyDescriptor family{std::move(name)};
  family.versions = versions;
  return family;
}

std::string Text(const Row& row) {
  std::string text;
  for (const Cell& cell : row.cells) {
    text += cell.family + ":" + cell.qualifier + "=" + cell.value + " ";
  }
  return text;
}

std::string GetText(Store& store, const Bytes& key) {
  auto row = store.Get("g", key);
  return row.ok() ? Text(*row) : row.status().ToString();
}

ScanSpec Spec(Bytes start = "", Bytes stop = "", size_t batch_rows = 128) {
  ScanSpec spec;
  spec.table = "g";
  spec.start = std::move(start);
  spec.stop = std::move(stop);
  spec.batch_rows = batch_rows;
  return spec;
}

std::string Keys(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += ToHex(row.key) + " ";
  return text;
}

CellChange PutAt(Bytes family, Bytes qualifier, Bytes value, int64_t timestamp_ms) {
  CellChange put = PutCell(std::move(family), std::move(qualifier), std::move(value));
  put.timestamp_ms = timestamp_ms;
  return put;
}

CellChange DeleteFamily(Bytes family) {
  return {CellChange::Kind::kDeleteFamily, std::move(family), {}, {}, {}};
}

void TablesAreCreatedOnceAndRefusedWithAnotherDescriptor(StoreSubject& s) {
  CHECK(s.store().CreateTable(kTable).ok());
  CHECK(s.store().CreateTable({"g", {{"a"}}, false}).code() == StatusCode::kConflict);
  CHECK(s.store().CreateTable({"other", {{"x"}}, false}).ok());
  s.Disturb();
  CHECK(s.store().CreateTable(kTable).ok());
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
  // A family goes with its cells, another one comes.
  TableDescriptor altered{"x", {{"new"}, odd}, false};
  altered.families[1].versions = 5;
  REQUIRE(s.store().AlterTable(altered).ok());
  CHECK(s.store().DescribeTable("x")->families.size() == 2);
  CHECK(s.store().Mutate("x", {{"k", {PutCell("a", "q", "v")}}}).code() == StatusCode::kNotFound);
  REQUIRE(s.store().Mutate("x", {{"k", {PutCell("new", "q", "3")}}}).ok());
  s.Disturb();
  CHECK(Text(*s.store().Get("x", "k")) == "new:q=3 odd:q=2 ");
  REQUIRE(s.store().AlterTable(table).ok());
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
  // The clock stands: each write is a version of its own.
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
  // Deletes of one version, by its time and of the newest.
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

void UnknownTablesAndFamiliesAreNotFoundAndNothingOfTheRowIsWritten(StoreSubject& s) {
  CHECK(s.store().Get("none", "k").status().code() == StatusCode::kNotFound);
  CHECK(s.store().Mutate("none", {{"k", {PutCell("a", "q", "v")}}}).code() ==
        StatusCode::kNotFound);
  ScanSpec nowhere = Spec();
  nowhere.table = "none";
  CHECK(s.store().Scan(nowhere).status().code() == StatusCode::kNotFound);
  CHECK(s.store().Mutate("g", {{"k", {PutCell("a", "q", "v"), PutCell("c", "q", "v")}}}).code() ==
        StatusCode::kNotFound);
  CHECK(s.store().Increment("g", "k", "c", "q", 1).status().code() == StatusCode::kNotFound);
  CHECK(s.store().Append("g", "k", "c", "q", "v").code() == StatusCode::kNotFound);
  CHECK(GetText(s.store(), "k").empty());
}

void EachRowOfABatchStandsForItself(StoreSubject& s) {
  std::vector<RowMutation> rows;
  for (int i = 1; i <= 10; ++i) {
    rows.push_back({"row" + std::to_string(i), {PutCell(i == 7 ? "none" : "a", "q", "v")}});
  }
  rows[2].key.clear();
  const std::vector<Status> statuses = s.store().MutateRows("g", rows);
  REQUIRE(statuses.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const StatusCode expected = i == 6   ? StatusCode::kNotFound
                                : i == 2 ? StatusCode::kInvalidArgument
                                         : StatusCode::kOk;
    CHECK(statuses[i].code() == expected);
  }
  CHECK(s.store().Mutate("g", rows).code() == StatusCode::kInvalidArgument);
  s.Disturb();
  CHECK(ScanAll(s.store(), Spec()).size() == 8);
  CHECK(GetText(s.store(), "row7").empty());
  CHECK(GetText(s.store(), "row10") == "a:q=v ");
  // Of one row the later mutation comes after the earlier, whatever stands between them.
  const auto twice = s.store().MutateRows("g", {{"k", {PutCell("a", "q", "1")}},
                                                {"", {PutCell("a", "q", "v")}},
                                                {"k", {PutCell("a", "q", "2")}}});
  CHECK(twice[2].ok());
  CHECK(GetText(s.store(), "k") == "a:q=2 ");
  const auto nowhere = s.store().MutateRows("none", rows);
  REQUIRE(nowhere.size() == rows.size());
  for (const Status& status : nowhere) CHECK(status.code() == StatusCode::kNotFound);
  CHECK(s.store().MutateRows("g", {}).empty());
}

void CellsComeByFamilyThenQualifierBytes(StoreSubject& s) {
  RowMutation row{"k", {}};
  const std::vector<Bytes> qualifiers = {"",     Bytes("\0", 1), Bytes("\0\0", 2), "\x01",
                                         "\x7F", "\x80",         "\xFF",           "\xFF\xFF"};
  for (auto it = qualifiers.rbegin(); it != qualifiers.rend(); ++it) {
    row.changes.push_back(PutCell("b", *it, "v"));
  }
  row.changes.push_back(PutCell("a", "z", ""));
  REQUIRE(s.store().Mutate("g", {row}).ok());
  s.Disturb();
  auto stored = s.store().Get("g", "k");
  REQUIRE(stored.ok());
  CHECK(stored->key == "k");
  REQUIRE(stored->cells.size() == qualifiers.size() + 1);
  CHECK(stored->cells[0].family == "a");
  CHECK(stored->cells[0].value.empty());
  for (size_t i = 0; i < qualifiers.size(); ++i) {
    CHECK(stored->cells[i + 1].qualifier == qualifiers[i]);
  }
  CHECK(s.store().Get("g", "k", "b")->cells.size() == qualifiers.size());
  CHECK(s.store().Get("g", "k", "b", {"\x80", "none"})->cells.size() == 1);
  CHECK(s.store().Get("g", "none")->empty());
}

void TheNewestCellTimeWinsAndOfEqualTimesTheLaterWrite(StoreSubject& s) {
  if (!s.obeys_clock()) return;
  s.clock().SetMs(1000);
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", "first")}}}).ok());
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", "second")}}}).ok());
  CHECK(GetText(s.store(), "k") == "a:q=second ");
  REQUIRE(s.store().Mutate("g", {{"k", {PutAt("a", "q", "old", 500)}}}).ok());
  CHECK(GetText(s.store(), "k") == "a:q=second ");
  REQUIRE(s.store().Mutate("g", {{"k", {PutAt("a", "q", "x", 90000)}}}).ok());
  REQUIRE(s.store().Mutate("g", {{"k", {PutAt("a", "q", "y", 90000)}}}).ok());
  s.Disturb();
  CHECK(GetText(s.store(), "k") == "a:q=y ");
  CHECK(s.store().Get("g", "k")->cells[0].timestamp_ms == 90000);
}

void ServerTimesDoNotFallWithinARowEvenIfTheClockStandsOrSteps(StoreSubject& s) {
  s.clock().SetMs(5000);
  int64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", std::to_string(i))}}}).ok());
    auto row = s.store().Get("g", "k");
    REQUIRE(row->cells.size() == 1);
    CHECK(row->cells[0].value == std::to_string(i));
    CHECK(row->cells[0].timestamp_ms >= last);
    last = row->cells[0].timestamp_ms;
    if (i == 1) s.Disturb();
    if (i == 2) s.clock().SetMs(10);
  }
}

void DeletesHideWhatIsNotNewer(StoreSubject& s) {
  s.clock().SetMs(1000);
  auto put = [&](const Bytes& key) {
    REQUIRE(
        s.store()
            .Mutate(
                "g",
                {{key, {PutCell("a", "p", "1"), PutCell("a", "q", "2"), PutCell("b", "q", "3")}}})
            .ok());
  };
  put("column");
  put("family");
  put("row");
  s.Disturb();
  s.clock().SetMs(2000);
  REQUIRE(s.store().Mutate("g", {{"column", {DeleteColumn("a", "q")}}}).ok());
  REQUIRE(s.store().Mutate("g", {{"family", {DeleteFamily("a")}}}).ok());
  REQUIRE(s.store().DeleteRow("g", "row").ok());
  s.Disturb();
  CHECK(GetText(s.store(), "column") == "a:p=1 b:q=3 ");
  CHECK(GetText(s.store(), "family") == "b:q=3 ");
  CHECK(GetText(s.store(), "row").empty());
  CHECK(Keys(ScanAll(s.store(), Spec())) == ToHex("column") + " " + ToHex("family") + " ");
  // A put afterwards is seen at once, in the same tick too.
  put("column");
  put("family");
  put("row");
  for (const char* key : {"column", "family", "row"}) {
    CHECK(GetText(s.store(), key) == "a:p=1 a:q=2 b:q=3 ");
  }
  CHECK(s.store().DeleteRow("g", "never").ok());
}

void AMutationIsAppliedInOrder(StoreSubject& s) {
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", "1"), PutCell("a", "q", "2")}}}).ok());
  CHECK(GetText(s.store(), "k") == "a:q=2 ");
  REQUIRE(s.store().Mutate("g", {{"k", {DeleteColumn("a", "q"), PutCell("a", "q", "3")}}}).ok());
  CHECK(GetText(s.store(), "k") == "a:q=3 ");
  REQUIRE(
      s.store()
          .Mutate("g", {{"k", {PutCell("a", "q", "4"), DeleteFamily("a"), PutCell("a", "r", "5")}}})
          .ok());
  s.Disturb();
  CHECK(GetText(s.store(), "k") == "a:r=5 ");
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", "6"), DeleteColumn("a", "q")}}}).ok());
  CHECK(GetText(s.store(), "k") == "a:r=5 ");
}

void CountersAddAndRefuseOtherWidths(StoreSubject& s) {
  CHECK(*s.store().Increment("g", "k", "a", "n", 5) == 5);
  CHECK(*s.store().Increment("g", "k", "a", "n", -7) == -2);
  s.Disturb();
  CHECK(*s.store().Increment("g", "k", "a", "n", 3) == 1);
  CHECK(s.store().Get("g", "k")->cells[0].value == Bytes("\0\0\0\0\0\0\0\1", 8));
  REQUIRE(
      s.store()
          .Mutate("g", {{"k", {PutCell("a", "m", Bytes("\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8))}}})
          .ok());
  CHECK(*s.store().Increment("g", "k", "a", "m", 1) == INT64_MIN);
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "short", "1234567")}}}).ok());
  CHECK(s.store().Increment("g", "k", "a", "short", 1).status().code() ==
        StatusCode::kInvalidArgument);
  REQUIRE(s.store().DeleteRow("g", "k").ok());
  CHECK(*s.store().Increment("g", "k", "a", "n", 4) == 4);
}

void AppendsJoinInOrder(StoreSubject& s) {
  for (const char* part : {"x", "", "yz", "\x01"}) {
    REQUIRE(s.store().Append("g", "k", "a", "q", part).ok());
    s.Disturb();
  }
  CHECK(GetText(s.store(), "k") == "a:q=xyz\x01 ");
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", "new")}}}).ok());
  REQUIRE(s.store().Append("g", "k", "a", "q", "er").ok());
  CHECK(GetText(s.store(), "k") == "a:q=newer ");
  REQUIRE(s.store().Mutate("g", {{"k", {DeleteColumn("a", "q")}}}).ok());
  REQUIRE(s.store().Append("g", "k", "a", "q", "again").ok());
  s.Disturb();
  CHECK(GetText(s.store(), "k") == "a:q=again ");
}

void CompareAndMutateChangesTheRowOnlyIfItIsAsExpected(StoreSubject& s) {
  RowMutation set{"k", {PutCell("a", "q", "1"), PutCell("b", "r", "x")}};
  CHECK_FALSE(*s.store().CompareAndMutate("a", "q", Bytes("0"), "g", set));
  CHECK(GetText(s.store(), "k").empty());
  CHECK(*s.store().CompareAndMutate("a", "q", std::nullopt, "g", set));
  CHECK(GetText(s.store(), "k") == "a:q=1 b:r=x ");
  CHECK_FALSE(*s.store().CompareAndMutate("a", "q", std::nullopt, "g", set));
  s.Disturb();
  RowMutation change{"k", {PutCell("a", "q", "2"), DeleteColumn("b", "r")}};
  CHECK_FALSE(*s.store().CompareAndMutate("a", "q", Bytes("12"), "g", change));
  CHECK(*s.store().CompareAndMutate("a", "q", Bytes("1"), "g", change));
  CHECK(GetText(s.store(), "k") == "a:q=2 ");
  // An empty value counts as absent.
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "q", "")}}}).ok());
  CHECK(*s.store().CompareAndMutate("a", "q", std::nullopt, "g", set));
  REQUIRE(s.store().DeleteRow("g", "k").ok());
  CHECK(*s.store().CompareAndMutate("a", "q", std::nullopt, "g", set));
  CHECK(s.store().CompareAndMutate("c", "q", std::nullopt, "g", set).status().code() ==
        StatusCode::kNotFound);
}

void MutateIfUnchangedComparesTheWholeFamilyOfTheRow(StoreSubject& s) {
  auto read = [&] { return s.store().Get("g", "k", "a")->cells; };
  const RowMutation set{"k", {PutCell("a", "q", "1"), PutCell("a", "r", "1")}};
  CHECK_FALSE(*s.store().MutateIfUnchanged("a", {{"a", "q", "1", 5}}, "g", set));
  CHECK(GetText(s.store(), "k").empty());
  CHECK(*s.store().MutateIfUnchanged("a", {}, "g", set));
  CHECK_FALSE(*s.store().MutateIfUnchanged("a", {}, "g", set));
  const std::vector<Cell> two = read();
  const RowMutation change{"k", {PutCell("a", "q", "2"), DeleteColumn("a", "r")}};
  // A cell more, another value, a cell less: each is a change; another family is none.
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "s", "3"), PutCell("b", "q", "x")}}}).ok());
  s.Disturb();
  CHECK_FALSE(*s.store().MutateIfUnchanged("a", two, "g", change));
  const std::vector<Cell> three = read();
  REQUIRE(s.store().Mutate("g", {{"k", {PutCell("a", "r", "4")}}}).ok());
  CHECK_FALSE(*s.store().MutateIfUnchanged("a", three, "g", change));
  const std::vector<Cell> written = read();
  REQUIRE(s.store().Mutate("g", {{"k", {DeleteColumn("a", "s")}}}).ok());
  CHECK_FALSE(*s.store().MutateIfUnchanged("a", written, "g", change));
  CHECK(GetText(s.store(), "k") == "a:q=1 a:r=4 b:q=x ");
  const std::vector<Cell> now = read();
  s.Disturb();
  CHECK(*s.store().MutateIfUnchanged("a", now, "g", change));
  CHECK(GetText(s.store(), "k") == "a:q=2 b:q=x ");
  CHECK(s.store().MutateIfUnchanged("c", {}, "g", change).status().code() == StatusCode::kNotFound);
}

void ScansGiveWholeRowsInOrderOfUnsignedBytes(StoreSubject& s) {
  const std::vector<Bytes> keys = {Bytes("\0", 1), "a",    Bytes("a\0", 2), "a\xFF", "b",
                                   "\x7F",         "\x80", "\xFF"};
  for (auto it = keys.rbegin(); it != keys.rend(); ++it) {
    REQUIRE(
        s.store()
            .Mutate(
                "g",
                {{*it, {PutCell("a", "p", *it), PutCell("a", "q", "v"), PutCell("b", "q", "v")}}})
            .ok());
  }
  s.Disturb();
  for (size_t batch : {1, 3, 128}) {
    ScanSpec all = Spec("", "", batch);
    std::vector<Row> rows = ScanAll(s.store(), all);
    REQUIRE(rows.size() == keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      CHECK(rows[i].key == keys[i]);
      CHECK(rows[i].cells.size() == 3);
      CHECK(rows[i].cells[0].value == keys[i]);
    }
    ScanSpec middle = Spec("a", "b", batch);
    CHECK(Keys(ScanAll(s.store(), middle)) == "61 6100 61ff ");
  }
  CHECK(ScanAll(s.store(), Spec("\x80", "", 2)).size() == 2);
  CHECK(ScanAll(s.store(), Spec("b", "b")).empty());
  ScanSpec named = Spec("b", "c");
  named.family = "a";
  named.qualifiers = {"q"};
  CHECK(Text(ScanAll(s.store(), named).at(0)) == "a:q=v ");
  named.qualifiers = {"none"};
  CHECK(ScanAll(s.store(), named).empty());
  ScanSpec bare = Spec("b", "c");
  bare.keys_only = true;
  CHECK(Text(ScanAll(s.store(), bare).at(0)) == "a:p= a:q= b:q= ");
}

void KeysHaveOneTo32767Bytes(StoreSubject& s) {
  auto put = [&](const Bytes& key) {
    return s.store().Mutate("g", {{key, {PutCell("a", "q", "v")}}});
  };
  CHECK(put("").code() == StatusCode::kInvalidArgument);
  CHECK(put(Bytes(32768, 'k')).code() == StatusCode::kInvalidArgument);
  const Bytes longest(s.key_bytes_max(), 'k');
  CHECK(put(longest).ok());
  s.Disturb();
  CHECK(GetText(s.store(), longest) == "a:q=v ");
}

void IncrementsOfManyThreadsAddUpAndOneOfManyWinsARace(StoreSubject& s) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&s, &winners, t] {
      RowMutation mine{"race", {PutCell("a", "q", std::to_string(t))}};
      auto won = s.store().CompareAndMutate("a", "q", std::nullopt, "g", mine);
      if (won.ok() && *won) ++winners;
      for (int i = 0; i < 500; ++i) (void)s.store().Increment("g", "k", "a", "n", 1);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(winners == 1);
  CHECK(*s.store().Increment("g", "k", "a", "n", 0) == 2000);
}

// Few keys and columns, so that everything collides. Explicit times lie before and after the clock.
class RandomSteps {
 public:
  RandomSteps(uint32_t seed, StoreSubject* subject, ModelStore* model)
      : random_(seed), subject_(subject), model_(model) {}

  void Step() {
    if (subject_->obeys_clock()) subject_->clock().AdvanceMs(Below(3) * 1000);
    const Bytes key(1, static_cast<char>('k' + Below(3)));
    const Bytes family = RandomFamily();
    const Bytes qualifier(Below(3), 'q');
    switch (Below(10)) {
      case 0:
        Both([&](Store& s) { return s.DeleteRow("g", key); });
        break;
      case 1:
        Both([&](Store& s) { return s.Append("g", key, family, qualifier, "+"); });
        break;
      case 2:
        Both([&](Store& s) { return s.Increment("g", key, family, "n", 3).status(); });
        break;
      case 3: {
        Expected expected = Below(2) == 0 ? Expected() : Expected("v");
        RowMutation mutation{key, {RandomChange()}};
        Both([&](Store& s) {
          auto result = s.CompareAndMutate(family, qualifier, expected, "g", mutation);
          return result.ok() && *result ? Status() : Status::Conflict("not as expected");
        });
        break;
      }
      case 4:
        if (Below(4) == 0) subject_->Disturb();
        break;
      default: {
        RowMutation mutation{key, {}};
        const size_t most = subject_->mutations_in_order() ? 3 : 1;
        for (size_t n = 1 + Below(most); n > 0; --n) mutation.changes.push_back(RandomChange());
        Both([&](Store& s) { return s.Mutate("g", {mutation}); });
      }
    }
  }

  void Compare() {
    ScanSpec spec = Spec("", "", 2);
    // Puts of one moment are one version to a store whose clock goes on by itself.
    if (subject_->obeys_clock() && Below(2) == 0) {
      spec.max_versions = static_cast<int32_t>(1 + Below(5));
      spec.min_ms = subject_->clock().NowMs() - static_cast<int64_t>(Below(30)) * 1000 - 300;
      spec.max_ms = spec.min_ms + static_cast<int64_t>(Below(40)) * 1000;
    }
    auto mine = ScanAll(subject_->store(), spec);
    auto oracle = ScanAll(*model_, spec);
    const auto shown = [](const std::vector<Row>& rows) {
      std::string text;
      for (const Row& row : rows) {
        text += row.key + "[";
        for (const Cell& cell : row.cells) {
          text += cell.family + ":" + cell.qualifier + "=" + ToHex(cell.value) + " ";
        }
        text += "] ";
      }
      return text;
    };
    INFO("got ", shown(mine), "\nfor ", shown(oracle));
    REQUIRE(mine.size() == oracle.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      CHECK(mine[i].key == oracle[i].key);
      REQUIRE(Text(mine[i]) == Text(oracle[i]));
      CHECK(Text(*subject_->store().GetCells("g", mine[i].key, spec)) == Text(oracle[i]));
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  Bytes RandomFamily() { return Bytes(1, "abckn"[Below(5)]); }

  CellChange RandomChange() {
    const Bytes family = RandomFamily();
    const Bytes qualifier(Below(3), 'q');
    // Which old version a delete of one uncovers depends on what was merged, unless all are kept.
    const bool all_kept = family == "k" || family == "n";
    const size_t kind = Below(8);
    const bool timed = kind == 2 || kind == 3 || kind == 6 || kind == 7;
    switch (timed && !subject_->obeys_clock() ? 5 : kind) {
      case 6:
        if (!all_kept) return DeleteColumn(family, qualifier);
        return {CellChange::Kind::kDeleteVersion, family, qualifier, {}, RandomTime()};
      case 7:
        if (!all_kept) return DeleteFamily(family);
        return {CellChange::Kind::kDeleteFamilyVersion, family, {}, {}, RandomTime()};
      case 0:
        return DeleteColumn(family, qualifier);
      case 1:
        return DeleteFamily(family);
      case 2:
        return PutAt(family, qualifier, "t" + std::to_string(Below(100)), RandomTime());
      case 3:
        if (all_kept && Below(3) == 0) {
          CellChange put = PutAt(family, qualifier, "e" + std::to_string(Below(100)), RandomTime());
          put.ttl_ms = static_cast<int64_t>(Below(9)) * 1000 + 300;
          return put;
        }
        return PutCell(family, qualifier, "w");
      default:
        return PutCell(family, qualifier, Below(4) == 0 ? "" : "v");
    }
  }

  // Never within a second of the clock: server times may run ahead of it by a few ms.
  int64_t RandomTime() {
    const int64_t apart = static_cast<int64_t>(1 + Below(4)) * 1000 + 500;
    return subject_->clock().NowMs() + (Below(2) == 0 ? apart : -apart);
  }

  template <typename Operation>
  void Both(const Operation& operation) {
    Status mine = operation(subject_->store());
    Status oracle = operation(*model_);
    CHECK(mine.code() == oracle.code());
  }

  std::mt19937 random_;
  StoreSubject* subject_;
  ModelStore* model_;
};

// Plain families, one of three versions, one that keeps what was deleted, one by order of writing.
void RandomStepsEqualTheModel(const StoreFactory& make) {
  TableDescriptor table{
      "g", {{"a"}, {"b"}, Family("c", 3), Family("k", 1000), Family("n", 1000)}, false};
  table.families[1].ttl_s = 20;
  table.families[2].ttl_s = 30;
  table.families[2].min_versions = 1;
  table.families[3].keep_deleted_cells = true;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    auto subject = make();
    // HBase 2.6 shows what was deleted of such a family, where times are its own.
    table.families[4].new_version_behavior = subject->obeys_clock();
    subject->clock().SetMs(1'000'000);
    ModelStore model(subject->clock());
    REQUIRE(subject->store().CreateTable(table).ok());
    REQUIRE(model.CreateTable(table).ok());
    RandomSteps steps(seed, subject.get(), &model);
    for (int i = 0; i < 300; ++i) {
      steps.Step();
      if (i % 10 == 9) steps.Compare();
    }
  }
}

}  // namespace

std::vector<Row> ScanAll(Store& store, const ScanSpec& spec) {
  std::vector<Row> all;
  auto cursor = store.Scan(spec);
  INFO(cursor.status().ToString());
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  do {
    REQUIRE((*cursor)->Next(&rows).ok());
    CHECK(rows.size() <= spec.batch_rows);
    all.insert(all.end(), rows.begin(), rows.end());
  } while (!rows.empty());
  return all;
}

void CheckStoreContract(const StoreFactory& make) {
  using Check = void (*)(StoreSubject&);
  for (Check check : {TablesAreCreatedOnceAndRefusedWithAnotherDescriptor,
                      TablesAreDescribedAlteredAndDropped,
                      NamespacesKeepTablesApart,
                      DescriptorsThatCannotBeAreRefused,
                      TheNewestVersionsAreKeptAndReadByNumberAndTime,
                      CellsGoWhenTheirTimeToLiveIsOver,
                      UnknownTablesAndFamiliesAreNotFoundAndNothingOfTheRowIsWritten,
                      EachRowOfABatchStandsForItself,
                      CellsComeByFamilyThenQualifierBytes,
                      TheNewestCellTimeWinsAndOfEqualTimesTheLaterWrite,
                      ServerTimesDoNotFallWithinARowEvenIfTheClockStandsOrSteps,
                      DeletesHideWhatIsNotNewer,
                      AMutationIsAppliedInOrder,
                      CountersAddAndRefuseOtherWidths,
                      AppendsJoinInOrder,
                      CompareAndMutateChangesTheRowOnlyIfItIsAsExpected,
                      MutateIfUnchangedComparesTheWholeFamilyOfTheRow,
                      ScansGiveWholeRowsInOrderOfUnsignedBytes,
                      KeysHaveOneTo32767Bytes,
                      IncrementsOfManyThreadsAddUpAndOneOfManyWinsARace}) {
    auto subject = make();
    REQUIRE(subject->store().CreateTable(kTable).ok());
    check(*subject);
  }
  RandomStepsEqualTheModel(make);
}

}  // namespace hg
