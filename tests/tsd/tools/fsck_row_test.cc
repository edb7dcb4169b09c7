// Each kind of damage of one row is found and repaired by the intended option, and nothing else is
// changed (opentsdb-tools.md §7).

#include "tsd/tools/fsck_row.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/support/hex.h"

namespace hg::tsd {
namespace {

/// Returns cells as "QUALIFIER=VALUE QUALIFIER=VALUE@TIME", in the order of the store.
std::vector<Cell> Cells(const std::string& text) {
  std::vector<Cell> cells;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equal = word.find('=');
    const size_t at = word.find('@');
    cells.push_back({"t", Hex(word.substr(0, equal)),
                     Hex(word.substr(equal + 1, std::min(at, word.size()) - equal - 1)),
                     at == std::string::npos ? 1000 : std::stoll(word.substr(at + 1))});
  }
  return cells;
}

/// Returns "+QUALIFIER=VALUE" for a put, with "@TIME" if it has one, and "-QUALIFIER" for a delete.
std::string Text(const std::vector<CellChange>& changes) {
  std::string text;
  for (const CellChange& change : changes) {
    CHECK(change.family == "t");
    if (!text.empty()) text += " ";
    if (change.kind == CellChange::Kind::kPut) {
      text += "+" + ToHex(change.qualifier) + "=" + ToHex(change.value);
      if (change.timestamp_ms) text += "@" + std::to_string(*change.timestamp_ms);
    } else {
      text += "-" + ToHex(change.qualifier);
    }
  }
  return text;
}

FsckRow Check(const std::string& row, const FsckOptions& options) {
  return CheckCells(Cells(row), options);
}

FsckOptions Fix() {
  FsckOptions options;
  options.fix = true;
  return options;
}

/// --fix and one more option.
FsckOptions FixWith(bool FsckOptions::*flag) {
  FsckOptions options = Fix();
  options.*flag = true;
  return options;
}

/// --fix-all.
FsckOptions FixAll() {
  FsckOptions options = Fix();
  options.compact = options.resolve_duplicates = options.delete_orphans = true;
  options.delete_unknown_columns = options.delete_bad_values = true;
  options.delete_bad_rows = options.delete_bad_compacts = true;
  return options;
}

TEST_CASE("regular points are counted as valid and not rewritten") {
  const FsckRow row = Check("0000=2a 0011=012c 002b=3fc00000 f0001f4f=3fb999999999999a", Fix());
  CHECK(row.counts.errors() == 0);
  CHECK(row.counts.valid_points == 4);
  CHECK(row.counts.cells == 4);
  CHECK(row.has_points);
  CHECK(row.findings.empty());
  CHECK(row.changes.empty());
}

TEST_CASE("--compact makes one cell of regular points, and a compacted row stays unchanged") {
  const FsckOptions compact = FixWith(&FsckOptions::compact);
  CHECK(Text(Check("0000=2a 0011=012c", compact).changes) == "+00000011=2a012c00 -0000 -0011");
  CHECK(Text(Check("0000=2a f0001f41=012c", compact).changes) ==
        "+0000f0001f41=2a012c01 -0000 -f0001f41");
  CHECK(Check("0000=2a", compact).changes.empty());
  CHECK(Check("00000011=2a012c00", compact).changes.empty());
  FsckOptions without_fix;
  without_fix.compact = true;
  CHECK(Check("0000=2a 0011=012c", without_fix).changes.empty());
}

TEST_CASE("a point next to a compacted cell is added to it by --fix alone") {
  CHECK(Text(Check("00000020=2a1800 0010=07", Fix()).changes) ==
        "+000000100020=2a071800 -00000020 -0010");
}

TEST_CASE("integers with more bytes than necessary are shortened, and are not counted as errors") {
  const std::string cells = "0007=0000000000000004 0027=ffffffffffff0000 0037=0000000100000000";
  const FsckRow row = Check(cells, Fix());
  CHECK(row.counts.errors() == 0);
  CHECK(row.counts.long_integers == 2);
  CHECK(row.counts.long_integers_shortened == 2);
  CHECK(row.counts.bytes_saved == 7 + 4);
  CHECK(Text(row.changes) == "+0000=04 +0023=ffff0000 -0007 -0027");
  const FsckRow seen = Check(cells, {});
  CHECK(seen.counts.bytes_saved == 7 + 4);
  CHECK(seen.counts.long_integers_shortened == 0);
  CHECK(seen.changes.empty());
}

TEST_CASE("a rewritten row keeps integers that need eight bytes, which OpenTSDB loses") {
  CHECK(Text(Check("0007=0000000000000004 0037=0000000100000000", FixWith(&FsckOptions::compact))
                 .changes) == "+00000037=04000000010000000000 -0007 -0037");
}

TEST_CASE("an integer is not shortened if its new column exists already") {
  CHECK(Check("0000=09 0007=0000000000000004", Fix()).changes.empty());
  const FsckRow row =
      Check("0000=09@2 0007=0000000000000004@1", FixWith(&FsckOptions::resolve_duplicates));
  CHECK(Text(row.changes) == "-0000");
  CHECK(row.counts.long_integers_shortened == 0);
}

TEST_CASE("a float stored in eight bytes is cut to its own four bytes") {
  for (const char* cells : {"001b=0000000040866666", "001b=ffffffff40866666"}) {
    const FsckRow row = Check(cells, Fix());
    CHECK(row.counts.bad_encodings == 1);
    CHECK(row.counts.bad_encodings_fixed == 1);
    CHECK(Text(row.changes) == "+001b=40866666");
    CHECK(Check(cells, {}).changes.empty());
  }
  CHECK(Text(Check("f00fa00b=0000000040866666", Fix()).changes) == "+f00fa00b=40866666");
}

TEST_CASE("unreadable values are deleted only by --delete-bad-values") {
  for (const char* bad : {"001b=0000000140866666", "f00fa00b=ffffffff40866666", "000f=40866666",
                          "0009=0102", "0001=010203", "0000=", "f0001f43=01"}) {
    CAPTURE(bad);
    const std::string cells = std::string(bad) + " e0f0=01";
    const FsckRow kept = Check(cells, Fix());
    CHECK(kept.counts.bad_values == 1);
    CHECK(kept.counts.errors() == 1);
    CHECK(kept.counts.errors_fixed() == 0);
    CHECK(kept.changes.empty());
    const FsckRow row = Check(cells, FixWith(&FsckOptions::delete_bad_values));
    CHECK(row.counts.bad_values_deleted == 1);
    CHECK(Text(row.changes) == "-" + std::string(bad).substr(0, std::string(bad).find('=')));
  }
}

TEST_CASE("a row with a remaining bad value is not rewritten") {
  const std::string cells = "0001=010203 0010=01 0020=02";
  CHECK(Check(cells, FixWith(&FsckOptions::compact)).changes.empty());
  CHECK(Text(Check(cells, FixAll()).changes) == "+00100020=010200 -0001 -0010 -0020");
}

TEST_CASE("an integer of three bytes is accepted if its flags say so") {
  const FsckRow row = Check("0002=010203", FixAll());
  CHECK(row.counts.errors() == 0);
  CHECK(row.changes.empty());
}

TEST_CASE("a float whose width differs from its flags is accepted, but not compacted") {
  const std::string cells = "0008=40866666 0010=01";
  CHECK(Check(cells, {}).counts.errors() == 0);
  CHECK(Check(cells, FixAll()).changes.empty());
}

TEST_CASE("of duplicates the oldest cell stays, or the newest with --last-write-wins") {
  const std::string cells = "0010=07@3 0011=0008@1 f000fa00=09@2";
  const FsckRow seen = Check(cells, Fix());
  CHECK(seen.counts.duplicates == 2);
  CHECK(seen.counts.valid_points == 1);
  CHECK(seen.counts.duplicates_resolved == 0);
  CHECK(seen.changes.empty());
  FsckOptions options = FixWith(&FsckOptions::resolve_duplicates);
  const FsckRow oldest = Check(cells, options);
  CHECK(oldest.counts.duplicates_resolved == 2);
  CHECK(Text(oldest.changes) == "-0010 -f000fa00");
  options.last_write_wins = true;
  CHECK(Text(Check(cells, options).changes) == "-0011 -f000fa00");
}

TEST_CASE(
    "of duplicates with equal cell times the first stays, or the last with --last-write-wins") {
  FsckOptions options = FixWith(&FsckOptions::resolve_duplicates);
  CHECK(Text(Check("0010=07 0011=0008 f000fa00=09", options).changes) == "-0011 -f000fa00");
  options.last_write_wins = true;
  CHECK(Text(Check("0010=07 0011=0008 f000fa00=09", options).changes) == "-0010 -0011");
}

TEST_CASE("a duplicate with an unreadable value is not deleted as a duplicate") {
  const FsckRow row = Check("0010=07@1 0012=010203@2", FixWith(&FsckOptions::resolve_duplicates));
  CHECK(row.counts.duplicates == 1);
  CHECK(row.counts.duplicates_resolved == 0);
  CHECK(row.changes.empty());
}

TEST_CASE("of duplicates a readable one stays, even if an unreadable one is older or newer") {
  FsckOptions options = FixWith(&FsckOptions::resolve_duplicates);
  for (const char* bad : {"0012=0102@1", "0012=01020304@1", "001f=40866666@1", "f000fa00=@1"}) {
    CAPTURE(bad);
    const std::string cells = "0010=07@2 0011=0008@3 " + std::string(bad);
    for (const bool delete_bad : {false, true}) {
      options.delete_bad_values = delete_bad;
      const FsckRow row = Check(cells, options);
      CHECK(row.counts.duplicates == 2);
      CHECK(row.counts.bad_values == 1);
      CHECK(row.counts.duplicates_resolved == 1);
      CHECK(Text(row.changes) ==
            (delete_bad ? "-0011 -" + std::string(bad).substr(0, std::string(bad).find('='))
                        : "-0011"));
    }
  }
  options.delete_bad_values = false;
  options.last_write_wins = true;
  CHECK(Text(Check("0010=07@1 0011=0008@2 0012=0102@3", options).changes) == "-0010");
  options.last_write_wins = false;
  CHECK(Check("0012=010203@1 0011=0008@2", options).changes.empty());  // 3 bytes are not readable
  CHECK(Check("0012=0102@1 0011=01@2", options).changes.empty());
}

TEST_CASE("a duplicate with a value that is longer than its width is counted once") {
  const FsckRow row = Check("0010=0708@1 0011=0008@2", FixWith(&FsckOptions::resolve_duplicates));
  CHECK(row.counts.duplicates == 1);
  CHECK(row.counts.duplicates_resolved == 1);
  CHECK(row.counts.bad_values == 0);
  CHECK(Text(row.changes) == "-0010");
  const FsckRow bad = Check("0010=0708@1 0011=0008@2", FixWith(&FsckOptions::delete_bad_values));
  CHECK(bad.counts.bad_values == 1);
  CHECK(Text(bad.changes) == "-0010");
}

TEST_CASE("duplicates in a compacted cell are resolved by rewriting the row") {
  FsckOptions options = FixWith(&FsckOptions::resolve_duplicates);
  CHECK(Check("00000010=2a1800 0011=0019", Fix()).changes.empty());
  const FsckRow oldest = Check("00000010=2a1800 0011=0019", options);
  CHECK(oldest.counts.duplicates_resolved == 1);
  CHECK(Text(oldest.changes) == "-0011");
  options.last_write_wins = true;
  CHECK(Text(Check("00000010=2a1800 0011=0019", options).changes) ==
        "+00000011=2a001900 -00000010 -0011");
  options.last_write_wins = false;
  CHECK(Text(Check("00100010=010200", options).changes) == "+0010=01 -00100010");
}

TEST_CASE("an unsorted compacted cell is sorted by --fix alone") {
  const FsckRow row = Check("002000000010=03010200", Fix());
  CHECK(row.counts.unsorted_compacts == 1);
  CHECK(row.counts.errors() == 1);
  CHECK(Text(row.changes) == "+000000100020=01020300 -002000000010");
  CHECK(Check("002000000010=03010200", {}).changes.empty());
}

TEST_CASE("a compacted cell with a last byte above 1 is never changed") {
  for (const char* cells : {"00000010=2a187f", "000000110020=2a012c"}) {
    const FsckRow row = Check(std::string(cells) + " 0030=05", FixAll());
    CHECK(row.counts.bad_compacts == 1);
    CHECK(row.counts.valid_points == 1);
    CHECK(row.changes.empty());
  }
  // The last byte is signed: 0xFF is -1, which is not above 1.
  CHECK(Text(Check("00000010=2a18ff", Fix()).changes) == "+00000010=2a1800");
}

TEST_CASE("an inconsistent compacted cell is deleted only by --delete-bad-compacts") {
  for (const char* bad :
       {"000000110020=2a012c00", "00000010=2a180000", "00000010=", "0000f000=01"}) {
    CAPTURE(bad);
    const std::string cells = std::string(bad) + " 0030=05";
    CHECK(Check(cells, Fix()).changes.empty());
    const FsckRow row = Check(cells, FixWith(&FsckOptions::delete_bad_compacts));
    CHECK(row.counts.bad_compacts == 1);
    CHECK(row.counts.bad_compacts_deleted == 1);
    CHECK(row.counts.errors_fixed() == 0);
    CHECK(Text(row.changes) == "-" + std::string(bad).substr(0, std::string(bad).find('=')));
  }
}

TEST_CASE("a float with an impossible width in a compacted cell prevents rewriting its row") {
  const std::string cells = "00080010=0a1800 0020=01";
  const FsckRow row = Check(cells, Fix());
  CHECK(row.counts.bad_values == 1);
  CHECK(row.counts.bad_compacts == 1);
  CHECK(row.changes.empty());
  CHECK(Text(Check(cells, FixWith(&FsckOptions::delete_bad_values)).changes) ==
        "+00100020=180100 -00080010 -0020");
}

TEST_CASE("unknown columns are deleted only by --delete-unknown-columns") {
  for (const char* bad : {"=2a", "00=2a", "00000010002003=2a", "f010=2a"}) {
    CAPTURE(bad);
    const std::string cells = std::string(bad) + " 0010=18";
    CHECK(Check(cells, Fix()).changes.empty());
    const FsckRow row = Check(cells, FixWith(&FsckOptions::delete_unknown_columns));
    CHECK(row.counts.unknown == 1);
    CHECK(row.counts.unknown_deleted == 1);
    CHECK(Text(row.changes) == "-" + std::string(bad).substr(0, std::string(bad).find('=')));
  }
}

TEST_CASE("objects with qualifiers of three and five bytes are never changed, and are no error") {
  const FsckRow row =
      Check("010000=7b7d 0100000001=7b7d 020000=2a 060000=2a 0600000001=2a", FixAll());
  CHECK(row.counts.annotations == 2);
  CHECK(row.counts.future_objects == 3);
  CHECK(row.counts.errors() == 0);
  CHECK(row.changes.empty());
  CHECK_FALSE(row.has_points);
}

TEST_CASE(
    "an append cell is not counted as a point, and is repaired only with "
    "tsd.storage.repair_appends") {
  const std::string cells = "050000=00201800002a002019";
  CHECK(Check(cells, FixAll()).changes.empty());
  CHECK(Check(cells, FixAll()).counts.valid_points == 0);
  CHECK(Text(Check(cells, FixWith(&FsckOptions::repair_appends)).changes) ==
        "+050000=00002a002019");
  const FsckRow cut = Check("050000=0011", FixWith(&FsckOptions::repair_appends));
  CHECK(cut.counts.errors() == 0);
  CHECK(cut.findings.size() == 1);
  CHECK(cut.changes.empty());
}

TEST_CASE(
    "columns of configured rollups are not counted as future objects, and their values are read") {
  codec::RollupTables rollups;
  rollups.aggregator_ids = {{"sum", 0}};
  rollups.levels.push_back({"1h", "r", "p", {3600, codec::RollupSpanUnit::kDays, 1, 24}, false});
  FsckOptions options = FixAll();
  options.rollups = &rollups;
  const FsckRow row = Check("000050=01 000051=01 000200=01 020050=01", options);
  CHECK(row.counts.valid_points == 1);
  CHECK(row.counts.bad_values == 1);
  CHECK(row.counts.future_objects == 2);  // after the end of the day, and another aggregator
  CHECK(row.changes.empty());
}

TEST_CASE("with tsd.storage.use_otsdb_timestamp repairs keep cell times as OpenTSDB does") {
  FsckOptions options = FixWith(&FsckOptions::resolve_duplicates);
  options.use_otsdb_timestamp = true;
  CHECK(Text(Check("0007=0000000000000004@77", options).changes) == "+0000=04@77 -0007");
  CHECK(Text(Check("001b=0000000040866666@77", options).changes) == "+001b=40866666");
  CHECK(Text(Check("00000010=2a1800@9 0000=2b@8", options).changes) == "+00000010=2b1800@8 -0000");
}

}  // namespace
}  // namespace hg::tsd
