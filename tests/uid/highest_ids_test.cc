#include "uid/highest_ids.h"

#include <doctest/doctest.h>

#include "tests/support/away_store.h"
#include "tests/support/model_store.h"

namespace hg::uid {
namespace {

const TableDescriptor kTable{"tsdb-uid", {{"id"}, {"name"}}, false};

TEST_CASE("the highest ids are known once they were read, and read again behind the scenes") {
  ModelStore store;
  REQUIRE(store.CreateTable(kTable).ok());
  Names names(store, {});
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "host").ok());
  HighestIds ids(names, std::chrono::milliseconds(1));
  CHECK_FALSE(ids.Of(UidKind::kTagk));
  ids.Start();
  CHECK(ids.Of(UidKind::kTagk) == 1);
  CHECK(ids.Of(UidKind::kMetric) == 0);
  REQUIRE(names.FindOrAssign(UidKind::kMetric, "m").ok());
  while (ids.Of(UidKind::kMetric) != 1) std::this_thread::yield();
  ids.Stop();
  ids.Stop();
}

TEST_CASE("of a store that is away there are none, and nobody asks it for them") {
  AwayStore store;
  Names names(store, {});
  HighestIds ids(names, std::chrono::hours(1));
  ids.Start();
  const int asked = store.gets;
  CHECK(asked > 0);
  CHECK_FALSE(ids.Of(UidKind::kMetric));
  CHECK(store.gets == asked);
}

}  // namespace
}  // namespace hg::uid
