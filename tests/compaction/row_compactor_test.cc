#include "compaction/row_compactor.h"

#include <doctest/doctest.h>

#include <map>
#include <new>
#include <thread>

#include "tests/compaction/old_rows.h"
#include "tests/fault/starve.h"
#include "tests/storage/engine/embedded_subject.h"
#include "tests/support/away_store.h"
#include "tests/support/hex.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg::compaction {
namespace {

/// Calls `between` after each read of a row, to simulate another writer.
class InterruptedStore : public ModelStore {
 public:
  using ModelStore::ModelStore;
  Result<Row> GetCells(const std::string& table, ByteView key,
                       const CellSelection& wanted) override {
    auto row = ModelStore::GetCells(table, key, wanted);
    if (between) std::exchange(between, nullptr)();
    return row;
  }
  std::function<void()> between;
};

struct Rig {
  ManualClock clock{kOldMs};
  InterruptedStore store{clock};
  RowCompactorOptions options;

  Rig() { REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok()); }

  void Put(const Bytes& key, std::vector<std::pair<const char*, const char*>> cells) {
    RowMutation row{key, {}};
    for (const auto& [qualifier, value] : cells) {
      row.changes.push_back(PutCell("t", Hex(qualifier), Hex(value)));
    }
    REQUIRE(store.Mutate("tsdb", {row}).ok());
  }
  std::string Cells(const Bytes& key) {
    auto row = store.Get("tsdb", key, "t", {});
    REQUIRE(row.ok());
    std::string text;
    for (const Cell& cell : row->cells) {
      text += ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value) + " ";
    }
    return text;
  }
};

TEST_CASE("an old row with several cells becomes one cell, and annotations stay") {
  Rig rig;
  rig.Put(Key(1), {{"0010", "18"}, {"0000", "2A"}, {"010000", "7B7D"}});
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  auto changed = compactor.CompactRow(Key(1));
  REQUIRE(changed.ok());
  CHECK(*changed);
  CHECK(rig.Cells(Key(1)) == "00000010=2A1800 010000=7B7D ");
  CHECK_FALSE(*compactor.CompactRow(Key(1)));
}

TEST_CASE("a stop waits at most once for an unreachable store, not once per row") {
  AwayStore away;
  const ManualClock clock{kOldMs};
  RowCompactor compactor(&away, {}, clock);
  for (int series = 1; series <= 3; ++series) compactor.Offer(Key(series), kBase);
  compactor.Stop();
  CHECK(away.gets == 1);
  CHECK(compactor.Stats().failed == 1);
  CHECK(compactor.Stats().dropped == 2);
  CHECK(compactor.Stats().queued == 0);
}

TEST_CASE("recent rows, failing rows, and rows with compaction off stay unchanged") {
  Rig rig;
  rig.Put(Key(1), {{"0010", "18"}, {"0000", "2A"}});
  rig.Put(Key(2), {{"0010", "18"}, {"0011", "0019"}});
  const std::string two = rig.Cells(Key(1));
  const std::string twice = rig.Cells(Key(2));
  {
    RowCompactor compactor(&rig.store, rig.options, rig.clock);
    CHECK(compactor.CompactRow(Key(2)).status().code() == StatusCode::kInvalidArgument);
    rig.clock.SetMs(kOldMs - 1);
    CHECK_FALSE(*compactor.CompactRow(Key(1)));
    compactor.Offer(Key(1), kBase);
    CHECK(compactor.Stats().offered == 0);
    CHECK(compactor.CompactRow(Key(1).substr(0, 9)).status().code() == StatusCode::kCorruption);
  }
  rig.clock.SetMs(kOldMs);
  rig.options.enable_compaction = false;
  RowCompactor off(&rig.store, rig.options, rig.clock);
  CHECK_FALSE(*off.CompactRow(Key(1)));
  CHECK(rig.Cells(Key(1)) == two);
  CHECK(rig.Cells(Key(2)) == twice);
}

TEST_CASE("append cells are sorted only with repair_appends, and never compacted") {
  Rig rig;
  rig.Put(Key(1), {{"050000", "00201800002A002019"}, {"0040", "07"}});
  const std::string before = rig.Cells(Key(1));
  RowCompactor keeps(&rig.store, rig.options, rig.clock);
  CHECK_FALSE(*keeps.CompactRow(Key(1)));
  CHECK(rig.Cells(Key(1)) == before);
  rig.options.reconcile.repair_appends = true;
  RowCompactor repairs(&rig.store, rig.options, rig.clock);
  CHECK(*repairs.CompactRow(Key(1)));
  CHECK(rig.Cells(Key(1)) == "0040=07 050000=00002A002019 ");
  CHECK_FALSE(*repairs.CompactRow(Key(1)));
}

TEST_CASE(
    "points appended between the read and the repair of a row are kept, and a row deleted "
    "in between stays deleted") {
  Rig rig;
  rig.options.reconcile.repair_appends = true;
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  rig.Put(Key(1), {{"050000", "00201800002A"}});
  rig.store.between = [&] {
    CHECK(rig.store.Append("tsdb", Key(1), "t", Hex("050000"), Hex("003007")).ok());
  };
  CHECK_FALSE(*compactor.CompactRow(Key(1)));
  CHECK(rig.Cells(Key(1)) == "050000=00201800002A003007 ");

  rig.Put(Key(2), {{"0010", "18"}, {"0000", "2A"}});
  rig.store.between = [&] { CHECK(rig.store.DeleteRow("tsdb", Key(2)).ok()); };
  CHECK_FALSE(*compactor.CompactRow(Key(2)));
  CHECK(rig.Cells(Key(2)).empty());
}

TEST_CASE("a point written between the read and the rewrite of a row is kept") {
  Rig rig;
  rig.options.reconcile.fix_duplicates = true;
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  // A compacted cell that stays unchanged, and a single point with a time that the cell also has.
  rig.Put(Key(1), {{"00100020", "010200"}, {"0030", "03"}});
  rig.store.between = [&] { rig.Put(Key(1), {{"0020", "63"}}); };
  CHECK_FALSE(*compactor.CompactRow(Key(1)));
  CHECK(rig.Cells(Key(1)) == "00100020=010200 0020=63 0030=03 ");
  // Two times occur twice, and the losing value of the second one is written again.
  rig.Put(Key(2), {{"0010", "01"}, {"F000FA00", "02"}, {"0020", "03"}, {"F001F400", "04"}});
  rig.store.between = [&] { rig.Put(Key(2), {{"F001F400", "63"}}); };
  CHECK_FALSE(*compactor.CompactRow(Key(2)));
  CHECK(rig.Cells(Key(2)) == "0010=01 0020=03 F000FA00=02 F001F400=63 ");
  // The only cell that would be deleted had no value.
  rig.Put(Key(3), {{"0010", ""}, {"0020", "01"}});
  rig.store.between = [&] { rig.Put(Key(3), {{"0010", "63"}}); };
  CHECK_FALSE(*compactor.CompactRow(Key(3)));
  CHECK(rig.Cells(Key(3)) == "0010=63 0020=01 ");
}

// The compacted cell holds 1 s = 1.0 and 2 s = 2.0, the point is 2 s = 99. Both orders are tested,
// with the store unchanged, flushed, merged or reopened between the steps.
TEST_CASE("over the engine, compaction keeps the later of a cell and a point with the same time") {
  for (const bool point_first : {false, true}) {
    for (int way = 0; way < 27; ++way) {
      CAPTURE(point_first);
      CAPTURE(way);
      EmbeddedSubject subject(KeyLayout(), EmbeddedOptions::DefaultTables(), kOldMs);
      RowCompactorOptions options;
      options.reconcile.fix_duplicates = true;
      RowCompactor compactor(&subject.cells(), options, subject.clock());
      auto disturb = [&](int how) {
        subject.clock().AdvanceMs(10);
        if (how > 0) REQUIRE(subject.cells().Flush().ok());
        if (how > 1) REQUIRE(subject.cells().Compact().ok());
      };
      auto put_cell = [&] {
        const Bytes value = Hex("3F8000004000000000");
        REQUIRE(subject.cells()
                    .Mutate("tsdb", {{Key(1), {PutCell("t", Hex("001B002B"), value)}}})
                    .ok());
      };
      auto write_point = [&] {
        auto series = subject.points().Register(Hex("000001000001000001"));
        REQUIRE(series.ok());
        const PointEntry entry =
            MakePointEntry(*series, Timestamp{int64_t{kBase} + 2}, PointValue::Int(99));
        REQUIRE(subject.points().Append({&entry, 1}).ok());
      };
      point_first ? write_point() : put_cell();
      disturb(way % 3);
      point_first ? put_cell() : write_point();
      disturb(way / 3 % 3);
      auto changed = compactor.CompactRow(Key(1));
      REQUIRE(changed.ok());
      CHECK(*changed);
      disturb(way / 9);
      auto row = subject.cells().Get("tsdb", Key(1));
      REQUIRE(row.ok());
      std::string cells;
      for (const Cell& cell : row->cells) {
        cells += ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value) + " ";
      }
      CHECK(cells == (point_first ? "001B002B=3F8000004000000000 " : "001B0020=3F8000006300 "));
    }
  }
}

TEST_CASE("a row with very many points is not compacted") {
  for (const bool in_file : {false, true}) {
    for (const int64_t count : {1000, 70'000}) {
      CAPTURE(in_file);
      CAPTURE(count);
      EmbeddedSubject subject(KeyLayout(), EmbeddedOptions::DefaultTables(), kOldMs);
      RowCompactor compactor(&subject.cells(), {}, subject.clock());
      const auto series = subject.points().Register(Hex("000001000001000001"));
      REQUIRE(series.ok());
      // Two points at one time, so that the row needs row compaction.
      std::vector<PointEntry> entries = {
          MakePointEntry(*series, Timestamp{int64_t{kBase} + 1}, PointValue::Int(7)),
          MakePointEntry(*series, Timestamp{(int64_t{kBase} + 1) * 1000}, PointValue::Int(7))};
      for (int64_t i = 1; i < count; ++i) {
        entries.push_back(MakePointEntry(*series, Timestamp{(int64_t{kBase} + 1) * 1000 + i},
                                         PointValue::Int(7)));
      }
      REQUIRE(subject.points().Append(entries).ok());
      if (in_file) REQUIRE(subject.cells().Flush().ok());
      const auto changed = compactor.CompactRow(Key(1));
      REQUIRE(changed.ok());
      CHECK(*changed == (count == 1000));
      CHECK(compactor.Stats().failed == 0);
    }
  }
}

TEST_CASE("a key is queued once, and keys beyond the limit are dropped") {
  Rig rig;
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  compactor.Offer(Key(1), kBase);
  compactor.Offer(Key(1), kBase);
  CHECK(compactor.Stats().queued == 1);
  for (int i = 2; i <= static_cast<int>(RowCompactor::kQueueMax) + 5; ++i)
    compactor.Offer(Key(i), kBase);
  CHECK(compactor.Stats().queued == RowCompactor::kQueueMax);
  CHECK(compactor.Stats().dropped == 5);
}

TEST_CASE("a stop processes the queue and counts the results") {
  Rig rig;
  rig.Put(Key(1), {{"0010", "18"}, {"0000", "2A"}});
  rig.Put(Key(2), {{"0010", "18"}, {"0011", "0019"}});
  rig.Put(Key(3), {{"0010", "18"}});
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  compactor.Start();
  for (int i = 1; i <= 3; ++i) compactor.Offer(Key(i), kBase);
  compactor.Stop();
  const RowCompactorStats stats = compactor.Stats();
  CHECK(stats.queued == 0);
  CHECK(stats.offered == 3);
  CHECK(stats.rewritten == 1);
  CHECK(stats.failed == 1);
  CHECK(rig.Cells(Key(1)) == "00000010=2A1800 ");
  compactor.Offer(Key(4), kBase);
  CHECK(compactor.Stats().dropped == 1);
}

TEST_CASE("written, deleted and merged cells of a compaction are counted") {
  MergeCounters merges;
  Rig rig;
  rig.options.reconcile.fix_duplicates = true;
  rig.options.reconcile.counters = &merges;
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  rig.Put(Key(1), {{"0010", "18"}, {"0011", "0019"}, {"0020", "01"}, {"F001F400", "01"}});
  REQUIRE(*compactor.CompactRow(Key(1)));
  CHECK(rig.Cells(Key(1)) == "00100020=180100 ");
  CHECK(compactor.Stats().cells_written == 1);
  CHECK(compactor.Stats().cells_deleted == 4);
  CHECK(merges.merges == 1);
  CHECK(merges.variant == 1);
  CHECK(merges.identical == 1);

  rig.Put(Key(2), {{"0010", "18"}, {"0020", "19"}});
  rig.store.between = [&] { rig.Put(Key(2), {{"0030", "20"}}); };
  CHECK_FALSE(*compactor.CompactRow(Key(2)));
  CHECK(compactor.Stats().cells_written == 1);
  CHECK(compactor.Stats().failed_writes == 0);
  rig.options.table = "gone";
  RowCompactor without(&rig.store, rig.options, rig.clock);
  CHECK_FALSE(without.CompactRow(Key(1)).ok());
  CHECK(without.Stats().failed_reads == 1);
}

TEST_CASE("the worker thread processes queued rows without a call of Drain") {
  Rig rig;
  for (int i = 0; i < 50; ++i) rig.Put(Key(i), {{"0010", "18"}, {"0000", "2A"}});
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  compactor.Start();
  for (int i = 0; i < 50; ++i) compactor.Offer(Key(i), kBase);
  while (compactor.Stats().rewritten < 50) std::this_thread::yield();
  CHECK(rig.Cells(Key(49)) == "00000010=2A1800 ");
}

TEST_CASE(
    "a row that fails for lack of memory is counted, and compacted when it is offered again") {
  Rig rig;
  rig.Put(Key(1), {{"0010", "18"}, {"0000", "2A"}});
  rig.store.between = [] { throw std::bad_alloc(); };
  RowCompactor compactor(&rig.store, rig.options, rig.clock);
  compactor.Offer(Key(1), kBase);
  compactor.Start();
  while (compactor.Stats().failed == 0) std::this_thread::yield();
  compactor.Offer(Key(1), kBase);
  while (compactor.Stats().rewritten == 0) std::this_thread::yield();
  compactor.Stop();
  CHECK(compactor.Stats().failed == 1);
  CHECK(rig.Cells(Key(1)) == "00000010=2A1800 ");
}

TEST_CASE("an offer that fails at any allocation does not block later offers of the row") {
  constexpr int kRows = 20;
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    Rig rig;
    RowCompactor compactor(&rig.store, rig.options, rig.clock);
    const auto offer = [&] {
      for (int series = 1; series <= kRows; ++series) compactor.Offer(Key(series), kBase);
      return Status();
    };
    (void)Starve(n, &failed, offer);
    (void)offer();
    CHECK(compactor.Stats().queued == kRows);
  }
}

}  // namespace
}  // namespace hg::compaction
