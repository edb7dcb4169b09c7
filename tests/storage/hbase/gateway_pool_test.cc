// Connections to a gateway of our own, and what is known of them.

#include "storage/hbase/gateway_pool.h"

#include <doctest/doctest.h>

#include <new>

#include "storage/hbase/call.h"
#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"

namespace hg::hbase {
namespace {

struct Rig {
  ModelStore model;
  FakeGateway gateway{[this]() -> Store& { return model; }, {}};
  HbaseOptions options = gateway.ClientOptions();
};

GatewayPool::Lease Take(GatewayPool& pool) {
  auto lease = pool.Take(std::nullopt, std::chrono::steady_clock::now() + std::chrono::seconds(5));
  INFO(lease.status().ToString());
  REQUIRE(lease.ok());
  return std::move(*lease);
}

TEST_CASE("a connection is used again, and what was known of its gateway still holds") {
  Rig rig;
  GatewayPool pool(rig.options);
  const uint64_t epoch = Take(pool).epoch();
  CHECK(Take(pool).epoch() == epoch);
}

TEST_CASE("where connections were idle for too long scanners of before are not trusted") {
  Rig rig;
  rig.options.idle_ms = 0;
  GatewayPool pool(rig.options);
  const uint64_t epoch = Take(pool).epoch();
  CHECK(Take(pool).epoch() > epoch);
}

TEST_CASE("a connection whose answer could not be taken in is closed, and its place is free") {
  Rig rig;
  rig.options.connections = 1;
  GatewayPool pool(rig.options);
  uint64_t epoch = 0;
  {
    auto lease = Take(pool);
    epoch = lease.epoch();
    CHECK_THROWS_AS(CallOnce(lease, {"get", "g"}, [](auto&) { throw std::bad_alloc(); }),
                    std::bad_alloc);
  }
  CHECK(Take(pool).epoch() > epoch);
}

}  // namespace
}  // namespace hg::hbase
