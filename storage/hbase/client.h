#pragma once
// What the store and its scans share. Inside of this folder only.

#include "storage/hbase/call.h"

namespace hg::hbase {

/// Thread-safe.
struct Client {
  explicit Client(HbaseOptions with) : options(std::move(with)), pool(options) {}

  Status Send(const CallOptions& call, const std::function<void(wire::THBaseServiceClient&)>& send,
              CallTrace* trace = nullptr) {
    return Call(pool, options, call, send, trace);
  }

  const HbaseOptions options;
  GatewayPool pool;
};

}  // namespace hg::hbase
