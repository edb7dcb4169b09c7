#include "storage/hbase/call.h"

#include <thrift/TApplicationException.h>
#include <thrift/protocol/TProtocolException.h>
#include <thrift/transport/TTransportException.h>

#include <algorithm>
#include <random>
#include <thread>

#include "storage/hbase/failure.h"

namespace hg::hbase {

namespace thrift = apache::thrift;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

std::string Context(const CallOptions& call) {
  return call.table.empty() ? call.what : call.what + " of table " + call.table;
}

Attempt Lost(GatewayPool::Lease& lease, const std::string& why, bool away) {
  Attempt lost{Status::Unavailable(why), true, true, true};
  lease.Break(away ? std::optional(lost.status) : std::nullopt);
  return lost;
}

Attempt ReadApplicationError(GatewayPool::Lease& lease, const CallOptions& call,
                             const thrift::TApplicationException& e) {
  using Type = thrift::TApplicationException;
  // The gateway reports an internal error if HBase's Java client rejects a request. The log of the
  // gateway has the details. Not every server sets the exception type.
  if (e.getType() == Type::INTERNAL_ERROR ||
      std::string_view(e.what()).starts_with("Internal error")) {
    return {Status::InvalidArgument("HBase's gateway refuses " + call.what + ": " + e.what())};
  }
  if (e.getType() == Type::UNKNOWN_METHOD) {
    return {Status::Unsupported("HBase's gateway does not know " + call.what)};
  }
  return Lost(lease, std::string("an invalid response: ") + e.what(), false);
}

}  // namespace

Attempt CallOnce(GatewayPool::Lease& lease, const CallOptions& call,
                 const std::function<void(wire::THBaseServiceClient&)>& send) {
  using Transport = thrift::transport::TTransportException;
  using Protocol = thrift::protocol::TProtocolException;
  try {
    send(lease.client());
    return {};
  } catch (const wire::TIOError& e) {
    const auto can_retry = e.__isset.canRetry ? std::optional(e.canRetry) : std::nullopt;
    const Failure failure = ReadIoError(e.message, can_retry, call.table);
    // If the gateway gave up, it does not know whether the region server executed the call.
    return {failure.status, failure.temporary,
            failure.temporary && failure.status.code() != StatusCode::kBusy, false};
  } catch (const thrift::TApplicationException& e) {
    return ReadApplicationError(lease, call, e);
  } catch (const Transport& e) {
    const bool too_long = e.getType() == Transport::CORRUPTED_DATA ||
                          std::string_view(e.what()).find("MaxMessageSize") != std::string::npos;
    Attempt lost = Lost(lease, e.what(), e.getType() == Transport::TIMED_OUT);
    if (too_long) lost = {Status::LimitExceeded(e.what()), false, true, true};
    return lost;
  } catch (const Protocol& e) {
    Attempt lost = Lost(lease, e.what(), false);
    if (e.getType() == Protocol::SIZE_LIMIT) {
      lost = {Status::LimitExceeded(e.what()), false, true, true};
    }
    return lost;
  } catch (const thrift::TException& e) {
    return Lost(lease, e.what(), false);
  } catch (...) {  // for example bad_alloc: the rest of the response is still unread
    lease.Break(std::nullopt);
    throw;
  }
}

bool BackOff(const HbaseOptions& options, int n, bool busy, Deadline deadline) {
  std::minstd_rand random{std::random_device{}()};
  const int64_t full =
      std::min<int64_t>(int64_t{options.backoff_ms} << std::min(n - 1, 20), options.backoff_max_ms);
  // Half of the wait is random, so that clients that failed together do not retry together.
  int64_t wait_ms = full / 2 + static_cast<int64_t>(random() % static_cast<uint64_t>(full / 2 + 1));
  if (busy) wait_ms = std::min<int64_t>(4 * wait_ms, options.backoff_max_ms);
  if (steady_clock::now() + milliseconds(wait_ms) >= deadline) return false;
  std::this_thread::sleep_for(milliseconds(wait_ms));
  return true;
}

Status Call(GatewayPool& pool, const HbaseOptions& options, const CallOptions& call,
            const std::function<void(wire::THBaseServiceClient&)>& send, CallTrace* trace) {
  const GatewayPool::Entry entry = pool.Enter();
  if (!entry.refusal().ok()) return Prepend(entry.refusal(), Context(call));
  const int patience_ms = call.deadline_ms > 0 ? call.deadline_ms : options.deadline_ms;
  const Deadline deadline = steady_clock::now() + milliseconds(patience_ms);
  for (int n = 1;; ++n) {
    trace->attempts = n;
    Attempt attempt;
    {
      auto lease = pool.Take(std::nullopt, deadline);
      if (lease.ok()) {
        attempt = CallOnce(*lease, call, send);
      } else {
        attempt = {lease.status(), lease.status().code() == StatusCode::kUnavailable, false, true};
      }
    }
    if (attempt.status.ok()) return {};
    const Status failure = Prepend(attempt.status, Context(call));
    if (attempt.uncertain && call.repeat == Repeat::kIfNotDone) {
      return Prepend(failure, "it is not known whether the call was executed");
    }
    if (!attempt.temporary) return failure;
    if (attempt.uncertain) trace->repeated_blindly = true;
    // If a gateway is lost, the next one is tried at once.
    if (attempt.lost && static_cast<size_t>(n) < pool.gateway_count()) continue;
    if (attempt.lost && entry.looks()) return failure;
    const bool busy = attempt.status.code() == StatusCode::kBusy;
    if (!BackOff(options, n, busy, deadline)) return failure;
  }
}

}  // namespace hg::hbase
