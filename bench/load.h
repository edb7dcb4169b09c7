#pragma once
// The load that the ingest measurements send: the TSBS "cpu" shape in several wire formats, whole
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

enum class Wire {
  kPut,       // POST /api/put, OpenTSDB's JSON
  kTelnet,    // "put ..." lines without HTTP
  kInflux,    // POST /write, InfluxDB's line protocol: the metrics of a host are fields of one line
  kGraphite,  // plaintext lines with tags, without HTTP
  kPickle,    // the same points as frames of Graphite's pickles, as carbon's relay sends them
  kRemote,  // POST /api/v1/write, Prometheus' remote write: a series and its sample for each point
  kOtlp,    // POST /v1/metrics, OpenTelemetry's protobuf: a gauge for each point
  kOtlpJson,  // the same in its JSON form
};

/// Not HTTP's: bytes on a connection, which nobody answers.
constexpr bool IsUnanswered(Wire wire) {
  return wire == Wire::kTelnet || wire == Wire::kGraphite || wire == Wire::kPickle;
}
/// Of a request whose points were all taken.
constexpr int StatusOfSuccess(Wire wire) {
  return wire == Wire::kOtlp || wire == Wire::kOtlpJson ? 200 : 204;
}

struct LoadShape {
  Wire wire = Wire::kPut;
  std::string path;  // where requests go; empty: where they usually do
  Values values = Values::kWalk;
  uint32_t hosts = 1000;
  uint32_t metrics = 10;  // of each host, at most kMetricsMax
  uint32_t tags = 4;      // of each host, at most kTagsMax
  uint32_t steps = 200;   // points of each series in the prepared load
  uint32_t step_s = 10;
  uint32_t batch = 5000;          // points a request
  uint32_t start_s = 1700000000;  // time of the first step
  bool milliseconds = false;      // JSON and telnet: times in milliseconds, not seconds
  uint32_t decimals = 2;          // of walks; 0 = integers, 16 = full doubles
  uint64_t seed = 1;
  bool gzip = false;  // bodies compressed, at the level that clients take by default (6); remote
                      // write's are always, by snappy
};
inline constexpr uint32_t kMetricsMax = 10;
inline constexpr uint32_t kTagsMax = 10;

/// Requests of `batch` points each (the last one may have fewer), ordered by time, then host, then
/// metric. One thread at a time.
class Load {
 public:
  /// `host_header` is HTTP's ("127.0.0.1:4242").
  Load(const LoadShape& shape, const std::string& host_header);

  /// Ready to be sent.
  [[nodiscard]] const std::vector<std::string>& requests() const {
    return packs() ? packed_ : requests_;
  }
  [[nodiscard]] uint64_t points() const { return points_; }

  /// Moves every timestamp by the time that the whole load covers, so that the same requests can be
  /// sent once more as the time that follows.
  void MoveOn();
  /// Makes the requests of the time that follows, with values that go on.
  void GoOn();

 private:
  /// A request while it is made: its body, and where timestamps stand in it.
  struct Draft {
    std::string body;
    std::vector<uint32_t> stamps;
    uint32_t points = 0;
  };

  void Generate();
  [[nodiscard]] bool packs() const { return shape_.gzip || shape_.wire == Wire::kRemote; }
  /// 0: integers.
  [[nodiscard]] uint32_t decimals() const {
    return shape_.values == Values::kWalk ? shape_.decimals : 0;
  }
  [[nodiscard]] uint32_t StartOfPass() const;
  [[nodiscard]] size_t StampDigits() const;
  void WriteStamp(char* to, uint32_t seconds) const;
  void AppendStamp(uint32_t seconds, Draft* draft) const;
  void AppendPoint(uint32_t series, uint32_t seconds, Draft* draft);
  void AppendMessage(uint32_t series, uint32_t seconds, Draft* draft);
  void AppendPickled(uint32_t series, uint32_t seconds, Draft* draft);
  void AppendHost(uint32_t host, uint32_t seconds, Draft* draft);
  [[nodiscard]] double NextValue(uint32_t series);
  /// As many decimals as the shape has.
  [[nodiscard]] double NextRounded(uint32_t series);
  void AppendNextValue(uint32_t series, std::string* body);
  void Finish(Draft* draft);
  /// What stands before a body of that size, if it is HTTP's.
  [[nodiscard]] std::string Head(size_t body_bytes) const;
  void Pack();

  const LoadShape shape_;
  std::vector<std::string> metrics_;  // their names
  std::vector<std::string> tags_;     // by host
  const std::string host_header_;
  std::mt19937_64 random_;
  std::normal_distribution<double> move_;
  std::vector<double> values_;  // the last of each series
  std::vector<std::string> requests_;
  std::vector<size_t> heads_;                  // bytes of each request before its body
  std::vector<std::string> packed_;            // the same compressed, if wanted
  std::vector<std::vector<uint32_t>> stamps_;  // where each timestamp begins, by request
  uint32_t passes_ = 0;
  uint64_t points_ = 0;
};

}  // namespace hg::bench
