#pragma once
// The load that the ingest measurements send: the TSBS "cpu" shape as OpenTSDB put requests, whole
// in memory before the clock starts, so that the client costs little beyond its system calls.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hg::bench {

/// What the values do from one point of a series to the next.
enum class Values {
  kWalk,      // a random walk N(0,1) clamped to 0...100
  kCounter,   // an integer that grows by N(500,100) each time
  kConstant,  // an integer below 100 that stays
};

struct LoadShape {
  Values values = Values::kWalk;
  uint32_t hosts = 1000;
  uint32_t metrics = 10;  // of each host, at most kMetricsMax
  uint32_t steps = 200;   // points of each series in the prepared load
  uint32_t step_s = 10;
  uint32_t batch = 5000;          // points a request
  uint32_t start_s = 1700000000;  // time of the first step
  uint32_t decimals = 2;          // of walks; 0 = integers, 16 = full doubles
  uint64_t seed = 1;
  bool lines = false;  // the line protocol ("put ..." lines) instead of HTTP requests
};
inline constexpr uint32_t kMetricsMax = 10;

/// "cpu.usage_user", ...
const char* MetricName(uint32_t metric);

/// HTTP requests, `batch` points each (the last one may have fewer), ordered by time, then host,
/// then metric. One thread at a time.
class Load {
 public:
  Load(const LoadShape& shape, const std::string& host_header);

  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  [[nodiscard]] uint64_t points() const { return points_; }

  /// Moves every timestamp by the time that the whole load covers, so that the same requests can be
  /// sent once more as the time that follows.
  void MoveOn();
  /// Makes the requests of the time that follows, with values that go on.
  void GoOn();

 private:
  void Generate();
  [[nodiscard]] uint32_t StartOfPass() const;
  void AppendNext(uint32_t series, std::string* body);

  const LoadShape shape_;
  std::vector<std::string> tags_;  // by host
  const std::string host_header_;
  std::mt19937_64 random_;
  std::normal_distribution<double> move_;
  std::vector<double> values_;  // the last of each series
  std::vector<std::string> requests_;
  std::vector<std::vector<uint32_t>>
      stamps_;  // where the ten digits of each timestamp stand, by request
  uint32_t passes_ = 0;
  uint64_t points_ = 0;
};

}  // namespace hg::bench
