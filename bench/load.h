#pragma once
// The load of the ingest measurements: the TSBS "cpu" data set in several wire formats. All
// requests are prepared in memory before the measurement, so the client mostly spends time in
// system calls.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hg::bench {

/// The way in which the values of a series change from point to point.
enum class Values {
  kWalk,      // a random walk N(0,1) clamped to 0...100
  kCounter,   // an integer that grows by N(500,100) at each step
  kConstant,  // a constant integer below 100
};

enum class Wire {
  kPut,       // POST /api/put, OpenTSDB's JSON
  kTelnet,    // "put ..." lines without HTTP
  kInflux,    // POST /write, InfluxDB's line protocol: the metrics of a host are fields of a line
  kGraphite,  // plaintext lines with tags, without HTTP
  kPickle,  // the points of kGraphite as frames of its pickle protocol, as carbon's relay sends it
  kRemote,  // POST /api/v1/write, Prometheus' remote write: one series with one sample per point
  kOtlp,    // POST /v1/metrics, OpenTelemetry's protobuf: one gauge per point
  kOtlpJson,  // the same as kOtlp, but JSON instead of protobuf
};

/// True if the format is not HTTP: the client sends bytes on a connection and gets no responses.
constexpr bool IsUnanswered(Wire wire) {
  return wire == Wire::kTelnet || wire == Wire::kGraphite || wire == Wire::kPickle;
}
/// Returns the HTTP status of the response to a request whose points were all accepted.
constexpr int StatusOfSuccess(Wire wire) {
  return wire == Wire::kOtlp || wire == Wire::kOtlpJson ? 200 : 204;
}

struct LoadShape {
  Wire wire = Wire::kPut;
  std::string path;  // path of the requests; empty: the default of the format
  Values values = Values::kWalk;
  uint32_t hosts = 1000;
  uint32_t metrics = 10;  // metrics per host, at most kMetricsMax
  uint32_t tags = 4;      // tags per host, at most kTagsMax
  uint32_t steps = 200;   // points per series in the prepared load
  uint32_t step_s = 10;
  uint32_t batch = 5000;          // points per request
  uint32_t start_s = 1700000000;  // time of the first step
  bool milliseconds = false;      // times of JSON and telnet in milliseconds, not seconds
  // Decimal digits of the values of random walks; 0 = integers, 16 = doubles with all digits.
  uint32_t decimals = 2;
  uint64_t seed = 1;
  bool gzip = false;  // compress bodies at level 6; remote write always uses snappy
};
inline constexpr uint32_t kMetricsMax = 10;
inline constexpr uint32_t kTagsMax = 10;

/// Requests with `batch` points each; the last one may have fewer. Points are sorted by time, then
/// by host, then by metric. Use on one thread at a time.
class Load {
 public:
  /// `host_header` is the value of the HTTP header Host, such as "127.0.0.1:4242".
  Load(const LoadShape& shape, const std::string& host_header);

  /// The complete requests, ready to be sent.
  [[nodiscard]] const std::vector<std::string>& requests() const {
    return packs() ? packed_ : requests_;
  }
  [[nodiscard]] uint64_t points() const { return points_; }

  /// Moves every timestamp forward by the duration of the whole load, so that the same requests can
  /// be sent again as the following period.
  void MoveOn();
  /// Replaces the requests by the requests of the next period. Their values continue the series.
  void GoOn();

 private:
  /// A request under construction: its body, and the positions of the timestamps in it.
  struct Draft {
    std::string body;
    std::vector<uint32_t> stamps;
    uint32_t points = 0;
  };

  void Generate();
  [[nodiscard]] bool packs() const { return shape_.gzip || shape_.wire == Wire::kRemote; }
  /// Returns the number of decimal digits of the values; 0 means integers.
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
  /// Returns the next value of a series, rounded to the number of decimals that the load has.
  [[nodiscard]] double NextRounded(uint32_t series);
  void AppendNextValue(uint32_t series, std::string* body);
  void Finish(Draft* draft);
  /// Returns the HTTP head for a body of that size; "" for formats without HTTP.
  [[nodiscard]] std::string Head(size_t body_bytes) const;
  void Pack();

  const LoadShape shape_;
  std::vector<std::string> metrics_;  // names of the metrics
  std::vector<std::string> tags_;     // indexed by host
  const std::string host_header_;
  std::mt19937_64 random_;
  std::normal_distribution<double> move_;
  std::vector<double> values_;  // last value of each series
  std::vector<std::string> requests_;
  std::vector<size_t> heads_;                  // size of the head of each request
  std::vector<std::string> packed_;            // compressed requests, if compression is on
  std::vector<std::vector<uint32_t>> stamps_;  // positions of the timestamps in each request
  uint32_t passes_ = 0;
  uint64_t points_ = 0;
};

}  // namespace hg::bench
