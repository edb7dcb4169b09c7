#pragma once
// What the edge counts about itself; /api/stats prints them (spec http-api.md §15.1). Relaxed
// atomics: totals, not a consistent snapshot. Shared by all connections, so nothing here is touched
// once per point: batches add their size.

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

  // Without good credentials; with them and without the role.
  Counter unauthorized_http{0}, unauthorized_telnet{0}, forbidden_http{0}, forbidden_telnet{0};

  Counter graph_requests{0};
  // Of requests but puts that the loop finished itself, of plots and of drawing them, of queries'
  // storage.
  Latency all_requests, graphs, drawing, scans;

  Counter query_success{0}, query_invalid{0}, query_exceptions{0};

  Counter points_added{0};
  Counter text_fields{0};  // of InfluxDB's lines, left out
};

}  // namespace hg::http
