#pragma once
// The load that the ingest measurements send: the TSBS "cpu" shape as OpenTSDB put requests, whole
// in memory before the clock starts, so that the client costs little beyond its system calls.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hg::bench {

struct LoadShape {
  uint32_t hosts = 1000;
  uint32_t metrics = 10;  // of each host, at most kMetricsMax
  uint32_t steps = 200;   // points of each series in the prepared load
  uint32_t step_s = 10;
  uint32_t batch = 5000;          // points a request
  uint32_t start_s = 1700000000;  // time of the first step
  uint32_t decimals = 2;          // 0 = integers
  uint64_t seed = 1;
  bool lines = false;  // the line protocol ("put ..." lines) instead of HTTP requests
};
inline constexpr uint32_t kMetricsMax = 10;

/// "cpu.usage_user", ...
const char* MetricName(uint32_t metric);

/// HTTP requests, `batch` points each (the last one may have fewer), ordered by time, then host,
/// then metric. Values are random walks N(0,1) clamped to 0...100. One thread at a time.
class Load {
 public:
  Load(const LoadShape& shape, const std::string& host_header);

  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  [[nodiscard]] uint64_t points() const { return points_; }

  /// Moves every timestamp by the time that the whole load covers, so that the same requests can be
  /// sent once more as the time that follows.
  void MoveOn();

 private:
  const LoadShape shape_;
  std::vector<std::string> requests_;
  std::vector<std::vector<uint32_t>>
      stamps_;  // where the ten digits of each timestamp stand, by request
  uint32_t passes_ = 0;
  uint64_t points_ = 0;
};

}  // namespace hg::bench
