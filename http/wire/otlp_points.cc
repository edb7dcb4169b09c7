#include "http/wire/otlp_points.h"

#include <otlp.pb.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "http/wire/otlp_attribute.h"

namespace hg::http {
namespace {

using Attributes = google::protobuf::RepeatedPtrField<otlp::KeyValue>;

constexpr uint32_t kNoRecordedValue = 1;  // of a point's flags
constexpr uint64_t kNsPerMs = 1000000;

PointValue Count(uint64_t count) {
  return count <= INT64_MAX ? PointValue::Int(static_cast<int64_t>(count))
                            : PointValue::Double(static_cast<double>(count));
}

class Reader {
 public:
  Reader(const OtlpNaming& naming, LabelledSink* sink) : naming_(naming), sink_(*sink) {}

  void Read(const otlp::ExportMetricsServiceRequest& request) {
    for (const otlp::ResourceMetrics& of_resource : request.resource_metrics()) {
      const Texts of_all = ResourceLabels(of_resource.resource());
      for (const otlp::ScopeMetrics& of_scope : of_resource.scope_metrics()) {
        shared_ = of_all;
        AddScope(of_scope.scope());
        for (const otlp::Metric& metric : of_scope.metrics()) ReadMetric(metric);
      }
    }
  }

 private:
  using Texts = std::map<std::string, std::string>;

  [[nodiscard]] bool Wanted(std::string_view name) const {
    const auto& wanted = naming_.resource_attributes;
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const std::string& each) { return each == name || each == "*"; });
  }

  [[nodiscard]] Texts ResourceLabels(const otlp::Resource& resource) const {
    Texts labels;
    for (const otlp::KeyValue& attribute : resource.attributes()) {
      if (Wanted(attribute.key())) labels[attribute.key()] = AttributeText(attribute.value());
    }
    return labels;
  }

  void AddScope(const otlp::InstrumentationScope& scope) {
    if (Wanted(kScopeName)) shared_[std::string(kScopeName)] = scope.name();
    if (Wanted(kScopeVersion)) shared_[std::string(kScopeVersion)] = scope.version();
    Merge(scope.attributes(), &shared_);
  }

  static void Merge(const Attributes& attributes, Texts* labels) {
    for (const otlp::KeyValue& attribute : attributes)
      (*labels)[attribute.key()] = AttributeText(attribute.value());
  }

  void ReadMetric(const otlp::Metric& metric) {
    metric_ = metric.name();
    switch (metric.data_case()) {
      case otlp::Metric::kGauge:
        for (const otlp::NumberDataPoint& point : metric.gauge().data_points()) {
          if (Begin(point)) AddNumber(point);
        }
        break;
      case otlp::Metric::kSum:
        for (const otlp::NumberDataPoint& point : metric.sum().data_points()) {
          if (Begin(point) && IsKnown(metric.sum().aggregation_temporality())) AddNumber(point);
        }
        break;
      case otlp::Metric::kHistogram:
        for (const otlp::HistogramDataPoint& point : metric.histogram().data_points()) {
          if (Begin(point) && IsKnown(metric.histogram().aggregation_temporality()))
            AddHistogram(point);
        }
        break;
      case otlp::Metric::kExponentialHistogram:
        for (const auto& point : metric.exponential_histogram().data_points()) {
          BeginItem(point.attributes());
          Refuse("exponential histograms cannot be stored, those with explicit bounds can");
        }
        break;
      case otlp::Metric::kSummary:
        for (const otlp::SummaryDataPoint& point : metric.summary().data_points()) {
          if (Begin(point)) AddSummary(point);
        }
        break;
      case otlp::Metric::DATA_NOT_SET:
        break;
    }
  }

  void BeginItem(const Attributes& attributes) {
    sink_.BeginItem();
    labels_ = shared_;
    Merge(attributes, &labels_);
  }

  /// False: it has no value, or no name and is refused.
  template <typename Point>
  bool Begin(const Point& point) {
    if ((point.flags() & kNoRecordedValue) != 0) return false;
    BeginItem(point.attributes());
    time_ms_ = static_cast<int64_t>(point.time_unix_nano() / kNsPerMs);
    if (metric_.empty()) Refuse("has no name");
    return !metric_.empty();
  }

  /// Deltas are stored as they come. False: refused.
  bool IsKnown(otlp::AggregationTemporality temporality) {
    if (temporality == otlp::AGGREGATION_TEMPORALITY_DELTA ||
        temporality == otlp::AGGREGATION_TEMPORALITY_CUMULATIVE) {
      return true;
    }
    Refuse("has no aggregation temporality, delta or cumulative");
    return false;
  }

  void AddNumber(const otlp::NumberDataPoint& point) {
    switch (point.value_case()) {
      case otlp::NumberDataPoint::kAsDouble:
        return Add("", PointValue::Double(point.as_double()));
      case otlp::NumberDataPoint::kAsInt:
        return Add("", PointValue::Int(point.as_int()));
      case otlp::NumberDataPoint::VALUE_NOT_SET:
        return Refuse("has neither a value nor the flag that says that there is none");
    }
  }

  void AddHistogram(const otlp::HistogramDataPoint& point) {
    const auto& bounds = point.explicit_bounds();
    const int buckets = point.bucket_counts_size();
    if (buckets > 0 && buckets != bounds.size() + 1)
      return Refuse("has " + std::to_string(buckets) + " buckets and " +
                    std::to_string(bounds.size()) + " bounds");
    const auto falls = [](double a, double b) { return !(a < b); };
    if (std::adjacent_find(bounds.begin(), bounds.end(), falls) != bounds.end())
      return Refuse("has bounds that do not rise");
    uint64_t below = 0;
    for (int i = 0; i + 1 < buckets; ++i) {
      below += point.bucket_counts(i);
      if (std::isfinite(bounds[i])) AddBucket(NumberText(bounds[i]), below);
    }
    AddBucket("+Inf", point.count());
    if (point.has_sum()) Add("_sum", PointValue::Double(point.sum()));
    Add("_count", Count(point.count()));
  }

  void AddBucket(const std::string& bound, uint64_t count) {
    const Label le{"le", bound};
    Add("_bucket", Count(count), &le);
  }

  void AddSummary(const otlp::SummaryDataPoint& point) {
    for (const auto& at : point.quantile_values()) {
      const std::string text = NumberText(at.quantile());
      const Label quantile{"quantile", text};
      Add("", PointValue::Double(at.value()), &quantile);
    }
    Add("_sum", PointValue::Double(point.sum()));
    Add("_count", Count(point.count()));
  }

  void Add(std::string_view suffix, PointValue value, const Label* more = nullptr) {
    SetSeries(suffix, more);
    sink_.Add(time_ms_, value);
  }

  void Refuse(std::string_view reason) {
    SetSeries("", nullptr);
    sink_.Refuse(reason);
  }

  void SetSeries(std::string_view suffix, const Label* more) {
    std::vector<Label> labels;
    labels.reserve(labels_.size() + 1);
    for (const auto& [name, value] : labels_) {
      if (more == nullptr || name != more->name) labels.push_back({name, value});
    }
    if (more != nullptr) labels.push_back(*more);
    sink_.SetSeries(metric_ + std::string(suffix), labels);
  }

  const OtlpNaming& naming_;
  LabelledSink& sink_;
  Texts shared_;        // of the resource and the scope
  std::string metric_;  // name
  // Of the data point.
  Texts labels_;
  int64_t time_ms_ = 0;
};

}  // namespace

void AddDataPoints(const otlp::ExportMetricsServiceRequest& request, const OtlpNaming& naming,
                   LabelledSink* sink) {
  Reader(naming, sink).Read(request);
}

}  // namespace hg::http
