#include "tests/support/model_store.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/support/manual_clock.h"

namespace hg {
namespace {

struct TemporaryFile {
  std::string path = "/tmp/hg_model_store_test." + std::to_string(getpid());
  ~TemporaryFile() { std::remove(path.c_str()); }
};

TEST_CASE("a saved model loads with its cells, times and delete marks") {
  ManualClock clock(1000);
  ModelStore store(clock);
  REQUIRE(store.CreateTable({"g", {{"a"}, {"b"}}, false}).ok());
  REQUIRE(store.CreateTable({"p", {{"t"}}, true}).ok());
  Bytes odd("\0\n x", 4);
  REQUIRE(store.Mutate("g", {{odd, {PutCell("a", "", odd), PutCell("b", "q", "")}}}).ok());
  REQUIRE(store.Mutate("g", {{odd, {DeleteColumn("b", "q")}}}).ok());
  REQUIRE(store.Mutate("p", {{"k", {PutCell("t", "q", "v")}}}).ok());

  TemporaryFile file;
  REQUIRE(store.SaveTo(file.path).ok());
  ModelStore loaded(clock);
  REQUIRE(loaded.LoadFrom(file.path).ok());
  CHECK(loaded.ListTables()->size() == 2);
  CHECK(loaded.Get("g", odd)->cells == store.Get("g", odd)->cells);
  CHECK(loaded.Get("p", "k")->cells == std::vector<Cell>{{"t", "q", "v", 1003}});
  // The tombstone of b:q survived: an older put stays hidden.
  CellChange old = PutCell("b", "q", "old");
  old.timestamp_ms = 1000;
  REQUIRE(loaded.Mutate("g", {{odd, {old}}}).ok());
  CHECK(loaded.Get("g", odd, "b")->empty());
}

TEST_CASE("a file that no model wrote is refused with its line") {
  TemporaryFile file;
  CHECK(ModelStore().LoadFrom(file.path).code() == StatusCode::kNotFound);
  for (const char* bad :
       {"stamp 1\nevent 0 x61 x62 5 6 x00\n", "table x61\n", "stamp 1\ntable x6 0\n",
        "table x61 0\nrow x61\nevent 0 x62 x 5\n", "what\n"}) {
    std::ofstream(file.path) << bad;
    Status status = ModelStore().LoadFrom(file.path);
    CHECK_MESSAGE(status.code() == StatusCode::kCorruption, bad);
    CHECK(status.message().find("line") != std::string_view::npos);
  }
}

}  // namespace
}  // namespace hg
