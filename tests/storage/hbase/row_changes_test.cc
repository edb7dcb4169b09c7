#include "storage/hbase/row_changes.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace hg::hbase {
namespace {

using Kind = CellChange::Kind;

std::string Settled(const std::vector<CellChange>& changes,
                    const std::vector<Bytes>& present = {}) {
  auto settled =
      SettleOrder(changes, [&](const Bytes&) -> Result<std::vector<Bytes>> { return present; });
  REQUIRE(settled.ok());
  std::vector<std::string> texts;
  for (const CellChange& change : *settled) {
    const char* kinds[] = {"put", "column", "family", "version", "family_version"};
    std::string text = kinds[static_cast<size_t>(change.kind)];
    text += " " + change.family + ":" + change.qualifier;
    if (change.kind == Kind::kPut) text += "=" + change.value;
    if (change.timestamp_ms) text += "@" + std::to_string(*change.timestamp_ms);
    texts.push_back(text);
  }
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += text + "; ";
  return all;
}

CellChange At(CellChange change, int64_t ms) {
  change.timestamp_ms = ms;
  return change;
}

CellChange Family(Bytes family) { return {Kind::kDeleteFamily, std::move(family), {}, {}, {}, {}}; }
CellChange Newest(Bytes family, Bytes qualifier) {
  return {Kind::kDeleteVersion, std::move(family), std::move(qualifier), {}, {}, {}};
}

TEST_CASE("of several puts of a column the last one stays, unless their times differ") {
  CHECK(Settled({PutCell("a", "q", "1"), PutCell("a", "q", "2")}) == "put a:q=2; ");
  CHECK(Settled({PutCell("a", "q", "1"), PutCell("b", "q", "2")}) == "put a:q=1; put b:q=2; ");
  CHECK(Settled({At(PutCell("a", "q", "1"), 5), PutCell("a", "q", "2"),
                 At(PutCell("a", "q", "3"), 5)}) == "put a:q=2; put a:q=3@5; ");
}

TEST_CASE("a put after a delete of its column replaces it, and a delete after a put removes it") {
  CHECK(Settled({DeleteColumn("a", "q"), PutCell("a", "q", "1")}) == "put a:q=1; ");
  CHECK(Settled({PutCell("a", "q", "1"), DeleteColumn("a", "q")}) == "column a:q; ");
  CHECK(Settled({PutCell("a", "q", "1"), DeleteColumn("a", "r")}) == "column a:r; put a:q=1; ");
  CHECK(Settled({PutCell("a", "q", "1"), DeleteColumn("a", "q"), PutCell("a", "q", "2")}) ==
        "put a:q=2; ");
}

TEST_CASE("a delete of a family before a put becomes deletes of its existing columns") {
  CHECK(Settled({Family("a"), PutCell("a", "q", "1")}, {"p", "q", "r"}) ==
        "column a:p; column a:r; put a:q=1; ");
  CHECK(Settled({PutCell("a", "q", "1"), Family("a")}, {"p"}) == "family a:; ");
  CHECK(Settled({PutCell("b", "q", "1"), Family("a")}, {"p"}) == "family a:; put b:q=1; ");
  CHECK(Settled({Family("a"), PutCell("a", "q", "1"), Family("a")}, {"p"}) == "family a:; ");
}

TEST_CASE("a delete of the newest version removes the put of the same mutation") {
  CHECK(Settled({PutCell("a", "q", "1"), Newest("a", "q")}).empty());
  CHECK(Settled({PutCell("a", "r", "1"), Newest("a", "q")}) == "put a:r=1; version a:q; ");
}

TEST_CASE("changes with their own times stay unchanged") {
  CHECK(Settled({At(DeleteColumn("a", "q"), 5), PutCell("a", "q", "1")}) ==
        "column a:q@5; put a:q=1; ");
  CHECK(Settled({At(PutCell("a", "q", "1"), 5), DeleteColumn("a", "q")}) ==
        "column a:q; put a:q=1@5; ");
  CHECK(Settled({At(Family("a"), 5), PutCell("a", "q", "1")}, {"p"}) == "family a:@5; put a:q=1; ");
}

TEST_CASE("only deletes without a time of their own count as deletes at the current time") {
  CHECK(DeletesNow({PutCell("a", "q", "1"), DeleteColumn("a", "r")}));
  CHECK_FALSE(DeletesNow({PutCell("a", "q", "1"), At(DeleteColumn("a", "r"), 5)}));
}

}  // namespace
}  // namespace hg::hbase
