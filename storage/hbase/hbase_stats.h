#pragma once
// What HBase's client has done since its start, for /api/stats.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hg::hbase {

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

  size_t puts_waiting = 0;   // for a call to go with
  uint64_t put_batches = 0;  // calls that rows of puts went in …
  uint64_t put_rows = 0;     // … and these rows
};

}  // namespace hg::hbase
