#pragma once
// Counters of the network layer; /api/stats prints them (opentsdb-http-api.md §15.1). Each counter
// is a relaxed atomic, so several counters that are read together are not a consistent snapshot.
// All connections share the counters, so code adds to a counter once per batch, not once per point.

#include <atomic>
#include <cstdint>

#include "storage/base/latency.h"

namespace hg::http {

struct Counters {
  using Counter = std::atomic<uint64_t>;

  Counter connections_open{0}, connections_rejected{0}, connections_total{0};
  Counter exceptions_closed{0}, exceptions_reset{0}, exceptions_timeout{0}, exceptions_unknown{0};

  Counter rpc_telnet{0}, rpc_http{0}, rpc_http_plugin{0}, rpc_put{0}, rpc_influx{0},
      rpc_graphite{0}, rpc_exceptions{0};
  Counter put_storage_errors{0}, put_invalid_values{0}, put_illegal_arguments{0},
      put_unknown_metrics{0}, put_writes_blocked{0};

  // The counters unauthorized_* count requests without valid credentials. The counters forbidden_*
  // count requests with valid credentials whose user lacks the required role. forbidden_http also
  // counts requests with an unknown host name, and requests from pages of other sites.
  Counter unauthorized_http{0}, unauthorized_telnet{0}, forbidden_http{0}, forbidden_telnet{0};

  /// The number of the stalls of event loops, and their total time in milliseconds
  /// (http/request/turn_watch.h).
  Counter loop_stalls{0}, loop_stall_ms{0};

  Counter graph_requests{0};
  // `all_requests` measures all HTTP requests that a handler served, on an event loop or on a pool
  // thread. It does not measure writes on the fast path, which have no handler. `graphs` measures
  // requests for plots, and `drawing` only the drawing of these plots. `scans` measures only the
  // reading of the store for queries.
  Latency all_requests, graphs, drawing, scans;

  Counter query_success{0}, query_invalid{0}, query_exceptions{0};

  Counter points_added{0};
  Counter text_fields{0};  // number of skipped InfluxDB fields whose value is text
};

}  // namespace hg::http
