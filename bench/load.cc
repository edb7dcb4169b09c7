#include "bench/load.h"

#include <libdeflate.h>
#include <snappy.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/measuring.h"
#include "bench/protobuf_points.h"

namespace hg::bench {
namespace {

constexpr std::array<const char*, kMetricsMax> kMetrics = {
    "cpu.usage_user",   "cpu.usage_system",    "cpu.usage_idle",    "cpu.usage_nice",
    "cpu.usage_iowait", "cpu.usage_irq",       "cpu.usage_softirq", "cpu.usage_steal",
    "cpu.usage_guest",  "cpu.usage_guest_nice"};
constexpr std::array<const char*, kTagsMax> kTagNames = {
    "hostname", "region",          "datacenter",         "rack", "os", "arch", "team",
    "service",  "service_version", "service_environment"};
constexpr std::array<const char*, 4> kRegions = {"eu-west-1", "eu-central-1", "us-east-1",
                                                 "us-west-2"};
constexpr std::array<const char*, 3> kSystems = {"Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"};
constexpr std::array<const char*, 2> kArchitectures = {"x64", "x86"};
constexpr std::array<const char*, 4> kTeams = {"SF", "NYC", "LON", "CHI"};
constexpr std::array<const char*, 3> kEnvironments = {"production", "staging", "test"};
constexpr int kGzipLevel = 6;
constexpr uint32_t kScaledDecimalsMax = 15;  // more: a double as it is

/// Picks by the number of the host, without two tags that always change together.
template <size_t N>
const char* Pick(const std::array<const char*, N>& from, uint32_t number) {
  return from[number % N];
}

std::array<std::string, kTagsMax> TagValues(uint32_t host) {
  const std::string region = Pick(kRegions, host);
  return {"host_" + std::to_string(host),
          region,
          region + static_cast<char>('a' + host / 7 % 3),
          std::to_string(host % 100),
          Pick(kSystems, host / 3),
          Pick(kArchitectures, host / 5),
          Pick(kTeams, host / 11),
          std::to_string(host / 13 % 20),
          std::to_string(host / 17 % 2),
          Pick(kEnvironments, host / 19)};
}

/// The tags of a host as the wire format has them: in JSON with what closes a point behind them.
std::string Tags(uint32_t host, uint32_t count, Wire wire) {
  const auto values = TagValues(host);
  std::map<std::string, std::string> sorted;  // as remote write wants its labels
  for (size_t i = 0; i < count; ++i) sorted[kTagNames[i]] = values[i];
  std::string text = wire == Wire::kPut ? R"("tags":{)" : "";
  for (size_t i = 0; i < count; ++i) {
    const std::string name = kTagNames[i];
    switch (wire) {
      case Wire::kPut:
        text.append(i == 0 ? "\"" : ",\"").append(name).append(R"(":")");
        text.append(values[i]).append("\"");
        break;
      case Wire::kTelnet:
        text.append(" ").append(name).append("=").append(values[i]);
        break;
      case Wire::kInflux:
        text.append(",").append(name).append("=").append(values[i]);
        break;
      case Wire::kGraphite:
        text.append(";").append(name).append("=").append(values[i]);
        break;
      case Wire::kRemote:
        break;
      case Wire::kOtlp:
        AppendOtlpAttribute(name, values[i], &text);
        break;
    }
  }
  if (wire == Wire::kRemote) {
    for (const auto& [name, value] : sorted) AppendRemoteLabel(name, value, &text);
  }
  if (wire == Wire::kPut) return text + "}},";
  return wire == Wire::kTelnet ? text + "\n" : text;
}

void AppendValue(std::string* out, double value, uint32_t decimals) {
  std::array<char, 32> text;
  auto end = decimals == 0
                 ? std::to_chars(text.data(), text.data() + text.size(), std::lround(value)).ptr
                 : std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, static_cast<int>(decimals))
                       .ptr;
  out->append(text.data(), end);
}

/// "cpu.usage_user", ...; Prometheus knows no dots in names.
std::string MetricName(uint32_t metric, Wire wire) {
  std::string name = kMetrics[metric];
  if (wire == Wire::kRemote) std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::pair<const char*, const char*> PathAndType(Wire wire) {
  switch (wire) {
    case Wire::kInflux:
      return {"/write?db=opentsdb", "text/plain"};
    case Wire::kRemote:
      return {"/api/v1/write", "application/x-protobuf"};
    case Wire::kOtlp:
      return {"/v1/metrics", "application/x-protobuf"};
    default:
      return {"/api/put", "application/json"};
  }
}

void Gzip(std::string_view plain, std::string* packed) {
  thread_local const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)>
      compressor(libdeflate_alloc_compressor(kGzipLevel), libdeflate_free_compressor);
  packed->resize(libdeflate_gzip_compress_bound(compressor.get(), plain.size()));
  const size_t size = libdeflate_gzip_compress(compressor.get(), plain.data(), plain.size(),
                                               packed->data(), packed->size());
  if (size == 0) Die("a body cannot be compressed");
  packed->resize(size);
}

}  // namespace

Load::Load(const LoadShape& shape, const std::string& host_header)
    : shape_(shape),
      host_header_(host_header),
      random_(shape.seed),
      values_(size_t{shape.hosts} * shape.metrics) {
  for (uint32_t i = 0; i < shape.metrics; ++i) metrics_.push_back(MetricName(i, shape.wire));
  tags_.reserve(shape.hosts);
  for (uint32_t host = 0; host < shape.hosts; ++host) {
    tags_.push_back(Tags(host, shape.tags, shape.wire));
  }
  const bool counter = shape.values == Values::kCounter;
  std::uniform_real_distribution<double> first(counter ? 1e7 : 0, counter ? 1e8 : 100);
  for (double& value : values_) value = first(random_);
  Generate();
}

uint32_t Load::StartOfPass() const {
  return shape_.start_s + passes_ * shape_.steps * shape_.step_s;
}

size_t Load::StampDigits() const {
  if (shape_.wire == Wire::kInflux) return 19;  // nanoseconds
  return shape_.milliseconds ? 13 : 10;
}

void Load::WriteStamp(char* to, uint32_t seconds) const {
  if (shape_.wire == Wire::kRemote) return WriteRemoteTime(to, seconds);
  if (shape_.wire == Wire::kOtlp) return WriteOtlpTime(to, seconds);
  for (size_t i = 10; i-- > 0; seconds /= 10) to[i] = static_cast<char>('0' + seconds % 10);
}

void Load::AppendStamp(uint32_t seconds, Draft* draft) const {
  draft->stamps.push_back(static_cast<uint32_t>(draft->body.size()));
  draft->body.append(StampDigits(), '0');  // what is finer than a second stays 0
  WriteStamp(draft->body.data() + draft->stamps.back(), seconds);
}

double Load::NextValue(uint32_t series) {
  double& value = values_[series];
  switch (shape_.values) {
    case Values::kWalk:
      value = std::clamp(value + move_(random_), 0.0, 100.0);
      break;
    case Values::kCounter:
      value += std::max(0.0, 500 + 100 * move_(random_));
      break;
    case Values::kConstant:
      break;
  }
  return value;
}

void Load::AppendNextValue(uint32_t series, std::string* body) {
  AppendValue(body, NextValue(series), decimals());
}

void Load::AppendPoint(uint32_t series, uint32_t seconds, Draft* draft) {
  const std::string& metric = metrics_[series % shape_.metrics];
  const std::string& tags = tags_[series / shape_.metrics];
  std::string& body = draft->body;
  switch (shape_.wire) {
    case Wire::kPut:
      body += body.empty() ? "[" : "";
      body.append(R"({"metric":")").append(metric).append(R"(","timestamp":)");
      AppendStamp(seconds, draft);
      body += R"(,"value":)";
      AppendNextValue(series, &body);
      body.append(",").append(tags);
      break;
    case Wire::kTelnet:
      body.append("put ").append(metric).append(" ");
      AppendStamp(seconds, draft);
      body += ' ';
      AppendNextValue(series, &body);
      body += tags;
      break;
    case Wire::kGraphite:
      body.append(metric).append(tags).append(" ");
      AppendNextValue(series, &body);
      body += ' ';
      AppendStamp(seconds, draft);
      body += '\n';
      break;
    case Wire::kRemote:
    case Wire::kOtlp:
      AppendMessage(series, seconds, draft);
      break;
    case Wire::kInflux:
      Die("a line of InfluxDB's is of a host");
  }
  ++draft->points;
}

void Load::AppendMessage(uint32_t series, uint32_t seconds, Draft* draft) {
  const bool remote = shape_.wire == Wire::kRemote;
  const double scale = std::pow(10.0, std::min(decimals(), kScaledDecimalsMax));
  double value = NextValue(series);
  if (decimals() <= kScaledDecimalsMax) value = std::round(value * scale) / scale;
  const size_t at = (remote ? AppendRemoteSeries : AppendOtlpMetric)(
      metrics_[series % shape_.metrics], tags_[series / shape_.metrics], value, &draft->body);
  draft->stamps.push_back(static_cast<uint32_t>(at));
  WriteStamp(draft->body.data() + at, seconds);
}

void Load::AppendHost(uint32_t host, uint32_t seconds, Draft* draft) {
  std::string& body = draft->body;
  body += "cpu";
  body += tags_[host];
  for (uint32_t metric = 0; metric < shape_.metrics; ++metric) {
    body += metric == 0 ? ' ' : ',';
    body += std::string_view(kMetrics[metric]).substr(std::string_view("cpu.").size());
    body += '=';
    AppendNextValue(host * shape_.metrics + metric, &body);
    if (decimals() == 0) body += 'i';
  }
  body += ' ';
  AppendStamp(seconds, draft);
  body += '\n';
  draft->points += shape_.metrics;
}

std::string Load::Head(size_t body_bytes) const {
  const auto [path, type] = PathAndType(shape_.wire);
  const char* coding = shape_.wire == Wire::kRemote ? "snappy" : shape_.gzip ? "gzip" : "";
  return std::string("POST ") + path + " HTTP/1.1\r\nHost: " + host_header_ +
         "\r\nContent-Type: " + type +
         (*coding != 0 ? std::string("\r\nContent-Encoding: ") + coding : "") +
         "\r\nContent-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

void Load::Finish(Draft* draft) {
  std::string head;
  const size_t points_bytes = draft->body.size();
  if (shape_.wire == Wire::kPut) draft->body.back() = ']';
  if (shape_.wire == Wire::kOtlp) draft->body.insert(0, OtlpHead(draft->body.size()));
  if (!IsLines(shape_.wire)) head = Head(draft->body.size());
  const size_t moved = head.size() + draft->body.size() - points_bytes;
  for (uint32_t& at : draft->stamps) at += static_cast<uint32_t>(moved);
  heads_.push_back(head.size());
  requests_.push_back(head + draft->body);
  points_ += draft->points;
  stamps_.push_back(std::move(draft->stamps));
  *draft = {};
}

void Load::Generate() {
  requests_.clear();
  heads_.clear();
  stamps_.clear();
  points_ = 0;
  Draft draft;
  const bool lines_of_hosts = shape_.wire == Wire::kInflux;
  const uint32_t many = shape_.hosts * (lines_of_hosts ? 1 : shape_.metrics);
  for (uint32_t step = 0; step < shape_.steps; ++step) {
    const uint32_t seconds = StartOfPass() + step * shape_.step_s;
    for (uint32_t i = 0; i < many; ++i) {
      lines_of_hosts ? AppendHost(i, seconds, &draft) : AppendPoint(i, seconds, &draft);
      if (draft.points >= shape_.batch) Finish(&draft);
    }
  }
  if (draft.points > 0) Finish(&draft);
  if (packs()) Pack();
}

void Load::Pack() {
  packed_.clear();
  std::string packed;
  for (size_t r = 0; r < requests_.size(); ++r) {
    const std::string_view body = std::string_view(requests_[r]).substr(heads_[r]);
    if (shape_.wire == Wire::kRemote) {
      snappy::Compress(body.data(), body.size(), &packed);
    } else {
      Gzip(body, &packed);
    }
    packed_.push_back(Head(packed.size()) + packed);
  }
}

void Load::GoOn() {
  ++passes_;
  Generate();
}

void Load::MoveOn() {
  ++passes_;
  const uint32_t start_s = StartOfPass();
  const uint32_t stamps_of_step =
      shape_.hosts * (shape_.wire == Wire::kInflux ? 1 : shape_.metrics);
  uint64_t stamp = 0;
  for (size_t r = 0; r < requests_.size(); ++r) {
    for (const uint32_t at : stamps_[r]) {
      WriteStamp(requests_[r].data() + at,
                 start_s + static_cast<uint32_t>(stamp++ / stamps_of_step) * shape_.step_s);
    }
  }
  if (packs()) Pack();
}

}  // namespace hg::bench
