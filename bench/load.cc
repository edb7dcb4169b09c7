#include "bench/load.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

namespace hg::bench {
namespace {

constexpr std::array<const char*, kMetricsMax> kMetrics = {
    "cpu.usage_user",   "cpu.usage_system",    "cpu.usage_idle",    "cpu.usage_nice",
    "cpu.usage_iowait", "cpu.usage_irq",       "cpu.usage_softirq", "cpu.usage_steal",
    "cpu.usage_guest",  "cpu.usage_guest_nice"};
constexpr std::array<const char*, 4> kRegions = {"eu-west-1", "eu-central-1", "us-east-1",
                                                 "us-west-2"};
constexpr size_t kStampDigits = 10;

void WriteStamp(char* to, uint32_t seconds) {
  for (size_t i = kStampDigits; i-- > 0; seconds /= 10)
    to[i] = static_cast<char>('0' + seconds % 10);
}

/// The tags of a host and what closes a point behind them.
std::string Tags(uint32_t host, bool lines) {
  const std::string region = kRegions[host % kRegions.size()];
  const std::string values[] = {"host_" + std::to_string(host), region,
                                region + static_cast<char>('a' + host / 7 % 3),
                                std::to_string(host % 100)};
  constexpr const char* kNames[] = {"hostname", "region", "datacenter", "rack"};
  std::string text = lines ? "" : R"("tags":{)";
  for (size_t i = 0; i < std::size(values); ++i) {
    if (lines) {
      text += std::string(" ") + kNames[i] + "=" + values[i];
    } else {
      text += std::string(i == 0 ? "\"" : ",\"") + kNames[i] + R"(":")" + values[i] + "\"";
    }
  }
  return text + (lines ? "\n" : "}},");
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

std::string WithHeader(const std::string& host_header, const std::string& body,
                       size_t* header_bytes) {
  std::string request =
      "POST /api/put HTTP/1.1\r\nHost: " + host_header +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n";
  *header_bytes = request.size();
  request += body;
  return request;
}

}  // namespace

const char* MetricName(uint32_t metric) { return kMetrics[metric]; }

Load::Load(const LoadShape& shape, const std::string& host_header)
    : shape_(shape),
      host_header_(host_header),
      random_(shape.seed),
      values_(size_t{shape.hosts} * shape.metrics) {
  for (uint32_t host = 0; host < shape.hosts; ++host) tags_.push_back(Tags(host, shape.lines));
  const bool counter = shape.values == Values::kCounter;
  std::uniform_real_distribution<double> first(counter ? 1e7 : 0, counter ? 1e8 : 100);
  for (double& value : values_) value = first(random_);
  Generate();
}

uint32_t Load::StartOfPass() const {
  return shape_.start_s + passes_ * shape_.steps * shape_.step_s;
}

void Load::AppendNext(uint32_t series, std::string* body) {
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
  AppendValue(body, value, shape_.values == Values::kWalk ? shape_.decimals : 0);
}

void Load::Generate() {
  requests_.clear();
  stamps_.clear();
  points_ = 0;
  const uint32_t start_s = StartOfPass();
  std::string body;
  std::vector<uint32_t> stamps;
  const auto finish = [&] {
    size_t header_bytes = 0;
    if (shape_.lines) {
      requests_.push_back(std::move(body));
    } else {
      body.back() = ']';
      requests_.push_back(WithHeader(host_header_, body, &header_bytes));
    }
    for (uint32_t& at : stamps) at += static_cast<uint32_t>(header_bytes);
    points_ += stamps.size();
    stamps_.push_back(std::move(stamps));
    stamps.clear();
    body.clear();
  };
  for (uint32_t step = 0; step < shape_.steps; ++step) {
    for (uint32_t i = 0; i < values_.size(); ++i) {
      if (!shape_.lines && body.empty()) body = "[";
      body += shape_.lines ? "put " : R"({"metric":")";
      body += kMetrics[i % shape_.metrics];
      body += shape_.lines ? " " : R"(","timestamp":)";
      stamps.push_back(static_cast<uint32_t>(body.size()));
      body.append(kStampDigits, '0');
      WriteStamp(body.data() + stamps.back(), start_s + step * shape_.step_s);
      body += shape_.lines ? " " : R"(,"value":)";
      AppendNext(i, &body);
      if (!shape_.lines) body += ',';
      body += tags_[i / shape_.metrics];
      if (stamps.size() == shape_.batch) finish();
    }
  }
  if (!stamps.empty()) finish();
}

void Load::GoOn() {
  ++passes_;
  Generate();
}

void Load::MoveOn() {
  ++passes_;
  const uint32_t start_s = StartOfPass();
  const uint32_t series = shape_.hosts * shape_.metrics;
  uint64_t point = 0;
  for (size_t r = 0; r < requests_.size(); ++r) {
    for (const uint32_t at : stamps_[r]) {
      WriteStamp(requests_[r].data() + at,
                 start_s + static_cast<uint32_t>(point++ / series) * shape_.step_s);
    }
  }
}

}  // namespace hg::bench
