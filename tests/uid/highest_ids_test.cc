#include "uid/highest_ids.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>

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

/// Memory is wanting for each Get, for as long as it says.
class StarvedStore : public ModelStore {
 public:
  Result<Row> Get(const std::string& table, ByteView key, ByteView family,
                  const std::vector<Bytes>& qualifiers) override {
    ++gets;
    if (starves) throw std::bad_alloc();
    return ModelStore::Get(table, key, family, qualifiers);
  }
  std::atomic<int> gets{0};
  std::atomic<bool> starves{false};
};

TEST_CASE("what cannot be read for want of memory is read when there is some") {
  StarvedStore store;
  REQUIRE(store.CreateTable(kTable).ok());
  Names names(store, {});
  REQUIRE(names.FindOrAssign(UidKind::kMetric, "m").ok());
  store.starves = true;
  store.gets = 0;
  HighestIds ids(names, std::chrono::milliseconds(1));
  ids.Start();
  while (store.gets < 2 * 3) std::this_thread::yield();
  CHECK_FALSE(ids.Of(UidKind::kMetric));
  store.starves = false;
  while (ids.Of(UidKind::kMetric) != 1) std::this_thread::yield();
}

}  // namespace
}  // namespace hg::uid
