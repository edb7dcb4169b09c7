#pragma once
// Statistics of the HBase client since the start of the process. /api/stats returns them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/latency.h"

namespace hg::hbase {

/// Statistics of the spool (spool.h).
struct SpoolStats {
  uint64_t bytes = 0;  // size of the writes that wait in the log of the spool
  int64_t age_ms = 0;  // age of the oldest waiting write, in ms
  // Time in ms since HBase began to reject the first waiting write; 0 if HBase does not reject it.
  int64_t stuck_ms = 0;
  uint64_t rows_taken = 0, rows_replayed = 0;  // number of rows since the start of the daemon
  uint64_t rows_refused = 0;       // rows rejected since the start: the spool was full or failed
  uint64_t replay_rows_per_s = 0;  // recent rate of replay; 0 = no write waits
  std::string failure;             // why replay makes no progress; "" = replay makes progress
  uint64_t rows_set_aside = 0;     // number of rows that HBase rejected permanently
  std::string set_aside;           // newest file of rejected rows, with the reason; "" = none
};

struct HbaseStats {
  static constexpr std::array kPercentiles = {50, 75, 90, 95};

  /// Statistics of the calls of one Thrift method. Fetches of scans are counted under the name
  /// "scan".
  struct Calls {
    std::string method;
    uint64_t calls = 0;
    uint64_t repeats = 0;   // number of attempts, without the first attempt of each call
    uint64_t failures = 0;  // number of calls that failed after all repetitions
    // The number of calls that were not sent because all gateways were unreachable. `calls` does
    // not include these calls.
    uint64_t refused = 0;
    std::array<int64_t, kPercentiles.size()> millis{};  // latency percentiles in ms
    LatencyHistogram took;
  };
  std::vector<Calls> calls;

  struct Connections {
    std::string host;
    int port = 0;
    size_t open = 0, idle = 0;  // number of connections; `open` includes `idle`
    uint64_t opened = 0;        // total number of connections opened since the start
    bool away = false;          // whether the last attempt to reach the gateway failed
  };
  std::vector<Connections> gateways;  // one entry per gateway, in the order of the options

  std::optional<SpoolStats> spool;  // nullopt if there is no spool

  size_t puts_waiting = 0;   // number of puts that wait for a call
  uint64_t put_batches = 0;  // number of calls that carried puts
  uint64_t put_rows = 0;     // number of rows in the calls that carried puts
};

}  // namespace hg::hbase
