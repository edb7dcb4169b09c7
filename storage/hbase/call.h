#pragma once
// Sends one call to HBase and repeats the call if necessary (hbase-backend.md §8). Only files in
// storage/hbase use this file.

#include <functional>
#include <optional>
#include <string>

#include "storage/hbase/gateway_pool.h"

namespace hg::hbase {

/// Whether to repeat a call if the client does not know whether HBase has executed the call.
enum class Repeat : uint8_t { kAlways, kIfNotDone };

struct CallOptions {
  std::string what;   // name of the Thrift method, for error messages
  std::string table;  // "" = the call does not belong to a table
  Repeat repeat = Repeat::kAlways;
  int deadline_ms = 0;  // time limit of the call; 0 = HbaseOptions::deadline_ms
};

/// A report about a call that has ended.
struct CallTrace {
  /// Whether the call was repeated although HBase may have executed an earlier attempt.
  bool repeated_blindly = false;
  int attempts = 0;
};

/// Calls `send` with a connection until `send` succeeds or fails permanently, or the deadline
/// passes. Fails at once if all gateways are unreachable (GatewayPool::Enter). HBase itself reports
/// the failures NotFound, InvalidArgument, Conflict, Unsupported and Busy. LimitExceeded means that
/// the response exceeds the message limit. Unavailable means that HBase is unreachable, or that the
/// client does not know whether HBase has executed the call. The message says which of the two.
Status Call(GatewayPool& pool, const HbaseOptions& options, const CallOptions& call,
            const std::function<void(wire::THBaseServiceClient&)>& send, CallTrace* trace);

/// The result of one attempt to send a call.
struct Attempt {
  Status status;
  bool temporary = false;  // whether another attempt may succeed
  bool uncertain = false;  // whether HBase may have executed the call
  bool lost = false;       // whether the connection was lost
};
Attempt CallOnce(GatewayPool::Lease& lease, const CallOptions& call,
                 const std::function<void(wire::THBaseServiceClient&)>& send);

/// Sleeps before repetition n (n ≥ 1) of a call. The sleep is longer if HBase is busy (`busy`). If
/// the deadline would pass during the sleep, returns false without sleeping. Otherwise returns
/// true.
bool BackOff(const HbaseOptions& options, int n, bool busy, Deadline deadline);

}  // namespace hg::hbase
