#pragma once
// One call to HBase with its repetitions (spec hbase-backend.md §8). Inside of this folder only.

#include <functional>
#include <optional>
#include <string>

#include "storage/hbase/gateway_pool.h"

namespace hg::hbase {

/// Whether a call may be sent again when nobody knows if it was carried out.
enum class Repeat : uint8_t { kAlways, kIfNotDone };

struct CallOptions {
  std::string what;   // of the service's method, for messages
  std::string table;  // "" = of none
  Repeat repeat = Repeat::kAlways;
  int deadline_ms = 0;  // 0 = as the options say
};

/// What is known when a call has ended.
struct CallTrace {
  /// An earlier attempt may have been carried out.
  bool repeated_blindly = false;
  int attempts = 0;
};

/// Calls `send` with a connection until it succeeds, fails for good, or the deadline passes. One
/// that begins while every gateway is away fails at once (GatewayPool::Enter). Errors: NotFound,
/// InvalidArgument, Conflict, Unsupported, Busy; LimitExceeded: the answer is longer than a message
/// may be; Unavailable: HBase is away, or it is not known whether the call was carried out (the
/// message says so).
Status Call(GatewayPool& pool, const HbaseOptions& options, const CallOptions& call,
            const std::function<void(wire::THBaseServiceClient&)>& send, CallTrace* trace);

/// The same, once, on a connection that is taken already.
struct Attempt {
  Status status;
  bool temporary = false;  // worth another try
  bool uncertain = false;  // it may have been carried out
  bool lost = false;       // so was the connection
};
Attempt CallOnce(GatewayPool::Lease& lease, const CallOptions& call,
                 const std::function<void(wire::THBaseServiceClient&)>& send);

/// Sleeps before repetition n (from 1 on) of something; false: the deadline would pass meanwhile.
bool BackOff(const HbaseOptions& options, int n, bool busy, Deadline deadline);

}  // namespace hg::hbase
