// Memory of one caller runs out at each allocation in turn: every caller gets the results of its
// own puts, and the queue continues.

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "tests/fault/starve.h"
#include "tests/storage/hbase/gateway_bed.h"

namespace hg::hbase {
namespace {

void CheckGoesOn(HbaseStore& store, const Bytes& n) {
  REQUIRE(store.Stats().puts_waiting == 0);
  REQUIRE(store.Mutate("g", {PutRow("k", "after" + n), PutRow("after", n)}).ok());
  REQUIRE(ValueOf(store, "k") == "after" + n);
  REQUIRE(ValueOf(store, "after") == n);
}

TEST_CASE("the queue is usable after a put runs out of memory at any allocation") {
  Bed bed;
  auto store = bed.Connect();
  bool failed = true;
  for (int64_t i = 0; failed; ++i) {
    CAPTURE(i);
    const Bytes n = std::to_string(i);
    const bool ok = Starve(i, &failed, [&] {
      return store->Mutate("g", {PutRow("k", n), PutRow("l", n)});
    });
    if (ok) {
      REQUIRE(ValueOf(*store, "k") == n);
      REQUIRE(ValueOf(*store, "l") == n);
    }
    CheckGoesOn(*store, n);
  }
}

TEST_CASE("if one caller runs out of memory, the others get the results of their puts") {
  Bed bed;
  auto store = bed.Connect();
  bool failed = true;
  for (int64_t i = 0; failed; ++i) {
    CAPTURE(i);
    const Bytes n = std::to_string(i);
    bed.Hold("put");
    Status before;
    std::thread first([&] { before = store->Mutate("g", {PutRow("first", n)}); });
    bed.WaitHeld(1);
    Status other;
    std::thread waits([&] { other = store->Mutate("g", {PutRow("m", n)}); });
    while (store->Stats().puts_waiting == 0) std::this_thread::yield();
    bool starved_ok = false;
    std::thread starves([&] {
      starved_ok = Starve(i, &failed, [&] {
        return store->Mutate("g", {PutRow("k", n), PutRow("l", n)});
      });
    });
    // The waiting caller may get its result before it has begun to wait.
    bed.Release();
    for (std::thread* thread : {&first, &waits, &starves}) thread->join();
    REQUIRE(before.ok());
    REQUIRE((other.ok() || other.code() == StatusCode::kUnavailable));
    if (other.ok()) REQUIRE(ValueOf(*store, "m") == n);
    if (starved_ok) REQUIRE(ValueOf(*store, "l") == n);
    CheckGoesOn(*store, n);
  }
}

}  // namespace
}  // namespace hg::hbase
