#include "bench/load.h"

#include <libdeflate.h>
#include <snappy.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/load_names.h"
#include "bench/measuring.h"
#include "bench/pickled_points.h"
#include "bench/protobuf_points.h"

namespace hg::bench {
namespace {

constexpr int kGzipLevel = 6;
// Values with more decimals are printed as exact doubles.
constexpr uint32_t kScaledDecimalsMax = 15;

void AppendValue(std::string* out, double value, uint32_t decimals) {
  std::array<char, 32> text;
  auto end = decimals == 0
                 ? std::to_chars(text.data(), text.data() + text.size(), std::lround(value)).ptr
                 : std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, static_cast<int>(decimals))
                       .ptr;
  out->append(text.data(), end);
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
  // These formats have times in nanoseconds.
  if (shape_.wire == Wire::kInflux || shape_.wire == Wire::kOtlpJson) return 19;
  return shape_.milliseconds ? 13 : 10;
}

void Load::WriteStamp(char* to, uint32_t seconds) const {
  if (shape_.wire == Wire::kRemote) return WriteRemoteTime(to, seconds);
  if (shape_.wire == Wire::kOtlp) return WriteOtlpTime(to, seconds);
  if (shape_.wire == Wire::kPickle) return WritePickledTime(to, seconds);
  for (size_t i = 10; i-- > 0; seconds /= 10) to[i] = static_cast<char>('0' + seconds % 10);
}

void Load::AppendStamp(uint32_t seconds, Draft* draft) const {
  draft->stamps.push_back(static_cast<uint32_t>(draft->body.size()));
  draft->body.append(StampDigits(), '0');  // digits below a second are always 0
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

double Load::NextRounded(uint32_t series) {
  const double scale = std::pow(10.0, std::min(decimals(), kScaledDecimalsMax));
  const double value = NextValue(series);
  return decimals() <= kScaledDecimalsMax ? std::round(value * scale) / scale : value;
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
    case Wire::kPickle:
      AppendPickled(series, seconds, draft);
      break;
    case Wire::kRemote:
    case Wire::kOtlp:
      AppendMessage(series, seconds, draft);
      break;
    case Wire::kOtlpJson:
      body += body.empty() ? R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[)" : "";
      body.append(R"({"name":")").append(metric);
      body.append(R"(","gauge":{"dataPoints":[{"attributes":[)").append(tags);
      body += R"(],"timeUnixNano":")";
      AppendStamp(seconds, draft);
      body += R"(","asDouble":)";
      AppendNextValue(series, &body);
      body += "}]}},";
      break;
    case Wire::kInflux:
      Die("a line of InfluxDB's is of a host");
  }
  ++draft->points;
}

void Load::AppendMessage(uint32_t series, uint32_t seconds, Draft* draft) {
  const bool remote = shape_.wire == Wire::kRemote;
  const size_t at = (remote ? AppendRemoteSeries : AppendOtlpMetric)(
      metrics_[series % shape_.metrics], tags_[series / shape_.metrics], NextRounded(series),
      &draft->body);
  draft->stamps.push_back(static_cast<uint32_t>(at));
  WriteStamp(draft->body.data() + at, seconds);
}

void Load::AppendPickled(uint32_t series, uint32_t seconds, Draft* draft) {
  if (draft->body.empty()) draft->body = PickleHead();
  const size_t at =
      AppendPickledPoint(metrics_[series % shape_.metrics] + tags_[series / shape_.metrics],
                         NextRounded(series), draft->points, &draft->body);
  draft->stamps.push_back(static_cast<uint32_t>(at));
  WriteStamp(draft->body.data() + at, seconds);
}

void Load::AppendHost(uint32_t host, uint32_t seconds, Draft* draft) {
  std::string& body = draft->body;
  body += "cpu";
  body += tags_[host];
  for (uint32_t metric = 0; metric < shape_.metrics; ++metric) {
    body += metric == 0 ? ' ' : ',';
    body += FieldName(metric);
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
  if (IsUnanswered(shape_.wire)) return "";
  const auto [path, type] = PathAndType(shape_.wire);
  const char* coding = shape_.wire == Wire::kRemote ? "snappy" : shape_.gzip ? "gzip" : "";
  return std::string("POST ") + (shape_.path.empty() ? path : shape_.path) +
         " HTTP/1.1\r\nHost: " + host_header_ + "\r\nContent-Type: " + type +
         (*coding != 0 ? std::string("\r\nContent-Encoding: ") + coding : "") +
         "\r\nContent-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

void Load::Finish(Draft* draft) {
  size_t moved = 0;  // number of bytes inserted before the points
  switch (shape_.wire) {
    case Wire::kPut:
      draft->body.back() = ']';
      break;
    case Wire::kOtlp: {
      const std::string front = OtlpHead(draft->body.size());
      moved = front.size();
      draft->body.insert(0, front);
      break;
    }
    case Wire::kOtlpJson:
      draft->body.back() = ']';
      draft->body += "}]}]}";
      break;
    case Wire::kPickle:
      FinishPickle(&draft->body);
      break;
    default:
      break;
  }
  const std::string head = Head(draft->body.size());
  moved += head.size();
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
