#include "uid/highest_ids.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>

#include "tests/support/away_store.h"
#include "tests/support/model_store.h"

namespace hg::uid {
namespace {

const TableDescriptor kTable{"tsdb-uid", {{"id"}, {"name"}}, false};

TEST_CASE("the highest ids are known after the first read, and are read again in the background") {
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

TEST_CASE("an unreachable store has no highest ids, and requests do not wait for it") {
  AwayStore store;
  Names names(store, {});
  HighestIds ids(names, std::chrono::hours(1));
  ids.Start();
  const int asked = store.gets;
  CHECK(asked > 0);
  CHECK_FALSE(ids.Of(UidKind::kMetric));
  CHECK(store.gets == asked);
}

/// A store that fails each read of a row with bad_alloc while a flag is set.
class StarvedStore : public ModelStore {
 public:
  Result<Row> GetCells(const std::string& table, ByteView key,
                       const CellSelection& wanted) override {
    ++gets;
    if (starves) throw std::bad_alloc();
    return ModelStore::GetCells(table, key, wanted);
  }
  std::atomic<int> gets{0};
  std::atomic<bool> starves{false};
};

TEST_CASE("ids that cannot be read for lack of memory are read later") {
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
