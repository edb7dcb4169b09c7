#pragma once
// What the store and its scans share. Inside of this folder only.

#include <chrono>

#include "storage/hbase/call.h"
#include "storage/hbase/call_counters.h"

namespace hg::hbase {

/// Thread-safe.
struct Client {
  explicit Client(HbaseOptions with) : options(std::move(with)), pool(options) {}

  Status Send(const CallOptions& call, const std::function<void(wire::THBaseServiceClient&)>& send,
              CallTrace* trace = nullptr) {
    CallTrace own;
    if (trace == nullptr) trace = &own;
    const auto begin = std::chrono::steady_clock::now();
    Status status = Call(pool, options, call, send, trace);
    // Calls that were refused at once would make it look quick.
    if (trace->attempts > 0) {
      counters.Count(call.what, trace->attempts, std::chrono::steady_clock::now() - begin, status);
    } else {
      counters.CountRefused(call.what);
    }
    return status;
  }

  const HbaseOptions options;
  GatewayPool pool;
  CallCounters counters;
};

}  // namespace hg::hbase
