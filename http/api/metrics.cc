#include <algorithm>
#include <map>
#include <utility>

#include "http/api/collected_stats.h"
#include "http/api/handlers.h"
#include "http/api/health.h"
#include "http/api/metric_names.h"
#include "http/api/process_stats.h"
#include "http/request/build_info.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/metrics_text.h"

namespace hg::http {
namespace {

MetricLabel LabelOf(std::string_view text) {
  const size_t equals = text.find('=');
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

/// The mapping of statistics that metric_names.h does not contain.
constexpr StatMetric kUnnamed{};

/// Returns the mapping (metric_names.h) of a statistic to a metric of /metrics.
const StatMetric& MetricOf(std::string_view stat, const std::vector<StatTag>& tags) {
  const auto fits = [&](const StatMetric& known) {
    if (known.stat != stat) return false;
    return known.only.empty() ||
           std::find(tags.begin(), tags.end(), LabelOf(known.only)) != tags.end();
  };
  const auto known = std::find_if(StatMetrics().begin(), StatMetrics().end(), fits);
  return known == StatMetrics().end() ? kUnnamed : *known;
}

MetricLabels LabelsOf(const std::vector<StatTag>& tags, const StatMetric& known) {
  MetricLabels labels;
  for (const StatTag& tag : tags) {
    if (!known.only.empty() && tag == LabelOf(known.only)) continue;
    labels.emplace_back(MetricName(tag.first), tag.second);
  }
  if (!known.label.empty()) labels.push_back(LabelOf(known.label));
  return labels;
}

struct Sample {
  MetricLabels labels;
  int64_t value = 0;
  double unit = 1;
};

struct Family {
  MetricType type = MetricType::kUntyped;
  std::string help;
  std::vector<Sample> samples;
  std::vector<std::pair<MetricLabels, LatencyHistogram>> histograms;
};

/// Collects samples and groups them by metric. They may be added in any order.
class Families {
 public:
  /// Returns the family for samples of the metric, or nullptr if the metric is not shown.
  Family* Of(const StatMetric& known, const std::string& stat) {
    if (known.stat.empty()) {
      Family& family = by_name_[MetricName("hourglass." + stat)];
      family.help = "tsd." + stat + " of /api/stats.";
      return &family;
    }
    if (known.metric.empty()) return nullptr;
    Family& family = by_name_[std::string(known.metric)];
    family.type = known.type;
    family.help = known.help;
    return &family;
  }

  void Write(MetricsText* text) const {
    for (const auto& [name, family] : by_name_) {
      text->Family(name, family.type, family.help);
      for (const auto& [labels, took] : family.histograms) text->Histogram(labels, took);
      for (const Sample& sample : family.samples) {
        if (sample.unit == 1) {
          text->Sample(sample.labels, sample.value);
        } else {
          text->Sample(sample.labels, static_cast<double>(sample.value) * sample.unit);
        }
      }
    }
  }

 private:
  std::map<std::string, Family> by_name_;
};

void WriteStats(Services& services, MetricsText* text) {
  Families families;
  for (const Stat& stat : CollectStats(services, true)) {
    const StatMetric& metric = MetricOf(stat.name, stat.tags);
    if (Family* family = families.Of(metric, stat.name); family != nullptr)
      family->samples.push_back({LabelsOf(stat.tags, metric), stat.value, metric.unit});
  }
  for (const LatencyStat& latency : CollectLatencies(services)) {
    const StatMetric& metric = MetricOf(latency.name, latency.tags);
    if (Family* family = families.Of(metric, latency.name); family != nullptr)
      family->histograms.emplace_back(LabelsOf(latency.tags, metric), latency.took);
  }
  families.Write(text);
}

void WriteProcess(Services& services, MetricsText* text) {
  const BuildInfo& build = ThisBuild();
  text->Family("hourglass_build_info", MetricType::kGauge,
               "Always 1. The labels contain the version and the build.");
  text->Sample({{"version", std::string(build.product_version)},
                {"revision", std::string(build.revision)},
                {"status", std::string(build.status)},
                {"opentsdb", std::string(build.version)}},
               int64_t{1});
  const bool ready = Readiness(services).ok();
  text->Family("hourglass_ready", MetricType::kGauge,
               "1 if /readyz reports that the daemon is ready, else 0.");
  text->Sample({}, int64_t{ready ? 1 : 0});

  const ProcessStats process = ReadProcessStats();
  const auto gauge = [text](std::string_view name, std::string_view help, auto value) {
    text->Family(name, MetricType::kGauge, help);
    text->Sample({}, value);
  };
  text->Family("process_cpu_seconds_total", MetricType::kCounter,
               "CPU time of the process, user and system.");
  text->Sample({}, process.cpu_seconds);
  gauge("process_open_fds", "Open files and sockets.", process.open_files);
  gauge("process_max_fds", "Maximum number of open files and sockets.", process.open_files_max);
  gauge("process_resident_memory_bytes", "Resident memory of the process.",
        static_cast<int64_t>(process.memory_resident_bytes));
  gauge("process_virtual_memory_bytes", "Its addresses.",
        static_cast<int64_t>(process.memory_virtual_bytes));
  gauge("process_start_time_seconds", "Start time of the process in seconds since the epoch.",
        process.start_time_s);
}

}  // namespace

void HandleMetrics(const Request& request, Services& services, ResponseWriter& out) {
  if (request.method != Method::kGet && request.method != Method::kHead)
    return SendMethodNotAllowed(out, request);
  std::string body;
  MetricsText text(&body);
  WriteProcess(services, &text);
  WriteStats(services, &text);
  SendBody(out, 200, kMetricsContentType, body);
}

}  // namespace hg::http
