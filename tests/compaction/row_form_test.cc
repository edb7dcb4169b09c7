// The cells that an old row of the embedded engine has before and after queries, whichever way its
// points came in.

#include <doctest/doctest.h>

#include <memory>
#include <sstream>
#include <string>

#include "compaction/row_compactor.h"
#include "tests/compaction/old_rows.h"
#include "tests/storage/engine/embedded_subject.h"
#include "tests/support/hex.h"

namespace hg::compaction {
namespace {

/// A store, its row compaction, and one row.
struct FormRig {
  FormRig(bool enable_compaction, bool fix_duplicates, int64_t now_ms = kOldMs)
      : subject(KeyLayout(), EmbeddedOptions::DefaultTables(), now_ms) {
    subject.EnableCompaction(enable_compaction);
    options.enable_compaction = enable_compaction;
    options.reconcile.fix_duplicates = fix_duplicates;
    Listen();
  }

  void Listen() {
    compactor = std::make_unique<RowCompactor>(&subject.cells(), options, subject.clock());
    subject.points().ListenForUnsettledRows(
        [this](ByteView key, uint32_t base) { compactor->Offer(key, base); });
  }

  // "qualifier=value …" in hexadecimal.
  void Load(const std::string& cells) {
    std::istringstream words(cells);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      subject.clock().AdvanceMs(1);
      const CellChange put =
          PutCell("t", Hex(word.substr(0, equals).c_str()), Hex(word.substr(equals + 1).c_str()));
      REQUIRE(subject.cells().Mutate("tsdb", {{Key(1), {put}}}).ok());
    }
  }

  void Write(int64_t second, int64_t value) {
    auto series = subject.points().Register(Hex("000001000001000001"));
    REQUIRE(series.ok());
    const PointEntry entry =
        MakePointEntry(*series, Timestamp{int64_t{kBase} + second}, PointValue::Int(value));
    REQUIRE(subject.points().Append({&entry, 1}).ok());
  }

  /// Reads the row as a query does. Then the compaction worker runs.
  void Query() {
    PointScanSpec spec;
    spec.metric = Hex("000001");
    auto scan = subject.points().Scan(spec, options.reconcile);
    REQUIRE(scan.ok());
    RowHour row;
    for (auto more = (*scan)->Next(&row); more.ok() && *more;) more = (*scan)->Next(&row);
    compactor->Drain();
  }

  /// The cells of the row. A read of the row and a scan of the table must return the same.
  std::string Cells() {
    auto row = subject.cells().Get("tsdb", Key(1));
    REQUIRE(row.ok());
    ScanSpec all;
    all.table = "tsdb";
    auto cursor = subject.cells().Scan(all);
    REQUIRE(cursor.ok());
    std::vector<Row> rows;
    REQUIRE((*cursor)->Next(&rows).ok());
    REQUIRE(rows.size() == 1);
    CHECK(Text(rows[0].cells) == Text(row->cells));
    return Text(row->cells);
  }

  static std::string Text(const std::vector<Cell>& cells) {
    std::string text;
    for (const Cell& cell : cells) {
      text += (text.empty() ? "" : " ") + ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value);
    }
    return text;
  }

  /// Flushes, merges and reopens the store as far as `way` (0 to kWays - 1) requires.
  void Disturb(int way) {
    if (way > 0) REQUIRE(subject.cells().Flush().ok());
    if (way > 1) REQUIRE(subject.cells().Compact().ok());
    if (way > 2) {
      subject.Reopen();
      Listen();
    }
  }

  EmbeddedSubject subject;
  RowCompactorOptions options;
  std::unique_ptr<RowCompactor> compactor;
};

struct Case {
  const char* what;
  const char* loaded;   // the written cells, in the order of a row
  const char* shown;    // the cells when the row is old; nullptr: as `loaded`
  const char* queried;  // the cells after a query of the old row
  const char* fixed;    // the same with fix_duplicates; nullptr: as `queried`
};

const Case kCases[] = {
    {"a compacted cell and two single ones", "00000010=2A1800 0020=07 0040=09", nullptr,
     "0000001000200040=2A18070900", nullptr},
    {"single cells", "0000=2A 0010=18 0020=07", "000000100020=2A180700", "000000100020=2A180700",
     nullptr},
    {"one single cell", "0010=18", "0010=18", "0010=18", nullptr},
    {"a compacted cell", "00000010=2A1800", "00000010=2A1800", "00000010=2A1800", nullptr},
    {"a compacted cell without the byte at its end", "00000010=2A18", nullptr, "00000010=2A1800",
     nullptr},
    {"an append cell", "050000=00002A001018", nullptr, "050000=00002A001018", nullptr},
    {"an append cell and single cells", "0020=07 0030=08 050000=00002A001018", nullptr,
     "0020=07 0030=08 050000=00002A001018", nullptr},
    {"values of all widths", "0000=2A 0011=012C 0023=00010000 0037=0000000100000000 004B=3F800000",
     "0000001100230037004B=2A012C0001000000000001000000003F80000000",
     "0000001100230037004B=2A012C0001000000000001000000003F80000000", nullptr},
    {"milliseconds", "F0000040=01 F000FA00=02", "F0000040F000FA00=010200",
     "F0000040F000FA00=010200", nullptr},
    {"seconds and milliseconds", "0000=2A F0017700=07", "0000F0017700=2A0701",
     "0000F0017700=2A0701", nullptr},
    {"seconds, milliseconds and a compacted cell", "0000=2A 00100020=010200 F0017700=07", nullptr,
     "00000010F00177000020=2A01070201", nullptr},
    {"two values at one time", "0000=2A 0010=18 0011=0019", nullptr, "0000=2A 0010=18 0011=0019",
     "00000011=2A001900"},
    {"two values at one time, one in a compacted cell", "00000010=2A1800 0010=07", nullptr,
     "00000010=2A1800 0010=07", "00000010=2A0700"},
    {"one value twice", "0000=2A 0010=18 F000FA00=18", nullptr, "0000F000FA00=2A1801", nullptr},
    {"single cells and other objects", "0000=2A 0010=18 010000=7B7D 060000=2A00 070000=01",
     "00000010=2A1800 010000=7B7D 060000=2A00 070000=01",
     "00000010=2A1800 010000=7B7D 060000=2A00 070000=01", nullptr},
    {"a compacted cell, a single one and other objects",
     "00000010=2A1800 0020=07 010000=7B7D 060000=2A00 070000=01", nullptr,
     "000000100020=2A180700 010000=7B7D 060000=2A00 070000=01", nullptr},
};

// The states of a row: in memory, in a file, merged, and read again after a restart.
constexpr int kWays = 4;

TEST_CASE(
    "a query leaves an old row as OpenTSDB compacts it: in memory, flushed, merged or reopened") {
  for (const Case& c : kCases) {
    for (const bool fix_duplicates : {false, true}) {
      for (int way = 0; way < kWays * kWays; ++way) {
        CAPTURE(std::string(c.what));
        CAPTURE(fix_duplicates);
        CAPTURE(way);
        FormRig rig(true, fix_duplicates);
        rig.Load(c.loaded);
        rig.Disturb(way % kWays);
        CHECK(rig.Cells() == (c.shown != nullptr ? c.shown : c.loaded));
        rig.Query();
        const std::string queried = fix_duplicates && c.fixed != nullptr ? c.fixed : c.queried;
        CHECK(rig.Cells() == queried);
        rig.Disturb(way / kWays);
        CHECK(rig.Cells() == queried);
        rig.Query();
        CHECK(rig.Cells() == queried);
      }
    }
  }
}

TEST_CASE("a row that OpenTSDB would not compact keeps its cells as they were written") {
  for (const bool enable_compaction : {false, true}) {
    for (const Case& c : kCases) {
      for (int way = 0; way < kWays; ++way) {
        CAPTURE(enable_compaction);
        CAPTURE(std::string(c.what));
        CAPTURE(way);
        // With compaction, the hour of the row is not over yet.
        FormRig rig(enable_compaction, true, enable_compaction ? kOldMs - 1000 : kOldMs);
        rig.Load(c.loaded);
        CHECK(rig.Cells() == c.loaded);
        rig.Query();
        rig.Disturb(way);
        CHECK(rig.Cells() == c.loaded);
        rig.Query();
        CHECK(rig.Cells() == c.loaded);
        if (!enable_compaction) continue;
        rig.subject.clock().SetMs(kOldMs);
        rig.Query();
        CHECK(rig.Cells() == (c.fixed != nullptr ? c.fixed : c.queried));
      }
    }
  }
}

TEST_CASE("single cells and points written after a compacted cell are compacted with it") {
  for (int way = 0; way < kWays * kWays; ++way) {
    CAPTURE(way);
    FormRig rig(true, false);
    rig.Load("00000010=2A1800");
    rig.Disturb(way % kWays);
    rig.Load("0020=07");
    rig.Write(3, 9);
    rig.Disturb(way / kWays);
    const bool merged = way % kWays > 1;  // a merge has stored the compacted cell as points
    CHECK(rig.Cells() ==
          (merged ? "0000001000200030=2A18070900" : "00000010=2A1800 0020=07 0030=09"));
    rig.Query();
    CHECK(rig.Cells() == "0000001000200030=2A18070900");
  }
}

// See JoinForms in storage/points/row_part.h.
TEST_CASE(
    "points written after a compacted cell leave it as it is, or split it if it was merged, until "
    "the row is compacted") {
  for (const bool enable_compaction : {false, true}) {
    for (const bool merged : {false, true}) {
      for (const bool as_cell : {false, true}) {
        for (int way = 0; way < kWays; ++way) {
          CAPTURE(enable_compaction);
          CAPTURE(merged);
          CAPTURE(as_cell);
          CAPTURE(way);
          // With compaction, the hour of the row is not over yet.
          FormRig rig(enable_compaction, false, enable_compaction ? kOldMs - 1000 : kOldMs);
          rig.Load("00000010=2A1800");
          REQUIRE(rig.subject.cells().Flush().ok());
          if (merged) REQUIRE(rig.subject.cells().Compact().ok());
          CHECK(rig.Cells() == "00000010=2A1800");
          if (as_cell) {
            rig.Load("0020=07");
          } else {
            rig.Write(2, 7);
          }
          const std::string written =
              merged ? "0000=2A 0010=18 0020=07" : "00000010=2A1800 0020=07";
          CHECK(rig.Cells() == written);
          rig.Query();
          CHECK(rig.Cells() == written);
          rig.Disturb(way);
          CHECK(rig.Cells() == written);
          rig.Query();
          CHECK(rig.Cells() == written);
          if (!enable_compaction) continue;
          rig.subject.clock().SetMs(kOldMs);
          CHECK(rig.Cells() == (merged ? "000000100020=2A180700" : written));
          rig.Query();
          CHECK(rig.Cells() == "000000100020=2A180700");
          rig.Disturb(way);
          CHECK(rig.Cells() == "000000100020=2A180700");
        }
      }
    }
  }
}

TEST_CASE("a row that was compacted stays one cell when compaction is turned off") {
  for (int way = 0; way < kWays; ++way) {
    CAPTURE(way);
    FormRig rig(true, true);
    rig.Load("00000010=2A1800 0020=07");
    rig.Query();
    rig.subject.EnableCompaction(false);
    rig.Disturb(way);
    CHECK(rig.Cells() == "000000100020=2A180700");
  }
}

}  // namespace
}  // namespace hg::compaction
