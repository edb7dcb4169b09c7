// Appends to the append cell of a row: they are kept separate from stored data until both are read
// or merged (region-store.md A4).

#include <doctest/doctest.h>

#include "storage/codec/append_cell.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

const Bytes kKey = codec::MakeRowKey(KeyLayout(), Bytes("\0\0\1\0\0\1\0\0\1", 9), 1'700'002'800);

std::unique_ptr<Embedded> Open(FaultyFileSystem& disk) {
  static const ManualClock clock(1'700'003'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.log_file_bytes = 1 << 20;
  options.cache_share = 0;
  auto opened = Embedded::Open(options, disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

// The n-th appended text.
Bytes Piece(uint64_t n) {
  Bytes piece;
  AppendBig(&piece, n, n % 3 + 1);
  return piece;
}

Status AppendPiece(Embedded& store, uint64_t n) {
  return store.cells().Append("tsdb", kKey, "t", codec::kAppendQualifier, Piece(n));
}

Bytes Stored(Embedded& store) {
  const auto row = store.cells().Get("tsdb", kKey);
  REQUIRE(row.ok());
  if (row->cells.empty()) return "";
  REQUIRE(row->cells.size() == 1);
  return row->cells[0].value;
}

TEST_CASE("ten thousand appends are stored in order, and no append reads stored data") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  Bytes expected;
  for (uint64_t n = 0; n < 10'000; ++n) {
    REQUIRE(AppendPiece(*store, n).ok());
    expected += Piece(n);
    if (n % 1000 == 999) REQUIRE(store->cells().Flush().ok());
  }
  CHECK(store->Stats().blocks_read == 0);
  CHECK(Stored(*store) == expected);
  CHECK(store->Stats().blocks_read == 10);
  REQUIRE(store->cells().Compact().ok());
  CHECK(Stored(*store) == expected);
  store.reset();
  store = Open(disk);
  CHECK(Stored(*store) == expected);
  REQUIRE(AppendPiece(*store, 7).ok());
  CHECK(Stored(*store) == expected + Piece(7));
}

TEST_CASE("an append after a delete or a put does not extend older values") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  const Bytes column(codec::kAppendQualifier);
  for (const bool flushed : {false, true}) {
    CAPTURE(flushed);
    const auto settle = [&] {
      if (flushed) REQUIRE(store->cells().Flush().ok());
    };
    REQUIRE(AppendPiece(*store, 1).ok());
    settle();
    REQUIRE(store->cells().Mutate("tsdb", {{kKey, {DeleteColumn("t", column)}}}).ok());
    settle();
    REQUIRE(AppendPiece(*store, 2).ok());
    settle();
    CHECK(Stored(*store) == Piece(2));
    REQUIRE(store->cells().Mutate("tsdb", {{kKey, {PutCell("t", column, "put")}}}).ok());
    settle();
    REQUIRE(AppendPiece(*store, 5).ok());
    CHECK(Stored(*store) == "put" + Piece(5));
    REQUIRE(store->cells().DeleteRow("tsdb", kKey).ok());
    settle();
    REQUIRE(AppendPiece(*store, 8).ok());
    settle();
    CHECK(Stored(*store) == Piece(8));
    REQUIRE(store->cells().Compact().ok());
    CHECK(Stored(*store) == Piece(8));
    REQUIRE(store->cells().DeleteRow("tsdb", kKey).ok());
    CHECK(Stored(*store).empty());
  }
}

TEST_CASE("appends to a cell whose part in memory would exceed the largest value are refused") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  const Bytes mebibyte(1 << 20, 'a');
  const auto append = [&](const Bytes& bytes) {
    return store->cells().Append("tsdb", kKey, "t", codec::kAppendQualifier, bytes);
  };
  for (int i = 0; i < 10; ++i) REQUIRE(append(mebibyte).ok());
  CHECK(append("b").code() == StatusCode::kInvalidArgument);
  CHECK(Stored(*store).size() == 10 << 20);
  REQUIRE(store->cells().Flush().ok());
  CHECK(append("b").ok());
  CHECK(Stored(*store).size() == (10 << 20) + 1);
}

TEST_CASE("an append to several columns changes all of them or none, in one record of the log") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  REQUIRE(store->cells().CreateTable({"g", {{"a"}, {"b"}}, false}).ok());
  const auto text = [&](const std::string& table) {
    std::string cells;
    const auto row = store->cells().Get(table, "k");
    for (const Cell& cell : row->cells) {
      cells += cell.family + ":" + cell.qualifier + "=" + cell.value.substr(0, 10) + " ";
    }
    return cells;
  };
  const std::vector<ColumnAppend> columns = {{"a", "p", "1"}, {"b", "p", "2"}};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(store->cells().AppendColumns("g", "k", columns, {}).ok());
    REQUIRE(store->cells().Flush().ok());
  }
  CHECK(text("g") == "a:p=11 b:p=22 ");
  // The last column is refused, so no column changes.
  const Bytes too_long(10 << 20, 'x');
  for (const ColumnAppend& last : {ColumnAppend{"c", "p", "3"}, ColumnAppend{"b", "p", too_long}}) {
    CHECK_FALSE(store->cells().AppendColumns("g", "k", {columns[0], last}, {}).ok());
    CHECK(text("g") == "a:p=11 b:p=22 ");
  }
  CHECK(store->cells()
            .AppendColumns("tsdb", kKey,
                           {{"t", "x", "1"}, {"t", Bytes(codec::kAppendQualifier), "2"}}, {})
            .code() == StatusCode::kInvalidArgument);
  CHECK(Stored(*store).empty());
  // A process that is killed has written both columns or none.
  const std::string before = text("g");
  for (uint64_t call = 1; text("g") == before; ++call) {
    disk.DieAtCall(call);
    (void)store->cells().AppendColumns("g", "k", columns, {});
    disk.FailAllCalls();
    store.reset();
    disk.FailCall(0);
    store = Open(disk);
    CHECK((text("g") == before || text("g") == "a:p=111 b:p=222 "));
  }
}

// The process ends at each call in turn: data in files is not replayed from the log again.
TEST_CASE("appends of a killed process are replayed exactly once") {
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    auto store = Open(disk);
    Bytes expected;
    for (uint64_t i = 0; i < 20; ++i) {
      REQUIRE(AppendPiece(*store, i).ok());
      expected += Piece(i);
      if (i == 9) REQUIRE(store->cells().Flush().ok());
    }
    disk.DieAtCall(n);
    (void)store->cells().Flush();
    (void)store->cells().Compact();
    const bool reached = disk.failed();
    disk.FailAllCalls();
    store.reset();
    disk.FailCall(0);
    store = Open(disk);
    CHECK(Stored(*store) == expected);
    REQUIRE(store->cells().Compact().ok());
    CHECK(Stored(*store) == expected);
    if (!reached) break;
  }
}

}  // namespace
}  // namespace hg
