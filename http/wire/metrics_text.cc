#include "http/wire/metrics_text.h"

#include <charconv>
#include <chrono>

namespace hg::http {
namespace {

std::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
    case MetricType::kUntyped:
      break;
  }
  return "untyped";
}

/// Quotes are escaped in label values only.
void AppendEscaped(std::string_view text, bool quotes, std::string* out) {
  for (const char c : text) {
    if (c == '\n') {
      *out += "\\n";
    } else if (c == '\\' || (quotes && c == '"')) {
      *out += '\\';
      *out += c;
    } else {
      *out += c;
    }
  }
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Returns a bound as text. It never uses an exponent, because people read the labels.
std::string BoundText(std::chrono::nanoseconds bound) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof(text), Seconds(bound), std::chars_format::fixed);
  return {text, end.ptr};
}

}  // namespace

std::string MetricName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (digit && name.empty()) name += '_';
    name += letter || digit ? c : '_';
  }
  return name;
}

void MetricsText::Family(std::string_view name, MetricType type, std::string_view help) {
  name_ = name;
  out_ += "# HELP " + name_ + " ";
  AppendEscaped(help, false, &out_);
  out_ += "\n# TYPE " + name_ + " ";
  out_ += TypeName(type);
  out_ += "\n";
}

void MetricsText::Begin(const MetricLabels& labels, std::string_view suffix) {
  out_ += name_;
  out_ += suffix;
  char separator = '{';
  for (const auto& [name, value] : labels) {
    out_ += separator;
    out_ += name;
    out_ += "=\"";
    AppendEscaped(value, true, &out_);
    out_ += '"';
    separator = ',';
  }
  if (!labels.empty()) out_ += '}';
  out_ += ' ';
}

void MetricsText::Sample(const MetricLabels& labels, int64_t value, std::string_view suffix) {
  Begin(labels, suffix);
  out_ += std::to_string(value) + "\n";
}

void MetricsText::Sample(const MetricLabels& labels, double value, std::string_view suffix) {
  Begin(labels, suffix);
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  out_.append(text, end.ptr);
  out_ += "\n";
}

void MetricsText::Histogram(const MetricLabels& labels, const LatencyHistogram& took) {
  MetricLabels bucket = labels;
  std::string& bound = bucket.emplace_back("le", "").second;
  for (size_t i = 0; i < took.within.size(); ++i) {
    bound = BoundText(LatencyHistogram::kBounds[i]);
    Sample(bucket, static_cast<int64_t>(took.within[i]), "_bucket");
  }
  bound = "+Inf";
  Sample(bucket, static_cast<int64_t>(took.count), "_bucket");
  Sample(labels, Seconds(took.sum), "_sum");
  Sample(labels, static_cast<int64_t>(took.count), "_count");
}

}  // namespace hg::http
