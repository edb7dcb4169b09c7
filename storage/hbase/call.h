#pragma once
// Sends one call to HBase and repeats it if necessary (hbase-backend.md §8). Only this folder uses
// this file.

#include <functional>
#include <optional>
#include <string>

#include "storage/hbase/gateway_pool.h"

namespace hg::hbase {

/// Whether to repeat a call when it is not known whether HBase has executed it.
enum class Repeat : uint8_t { kAlways, kIfNotDone };

struct CallOptions {
  std::string what;   // name of the Thrift method, for messages
  std::string table;  // "" = the call concerns no table
  Repeat repeat = Repeat::kAlways;
  int deadline_ms = 0;  // 0 = the deadline of the options
};

/// What happened during a call that has ended.
struct CallTrace {
  /// Whether the call was repeated although an earlier attempt may have been executed.
  bool repeated_blindly = false;
  int attempts = 0;
};

/// Calls `send` with a connection until it succeeds, fails permanently, or the deadline passes.
/// Fails at once if all gateways are unreachable (GatewayPool::Enter). NotFound, InvalidArgument,
/// Conflict, Unsupported and Busy are failures that HBase reports. LimitExceeded: the response
/// exceeds the message limit. Unavailable: HBase is unreachable, or it is unknown whether the call
/// was executed; the message says which of the two.
Status Call(GatewayPool& pool, const HbaseOptions& options, const CallOptions& call,
            const std::function<void(wire::THBaseServiceClient&)>& send, CallTrace* trace);

/// The result of one attempt.
struct Attempt {
  Status status;
  bool temporary = false;  // whether another attempt may succeed
  bool uncertain = false;  // whether HBase may have executed the call
  bool lost = false;       // whether the connection was lost
};
Attempt CallOnce(GatewayPool::Lease& lease, const CallOptions& call,
                 const std::function<void(wire::THBaseServiceClient&)>& send);

/// Sleeps before repetition n (n ≥ 1) of a call. If the deadline would pass meanwhile, returns
/// false without sleeping.
bool BackOff(const HbaseOptions& options, int n, bool busy, Deadline deadline);

}  // namespace hg::hbase
