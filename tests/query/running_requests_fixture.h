#pragma once
// The running requests of one daemon, for tests.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "query/request/running_requests.h"
#include "tests/support/manual_clock.h"

namespace hg::query {

inline constexpr uint64_t kManySteps = 1
                                       << 20;  // after this many steps, a request checks its limits

/// The running requests of a daemon without a store, and the clock of their time limits.
struct Queries {
  explicit Queries(const Options& options = {}) : running(options, clock) {}

  /// Begins a query. If `client` has no address, it gets the address 10.0.0.9:1.
  std::unique_ptr<RunningRequest> Begin(RequestClient client = {},
                                        const std::string& start = "1h-ago") {
    if (client.remote.empty()) client.remote = "10.0.0.9:1";
    Request query;
    query.start = start;
    auto request = running.Begin("GET /api/query", std::move(client));
    CHECK(request->BecomeQuery(query, {}).ok());
    return request;
  }

  ManualClock clock{1'500'000'000'000};
  RunningRequests running;
};

inline RequestClient From(const std::string& remote) {
  RequestClient client;
  client.remote = remote;
  return client;
}

}  // namespace hg::query
