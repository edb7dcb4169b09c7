// The pool's connections to a fake gateway, and what it knows of the gateway's state.

#include "storage/hbase/gateway_pool.h"

#include <doctest/doctest.h>

#include <new>
#include <thread>

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

TEST_CASE("a connection is reused, and scanners of its gateway stay valid") {
  Rig rig;
  GatewayPool pool(rig.options);
  const uint64_t epoch = Take(pool).epoch();
  CHECK(Take(pool).epoch() == epoch);
}

TEST_CASE("after connections were idle for too long, earlier scanners are not trusted") {
  Rig rig;
  rig.options.idle_ms = 0;
  GatewayPool pool(rig.options);
  const uint64_t epoch = Take(pool).epoch();
  CHECK(Take(pool).epoch() > epoch);
}

TEST_CASE(
    "a connection whose response could not be stored is closed, and another one can be opened") {
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

/// A gateway that can be stopped. After GoAway, the pool knows that the gateway is unreachable,
/// because a call has failed.
struct AwayRig : Rig {
  AwayRig() {
    options.backoff_ms = options.backoff_max_ms = 1;
    options.deadline_ms = 20;
  }
  void GoAway(GatewayPool& pool) {
    gateway.Stop();
    REQUIRE(Greet(pool).code() == StatusCode::kUnavailable);
    // From now on a call that waits would wait for an hour.
    options.deadline_ms = 3'600'000;
  }
  Status Greet(GatewayPool& pool) {
    CallTrace trace;
    return Call(
        pool, options, {"getThriftServerType", ""},
        [](auto& service) { (void)service.getThriftServerType(); }, &trace);
  }
};

TEST_CASE("calls that begin while all gateways are unreachable fail at once with the reason") {
  AwayRig rig;
  rig.options.rest_ms = 3'600'000;
  GatewayPool pool(rig.options);
  CHECK(pool.Enter().refusal().ok());
  CHECK(pool.Reachable().ok());
  rig.GoAway(pool);
  CHECK(pool.Reachable().message().find("cannot be reached") != std::string_view::npos);
  const Status refused = rig.Greet(pool);
  CHECK(refused.code() == StatusCode::kUnavailable);
  CHECK(refused.message().find("cannot be reached") != std::string_view::npos);
  CHECK_FALSE(pool.Enter().looks());
}

TEST_CASE("one call at a time tests whether a gateway is back, without waiting for it") {
  AwayRig rig;
  rig.options.rest_ms = 0;
  GatewayPool pool(rig.options);
  CHECK_FALSE(pool.Enter().looks());
  rig.GoAway(pool);
  {
    const auto one = pool.Enter();
    CHECK(one.looks());
    CHECK(pool.Enter().refusal().code() == StatusCode::kUnavailable);
  }
  CHECK(rig.Greet(pool).code() == StatusCode::kUnavailable);
  GatewayOptions again;
  again.port = rig.gateway.port();
  FakeGateway back([&]() -> Store& { return rig.model; }, again);
  CHECK(rig.Greet(pool).ok());
  CHECK(pool.Reachable().ok());
  const auto open = pool.Enter();
  CHECK(open.refusal().ok());
  CHECK_FALSE(open.looks());
}

TEST_CASE("a call that began before its gateway became unreachable waits until it is back") {
  AwayRig rig;
  GatewayPool pool(rig.options);
  rig.options.deadline_ms = 3'600'000;
  rig.gateway.Stop();
  Status waited;
  std::thread caller([&] { waited = rig.Greet(pool); });
  // Waits until the gateway counts as unreachable. The call above continues nevertheless.
  while (pool.Enter().refusal().ok()) std::this_thread::yield();
  GatewayOptions again;
  again.port = rig.gateway.port();
  FakeGateway back([&]() -> Store& { return rig.model; }, again);
  caller.join();
  CHECK(waited.ok());
  CHECK(pool.Enter().refusal().ok());
}

}  // namespace
}  // namespace hg::hbase
