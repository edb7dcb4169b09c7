#include "http/api/metrics.h"

#include <algorithm>
#include <map>
#include <utility>

#include "http/api/collected_stats.h"
#include "http/api/health.h"
#include "http/api/metric_names.h"
#include "http/api/process_stats.h"
#include "http/build_info.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/services.h"
#include "http/wire/metrics_text.h"

namespace hg::http {
namespace {

MetricLabel LabelOf(std::string_view text) {
  const size_t equals = text.find('=');
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

bool Fits(const StatMetric& known, const Stat& stat) {
  if (known.stat != stat.name) return false;
  if (known.only.empty()) return true;
  return std::find(stat.tags.begin(), stat.tags.end(), LabelOf(known.only)) != stat.tags.end();
}

MetricLabels LabelsOf(const Stat& stat, const StatMetric& known) {
  MetricLabels labels;
  for (const StatTag& tag : stat.tags) {
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
};

/// Gathers what belongs to one metric, wherever it stands among the numbers.
std::map<std::string, Family> FamiliesOf(const std::vector<Stat>& stats) {
  std::map<std::string, Family> families;
  for (const Stat& stat : stats) {
    const auto known = std::find_if(StatMetrics().begin(), StatMetrics().end(),
                                    [&](const StatMetric& metric) { return Fits(metric, stat); });
    if (known == StatMetrics().end()) {
      Family& family = families[MetricName("hourglass." + stat.name)];
      family.help = "tsd." + stat.name + " of /api/stats.";
      family.samples.push_back({LabelsOf(stat, {}), stat.value});
    } else if (!known->metric.empty()) {
      Family& family = families[std::string(known->metric)];
      family.type = known->type;
      family.help = known->help;
      family.samples.push_back({LabelsOf(stat, *known), stat.value, known->unit});
    }
  }
  return families;
}

void WriteStats(Services& services, MetricsText* text) {
  for (const auto& [name, family] : FamiliesOf(CollectStats(services, true))) {
    text->Family(name, family.type, family.help);
    for (const Sample& sample : family.samples) {
      if (sample.unit == 1) {
        text->Sample(sample.labels, sample.value);
      } else {
        text->Sample(sample.labels, static_cast<double>(sample.value) * sample.unit);
      }
    }
  }
}

void WriteLatency(std::string_view name, std::string_view help, const Latency& latency,
                  MetricsText* text) {
  text->Family(name, MetricType::kSummary, help);
  constexpr std::pair<const char*, int> kQuantiles[] = {
      {"0.5", 50}, {"0.75", 75}, {"0.9", 90}, {"0.95", 95}, {"0.99", 99}};
  for (const auto& [quantile, percent] : kQuantiles) {
    const double seconds = static_cast<double>(latency.Percentile(percent)) / 1000;
    text->Sample({{"quantile", quantile}}, seconds);
  }
  text->Sample({}, static_cast<int64_t>(latency.Count()), "_count");
}

void WriteLatencies(const Counters& counters, MetricsText* text) {
  WriteLatency("hourglass_http_request_duration_seconds",
               "Requests that a thread of the pool answered.", counters.all_requests, text);
  WriteLatency("hourglass_graph_duration_seconds", "Plots, with their queries.", counters.graphs,
               text);
  WriteLatency("hourglass_graph_draw_duration_seconds", "The drawing of plots alone.",
               counters.drawing, text);
  WriteLatency("hourglass_query_scan_duration_seconds", "Reading the rows of a query.",
               counters.scans, text);
}

void WriteProcess(Services& services, MetricsText* text) {
  const BuildInfo& build = ThisBuild();
  text->Family("hourglass_build_info", MetricType::kGauge, "1; the labels tell what runs.");
  text->Sample({{"version", std::string(build.product_version)},
                {"revision", std::string(build.revision)},
                {"status", std::string(build.status)},
                {"opentsdb", std::string(build.version)}},
               int64_t{1});
  const bool ready = Readiness(services).ok();
  text->Family("hourglass_ready", MetricType::kGauge, "1 if /readyz says so.");
  text->Sample({}, int64_t{ready ? 1 : 0});

  const ProcessStats process = ReadProcessStats();
  const auto gauge = [text](std::string_view name, std::string_view help, auto value) {
    text->Family(name, MetricType::kGauge, help);
    text->Sample({}, value);
  };
  text->Family("process_cpu_seconds_total", MetricType::kCounter,
               "Processor time of the process, in the kernel too.");
  text->Sample({}, process.cpu_seconds);
  gauge("process_open_fds", "Files and sockets that are open.", process.open_files);
  gauge("process_max_fds", "How many may be.", process.open_files_max);
  gauge("process_resident_memory_bytes", "Memory of the process.",
        static_cast<int64_t>(process.memory_resident_bytes));
  gauge("process_virtual_memory_bytes", "Its addresses.",
        static_cast<int64_t>(process.memory_virtual_bytes));
  gauge("process_start_time_seconds", "When it began, since the epoch.", process.start_time_s);
}

}  // namespace

void HandleMetrics(const Request& request, Services& services, ResponseWriter& out) {
  if (request.method != Method::kGet && request.method != Method::kHead)
    return SendMethodNotAllowed(out, request);
  std::string body;
  MetricsText text(&body);
  WriteProcess(services, &text);
  WriteLatencies(services.counters, &text);
  WriteStats(services, &text);
  SendBody(out, 200, kMetricsContentType, body);
}

}  // namespace hg::http
