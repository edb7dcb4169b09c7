#pragma once
// What HBase's client has done since its start, for /api/stats.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/latency.h"

namespace hg::hbase {

/// Of writes that wait for HBase (spool.h).
struct SpoolStats {
  uint64_t bytes = 0;    // that wait, as they stand in the log
  int64_t age_ms = 0;    // of the oldest of them
  int64_t stuck_ms = 0;  // since HBase refuses the first of them; 0: it takes them
  uint64_t rows_taken = 0, rows_replayed = 0;  // since the start
  uint64_t rows_refused = 0;                   // it was full
  uint64_t replay_rows_per_s = 0;              // lately; 0: nothing waits
  std::string failure;                         // why replaying does not get on; "" = it does
  uint64_t rows_set_aside = 0;                 // HBase refused them for good
  std::string set_aside;                       // where, and why, the last time; "" = never
};

struct HbaseStats {
  static constexpr std::array kPercentiles = {50, 75, 90, 95};

  /// Calls of one of the service's methods; "scan": fetches of scans.
  struct Calls {
    std::string method;
    uint64_t calls = 0;
    uint64_t repeats = 0;   // attempts after the first one of a call
    uint64_t failures = 0;  // calls that failed in the end
    uint64_t refused = 0;   // not sent, and not among the calls: every gateway was away
    std::array<int64_t, kPercentiles.size()> millis{};  // that so many percent stayed within
    LatencyHistogram took;
  };
  std::vector<Calls> calls;

  struct Connections {
    std::string host;
    int port = 0;
    size_t open = 0, idle = 0;  // the idle ones are open, too
    uint64_t opened = 0;        // so far
    bool away = false;          // could not be reached the last time
  };
  std::vector<Connections> gateways;  // as in the options

  std::optional<SpoolStats> spool;  // none: there is none

  size_t puts_waiting = 0;   // for a call to go with
  uint64_t put_batches = 0;  // calls that rows of puts went in …
  uint64_t put_rows = 0;     // … and these rows
};

}  // namespace hg::hbase
