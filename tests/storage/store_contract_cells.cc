// Cells: writes, deletes, counters, appends, comparisons, and scans of them.

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/storage/store_contract_parts.h"
#include "tests/support/fake_watch.h"

namespace hg {
namespace {

std::string GetText(Store& store, const Bytes& key) {
  auto row = store.Get("g", key);
  return row.ok() ? Text(*row) : row.status().ToString();
}

std::string Keys(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += ToHex(row.key) + " ";
  return text;
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
  // The later mutation of one row comes after the earlier one, whatever is between them.
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
  // A later put is visible at once, even in the same tick of the clock.
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

// Checks the work and the memory that a context reports for reads and changes of single columns.
void AColumnOfAWideRowIsReadAndChangedByItself(StoreSubject& s) {
  constexpr int kColumns = 600;
  const auto name = [](int i) { return "q" + std::to_string(i); };
  for (int i = 0; i < kColumns; ++i) {
    if (i % 200 == 100) s.Disturb();
    const Bytes family = i % 2 == 0 ? "a" : "b";
    REQUIRE(*s.store().CompareAndMutate(family, name(i), std::nullopt, "g",
                                        {"wide", {PutCell(family, name(i), "1")}}));
    REQUIRE_FALSE(*s.store().CompareAndMutate(family, name(i), std::nullopt, "g",
                                              {"wide", {PutCell(family, name(i), "2")}}));
  }
  CHECK(s.store().Get("g", "wide")->cells.size() == kColumns);
  CHECK(Text(*s.store().Get("g", "wide", "", {name(5), name(4), "none"})) == "a:q4=1 b:q5=1 ");
  REQUIRE(s.store().Mutate("g", {{"wide", {DeleteColumn("a", name(4))}}}).ok());
  CHECK(Text(*s.store().Get("g", "wide", "", {name(5), name(4)})) == "b:q5=1 ");
  CHECK(*s.store().Increment("g", "wide", "a", "n", 5) == 5);
  REQUIRE(s.store().Append("g", "wide", "b", name(5), "2").ok());
  CHECK(Text(*s.store().Get("g", "wide", "b", {name(5)})) == "b:q5=12 ");
  REQUIRE(s.store().Mutate("g", {{"wide", {DeleteFamily("a")}}}).ok());
  CHECK(s.store().Get("g", "wide", "", {name(6)})->empty());
  CHECK(*s.store().CompareAndMutate("a", name(6), std::nullopt, "g",
                                    {"wide", {PutCell("a", name(6), "3")}}));
  s.Disturb();
  CHECK(Text(*s.store().Get("g", "wide", "", {name(6), name(8)})) == "a:q6=3 ");
  CHECK(s.store().Get("g", "wide")->cells.size() == kColumns / 2 + 1);
  ScanSpec scan = Spec();
  scan.qualifiers = {name(5), name(6)};
  const std::vector<Row> rows = ScanAll(s.store(), scan);
  REQUIRE(rows.size() == 1);
  CHECK(Text(rows[0]) == "a:q6=3 b:q5=12 ");
}

void ReadsChargeTheirWatchAndEndWhereItRefuses(StoreSubject& s) {
  for (int i = 0; i < 200; ++i) {
    const Bytes column = "q" + std::to_string(i);
    REQUIRE(s.store()
                .Mutate("g", {{"wide", {PutCell("a", column, Bytes(1000, 'v'))}},
                              {"row" + std::to_string(i), {PutCell("a", "q", "v")}}})
                .ok());
  }
  s.Disturb();
  CellSelection wanted;
  FakeWatch watch;
  wanted.context = &watch;
  REQUIRE(s.store().GetCells("g", "wide", wanted).ok());
  CHECK(watch.bytes_most >= 200 * 1000);
  CHECK(watch.steps >= 200);
  CHECK(watch.bytes == 0);
  FakeWatch of_column;
  wanted.context = &of_column;
  wanted.qualifiers = {"q7"};
  REQUIRE(s.store().GetCells("g", "wide", wanted)->cells.size() == 1);
  CHECK(of_column.bytes_most < 100'000);
  ScanSpec scan = Spec();
  scan.batch_rows = 16;
  FakeWatch refuses;
  refuses.bytes_max = 100'000;
  scan.context = &refuses;
  const auto end = [&] {
    const auto cursor = s.store().Scan(scan);
    REQUIRE(cursor.ok());
    std::vector<Row> rows;
    for (Status status = (*cursor)->Next(&rows);; status = (*cursor)->Next(&rows))
      if (!status.ok() || rows.empty()) return status.code();
  };
  CHECK(end() == StatusCode::kLimitExceeded);
  CHECK(refuses.bytes == 0);
  FakeWatch stops;
  stops.steps_max = 5000;
  scan.context = &stops;
  CHECK(end() == StatusCode::kDeadlineExceeded);
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
  // One cell more, another value and one cell less are changes of the family. Changes of another
  // family are not.
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

}  // namespace

std::vector<StoreCheck> CellChecks() {
  return {UnknownTablesAndFamiliesAreNotFoundAndNothingOfTheRowIsWritten,
          EachRowOfABatchStandsForItself,
          CellsComeByFamilyThenQualifierBytes,
          TheNewestCellTimeWinsAndOfEqualTimesTheLaterWrite,
          ServerTimesDoNotFallWithinARowEvenIfTheClockStandsOrSteps,
          DeletesHideWhatIsNotNewer,
          AMutationIsAppliedInOrder,
          CountersAddAndRefuseOtherWidths,
          AppendsJoinInOrder,
          CompareAndMutateChangesTheRowOnlyIfItIsAsExpected,
          AColumnOfAWideRowIsReadAndChangedByItself,
          ReadsChargeTheirWatchAndEndWhereItRefuses,
          MutateIfUnchangedComparesTheWholeFamilyOfTheRow,
          ScansGiveWholeRowsInOrderOfUnsignedBytes,
          KeysHaveOneTo32767Bytes,
          IncrementsOfManyThreadsAddUpAndOneOfManyWinsARace};
}

}  // namespace hg
