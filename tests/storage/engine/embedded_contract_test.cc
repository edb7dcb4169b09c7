#include <doctest/doctest.h>

#include <random>

#include "storage/codec/row_key.h"
#include "tests/storage/engine/embedded_subject.h"

namespace hg {
namespace {

TEST_CASE("the embedded store fulfils the contract of the cell store") {
  CheckStoreContract([] {
    return std::make_unique<EmbeddedSubject>(
        KeyLayout{}, std::vector<TableDescriptor>{{"unused", {{"t"}}, true}}, 1'000'000);
  });
}

TEST_CASE("the embedded store fulfils the contract for reading") {
  CheckReadContract([] {
    return std::make_unique<EmbeddedSubject>(
        KeyLayout{}, std::vector<TableDescriptor>{{"unused", {{"t"}}, true}}, 1'000'000);
  });
}

TEST_CASE("the embedded store fulfils the contract of the point store") {
  CheckPointsContract([](const KeyLayout& layout) {
    return std::make_unique<EmbeddedSubject>(layout, EmbeddedOptions::DefaultTables(),
                                             1'700'000'000'000);
  });
}

constexpr uint32_t kBase = 1356998400;
const Bytes kTsuid = []() {
  Bytes tsuid;
  for (int id = 0; id < 3; ++id) AppendBig(&tsuid, 1, 3);
  return tsuid;
}();

CellChange RandomChange(std::mt19937* random) {
  const std::vector<std::pair<Bytes, Bytes>> cells = {
      {Bytes("\0\x10", 2), "a"},
      {Bytes("\0\x20", 2), "b"},
      {Bytes("\0\x30", 2), "c"},
      {Bytes("\0\x10", 2), "no point"},
      {Bytes("\0\x10\0\x20", 4), "ab" + Bytes(1, '\0')},
      {Bytes("\0\x20\0\x30", 4), "bc" + Bytes(1, '\0')},
      {Bytes("\0\x10\0\x20\0\x30", 6), "abc" + Bytes(1, '\0')},
      {Bytes("\1\0\0", 3), "{}"}};
  const auto& [qualifier, value] = cells[(*random)() % cells.size()];
  switch ((*random)() % 12) {
    case 0:
      return {CellChange::Kind::kDeleteFamily, "t", {}, {}, {}};
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return DeleteColumn("t", qualifier);
    default:
      return PutCell("t", qualifier, value);
  }
}

// A delete of a compacted cell deletes what the row shows after the preceding changes.
TEST_CASE("a mutation with many changes has the same result as its changes one by one") {
  std::mt19937 random(5);
  EmbeddedSubject at_once(KeyLayout(), EmbeddedOptions::DefaultTables(), 1'700'000'000'000);
  EmbeddedSubject singly(KeyLayout(), EmbeddedOptions::DefaultTables(), 1'700'000'000'000);
  auto write_point = [](EmbeddedSubject& subject, uint32_t second) {
    auto series = subject.points().Register(kTsuid);
    REQUIRE(series.ok());
    const PointEntry entry =
        MakePointEntry(*series, Timestamp{int64_t{kBase} + second}, PointValue::Int(7));
    REQUIRE(subject.points().Append({&entry, 1}).ok());
  };
  auto shown = [](EmbeddedSubject& subject, const Bytes& key) {
    auto row = subject.cells().Get("tsdb", key);
    REQUIRE(row.ok());
    std::string text;
    for (const Cell& cell : row->cells)
      text += ToHex(cell.qualifier) + "=" + ToHex(cell.value) + " ";
    return text;
  };
  const Bytes key = codec::MakeRowKey(KeyLayout(), kTsuid, kBase);
  int joined = 0;
  for (int step = 0; step < 2000; ++step) {
    CAPTURE(step);
    if (random() % 3 == 0) {
      const uint32_t second = 1 + random() % 3;
      write_point(at_once, second);
      write_point(singly, second);
    }
    RowMutation mutation{key, {}};
    for (size_t n = 1 + random() % 6; n > 0; --n) mutation.changes.push_back(RandomChange(&random));
    REQUIRE(at_once.cells().Mutate("tsdb", {mutation}).ok());
    for (const CellChange& change : mutation.changes) {
      REQUIRE(singly.cells().Mutate("tsdb", {{key, {change}}}).ok());
    }
    if (random() % 20 == 0) {
      at_once.Disturb();
      singly.Disturb();
    }
    const std::string now = shown(at_once, key);
    REQUIRE(now == shown(singly, key));
    if (now.find("001000200030=") != std::string::npos) ++joined;
  }
  CHECK(joined > 20);
}

}  // namespace
}  // namespace hg
