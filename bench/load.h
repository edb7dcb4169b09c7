#pragma once
// The load of the ingest benchmarks: the TSBS "cpu" data set in several wire formats. All requests
// are prepared in memory before the measurement, so that the client mostly spends its time in
// system calls.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hg::bench {

/// The way in which the values of a series change from one point to the next.
enum class Values {
  kWalk,      // a random walk with steps N(0,1), clamped to 0...100
  kCounter,   // an integer that grows by N(500,100) at each step
  kConstant,  // a constant integer below 100
};

enum class Wire {
  kPut,       // OpenTSDB's JSON: POST /api/put
  kTelnet,    // OpenTSDB's telnet protocol: lines "put ...", without HTTP
  kInflux,    // InfluxDB's line protocol: POST /write; the metrics of a host are fields of one line
  kGraphite,  // Graphite's plaintext protocol with tags, without HTTP
  /// The points of kGraphite in frames of Graphite's pickle protocol, as carbon's relay sends them.
  kPickle,
  /// Prometheus' remote write: POST /api/v1/write; each point is one series with one sample.
  kRemote,
  kOtlp,      // OpenTelemetry's protobuf: POST /v1/metrics; each point is one gauge
  kOtlpJson,  // OpenTelemetry's JSON: the points of kOtlp in JSON instead of protobuf
};

/// Returns whether the format does not use HTTP. In these formats, the client sends bytes on a
/// connection and gets no responses.
constexpr bool IsUnanswered(Wire wire) {
  return wire == Wire::kTelnet || wire == Wire::kGraphite || wire == Wire::kPickle;
}
/// Returns the HTTP status that the server sends if it accepted all points of a request.
constexpr int StatusOfSuccess(Wire wire) {
  return wire == Wire::kOtlp || wire == Wire::kOtlpJson ? 200 : 204;
}

struct LoadShape {
  Wire wire = Wire::kPut;
  std::string path;  // path of the requests; "" = the default path of the format
  Values values = Values::kWalk;
  uint32_t hosts = 1000;
  uint32_t metrics = 10;  // number of metrics per host, at most kMetricsMax
  uint32_t tags = 4;      // number of tags per host, at most kTagsMax
  uint32_t steps = 200;   // number of points of each series in the prepared load
  uint32_t step_s = 10;
  uint32_t batch = 5000;          // number of points per request
  uint32_t start_s = 1700000000;  // time of the first step, in seconds
  bool milliseconds = false;  // whether times in JSON and telnet are in milliseconds, not seconds
  // The number of digits after the decimal point in the values of random walks. 0 = integers, 16 =
  // doubles with all their digits.
  uint32_t decimals = 2;
  uint64_t seed = 1;
  /// Whether to compress bodies with gzip level 6; remote write always uses snappy.
  bool gzip = false;
};
inline constexpr uint32_t kMetricsMax = 10;
inline constexpr uint32_t kTagsMax = 10;

/// The prepared requests of a load. Each request has `batch` points; the last request may have
/// fewer. Points are sorted by time, then by host, then by metric. Only one thread at a time may
/// use the object.
class Load {
 public:
  /// `host_header` is the value of the HTTP header Host, such as "127.0.0.1:4242".
  Load(const LoadShape& shape, const std::string& host_header);

  /// Returns the complete requests. They can be sent without changes.
  [[nodiscard]] const std::vector<std::string>& requests() const {
    return packs() ? packed_ : requests_;
  }
  [[nodiscard]] uint64_t points() const { return points_; }

  /// Moves every timestamp forward by the duration of the whole load. The same requests with the
  /// same values can then be sent again, as the next period of the series.
  void MoveOn();
  /// Replaces the requests by the requests of the next period. Their new values continue the values
  /// of the previous period.
  void GoOn();

 private:
  /// A request that is being built: its body, and the positions of the timestamps in the body.
  struct Draft {
    std::string body;
    std::vector<uint32_t> stamps;
    uint32_t points = 0;
  };

  void Generate();
  [[nodiscard]] bool packs() const { return shape_.gzip || shape_.wire == Wire::kRemote; }
  /// Returns the number of digits after the decimal point in the values; 0 means integers.
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
  /// Computes the next value of a series, and returns it rounded to the number of decimals of the
  /// load.
  [[nodiscard]] double NextRounded(uint32_t series);
  void AppendNextValue(uint32_t series, std::string* body);
  void Finish(Draft* draft);
  /// Returns the HTTP head for a body of `body_bytes` bytes; "" for formats that do not use HTTP.
  [[nodiscard]] std::string Head(size_t body_bytes) const;
  void Pack();

  const LoadShape shape_;
  std::vector<std::string> metrics_;  // names of the metrics
  std::vector<std::string> tags_;     // the tags of each host; the index is the host
  const std::string host_header_;
  std::mt19937_64 random_;
  std::normal_distribution<double> move_;
  std::vector<double> values_;  // the newest value of each series
  std::vector<std::string> requests_;
  std::vector<size_t> heads_;        // the size of the HTTP head of each request
  std::vector<std::string> packed_;  // the compressed requests; used only if packs() is true
  std::vector<std::vector<uint32_t>> stamps_;  // the positions of the timestamps in each request
  uint32_t passes_ = 0;
  uint64_t points_ = 0;
};

}  // namespace hg::bench
