#include "http/wire/otlp_points.h"

#include <otlp.pb.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "http/wire/otlp_attribute.h"
#include "http/wire/otlp_body.h"
#include "http/wire/protobuf_message.h"
#include "storage/base/invariant.h"
#include "storage/model/special_double.h"

namespace hg::http {
namespace {

using Attributes = google::protobuf::RepeatedPtrField<otlp::KeyValue>;

constexpr uint32_t kNoRecordedValue = 1;  // bit in a point's flags

PointValue Count(uint64_t count) {
  return count <= INT64_MAX ? PointValue::Int(static_cast<int64_t>(count))
                            : PointValue::Double(static_cast<double>(count));
}

/// Labels sorted by name. Becomes empty if the limits are exceeded.
class Labels {
 public:
  void Set(const std::string& name, std::string value) {
    if (too_large_) return;
    const auto [at, added] = texts_.try_emplace(name);
    bytes_ += (added ? name.size() : 0) + value.size() - at->second.size();
    at->second = std::move(value);
    if (texts_.size() <= kOtlpAttributesMax && bytes_ <= kOtlpSeriesBytesMax) return;
    texts_.clear();
    too_large_ = true;
  }
  void Merge(const Attributes& attributes) {
    for (const otlp::KeyValue& attribute : attributes)
      Set(attribute.key(), AttributeText(attribute.value()));
  }

  [[nodiscard]] const std::map<std::string, std::string>& texts() const { return texts_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  std::map<std::string, std::string> texts_;
  size_t bytes_ = 0;
  bool too_large_ = false;
};

/// Reads a request. Data that many points share is built when the first point needs it, and its
/// size is limited. So empty scopes and points, of two bytes each, do not cause large copies.
class Reader {
 public:
  Reader(const OtlpNaming& naming, LabelledSink* sink) : naming_(naming), sink_(*sink) {}

  void Read(const otlp::ExportMetricsServiceRequest& request) {
    for (const otlp::ResourceMetrics& of_resource : request.resource_metrics()) {
      resource_ = ResourceLabels(of_resource.resource());
      for (const otlp::ScopeMetrics& of_scope : of_resource.scope_metrics()) {
        BeginScope(of_scope.scope());
        for (const otlp::Metric& metric : of_scope.metrics()) {
          if (ended_) return;
          ReadMetric(metric);
        }
      }
    }
  }

  void Read(const OtlpBody& body) {
    using Kind = OtlpBody::Piece::Kind;
    otlp::Resource resource;
    otlp::InstrumentationScope scope;
    otlp::Metric metric;
    for (const OtlpBody::Piece& piece : body.pieces()) {
      if (ended_) return;
      switch (piece.kind) {
        case Kind::kResource:
          Parse(piece, &resource);
          resource_ = ResourceLabels(resource);
          break;
        case Kind::kScope:
          Parse(piece, &scope);
          BeginScope(scope);
          break;
        case Kind::kNumbers:
          metric_ = piece.name;
          if (Fit(body, body.Numbers(piece))) {
            AddNumbers(body, body.Numbers(piece));
            break;
          }
          [[fallthrough]];
        case Kind::kMetric:
          Parse(piece, &metric);
          ReadMetric(metric);
          break;
      }
    }
  }

 private:
  static void Parse(const OtlpBody::Piece& piece, google::protobuf::MessageLite* message) {
    // Parsing cannot fail, because Read has already parsed the piece.
    INVARIANT(OtlpBody::ParsePiece(piece.kind, piece.bytes, message));
  }

  void BeginScope(const otlp::InstrumentationScope& scope) {
    shared_.reset();
    has_shared_labels_ = false;
    scope_ = &scope;
    merged_of_.reset();
  }

  /// Returns true if the labels of all numbers, including shared ones, are within the limits.
  bool Fit(const OtlpBody& body, std::span<const OtlpBody::Number> numbers) {
    const Labels& shared = Shared();
    return !shared.too_large() &&
           std::all_of(numbers.begin(), numbers.end(), [&](const OtlpBody::Number& number) {
             const OtlpBody::Attributes& own = body.AttributesOf(number);
             return shared.texts().size() + own.count <= kOtlpAttributesMax &&
                    metric_.size() + shared.bytes() + own.bytes <= kOtlpSeriesBytesMax;
           });
  }

  void AddNumbers(const OtlpBody& body, std::span<const OtlpBody::Number> numbers) {
    for (const OtlpBody::Number& number : numbers) {
      ended_ = !sink_.BeginItem();
      if (ended_) return;
      if (merged_of_ != number.attributes) {
        Merge(body.Labels(body.AttributesOf(number)), &merged_);
        merged_of_ = number.attributes;
      }
      sink_.SetSeries(metric_, merged_);
      sink_.Add(number.time_ms, number.value);
    }
  }

  /// Merges the shared labels and a point's own labels. Both are sorted; for equal names, the
  /// point's own label wins.
  void Merge(std::span<const Label> own, std::vector<Label>* merged) {
    merged->clear();
    auto next = own.begin();
    for (const auto& [name, value] : Shared().texts()) {
      while (next != own.end() && next->name < name) merged->push_back(*next++);
      if (next == own.end() || next->name != name) merged->push_back({name, value});
    }
    merged->insert(merged->end(), next, own.end());
  }

  [[nodiscard]] bool Wanted(std::string_view name) const {
    const auto& wanted = naming_.resource_attributes;
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const std::string& each) { return each == name || each == "*"; });
  }

  [[nodiscard]] Labels ResourceLabels(const otlp::Resource& resource) const {
    Labels labels;
    for (const otlp::KeyValue& attribute : resource.attributes()) {
      if (Wanted(attribute.key())) labels.Set(attribute.key(), AttributeText(attribute.value()));
    }
    return labels;
  }

  const Labels& Shared() {
    if (shared_) return *shared_;
    shared_ = resource_;
    if (Wanted(kScopeName)) shared_->Set(std::string(kScopeName), scope_->name());
    if (Wanted(kScopeVersion)) shared_->Set(std::string(kScopeVersion), scope_->version());
    shared_->Merge(scope_->attributes());
    return *shared_;
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
          if (BeginItem(point.attributes()))
            Refuse("exponential histograms cannot be stored; use histograms with explicit bounds");
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

  /// Returns false if the request has ended.
  bool BeginItem(const Attributes& attributes) {
    ended_ = ended_ || !sink_.BeginItem();
    attributes_ = &attributes;
    return !ended_;
  }

  /// Builds the labels of the current point. Points without attributes share them.
  void MakeLabels() {
    const bool shares = attributes_->empty();
    if (shares && has_shared_labels_) return;
    own_ = Labels();
    own_.Merge(*attributes_);
    std::vector<Label> own;
    for (const auto& [name, value] : own_.texts()) own.push_back({name, value});
    Merge(own, &series_labels_);
    labels_bytes_ = 0;
    for (const Label& label : series_labels_)
      labels_bytes_ += label.name.size() + label.value.size();
    has_shared_labels_ = shares;
  }

  /// Returns false and refuses the point if its labels and name exceed the limits.
  bool TakeLabels() {
    MakeLabels();
    if (!Shared().too_large() && !own_.too_large() && series_labels_.size() <= kOtlpAttributesMax &&
        metric_.size() + labels_bytes_ <= kOtlpSeriesBytesMax)
      return true;
    Refuse("has more than " + std::to_string(kOtlpAttributesMax) +
           " attributes, or its attributes and name have more than " +
           std::to_string(kOtlpSeriesBytesMax) + " bytes");
    return false;
  }

  /// Begins a point. Returns false if the request has ended. Also returns false if the metric has
  /// no name, and refuses the point.
  template <typename Point>
  bool Begin(const Point& point) {
    stale_ = (point.flags() & kNoRecordedValue) != 0;
    if (!BeginItem(point.attributes())) return false;
    time_ms_ = static_cast<int64_t>(point.time_unix_nano() / kNsPerMs);
    if (metric_.empty()) Refuse("has no name");
    return !metric_.empty();
  }

  /// Returns false and refuses the point if the temporality is unknown. Deltas are stored
  /// unchanged.
  bool IsKnown(otlp::AggregationTemporality temporality) {
    if (temporality == otlp::AGGREGATION_TEMPORALITY_DELTA ||
        temporality == otlp::AGGREGATION_TEMPORALITY_CUMULATIVE) {
      return true;
    }
    Refuse("has no aggregation temporality (expected delta or cumulative)");
    return false;
  }

  void AddNumber(const otlp::NumberDataPoint& point) {
    if (stale_) {
      if (TakeLabels()) Add("", PointValue());
      return;
    }
    switch (point.value_case()) {
      case otlp::NumberDataPoint::kAsDouble:
        if (TakeLabels()) Add("", PointValue::Double(point.as_double()));
        return;
      case otlp::NumberDataPoint::kAsInt:
        if (TakeLabels()) Add("", PointValue::Int(point.as_int()));
        return;
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
      return Refuse("has bounds that are not in ascending order");
    uint64_t below = 0;
    for (int i = 0; i + 1 < buckets; ++i) {
      if (__builtin_add_overflow(below, point.bucket_counts(i), &below))
        return Refuse("has buckets with more than " + std::to_string(UINT64_MAX) +
                      " values in total");
    }
    if (!TakeLabels()) return;
    below = 0;
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
    if (!TakeLabels()) return;
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
    sink_.Add(time_ms_, stale_ ? StoredNan(kStaleMarkerBits) : value);
  }

  void Refuse(std::string_view reason) {
    if (refused_) {
      sink_.SetSeries("", {});
    } else {
      MakeLabels();
      SetSeries("", nullptr);
      refused_ = true;
    }
    sink_.Refuse(reason);
  }

  void SetSeries(std::string_view suffix, const Label* more) {
    const std::string metric = metric_ + std::string(suffix);
    if (more == nullptr) return sink_.SetSeries(metric, series_labels_);
    // The added label replaces a label with the same name.
    if (!std::ranges::binary_search(series_labels_, more->name, {}, &Label::name)) {
      series_labels_.push_back(*more);
      sink_.SetSeries(metric, series_labels_);
      series_labels_.pop_back();
      return;
    }
    std::vector<Label> labels;
    for (const Label& label : series_labels_)
      if (label.name != more->name) labels.push_back(label);
    labels.push_back(*more);
    sink_.SetSeries(metric, labels);
  }

  const OtlpNaming& naming_;
  LabelledSink& sink_;
  bool ended_ = false;  // whether the sink has said that the request has ended
  bool refused_ =
      false;  // whether a point of the request was refused; only the first such point is named
  Labels resource_;
  const otlp::InstrumentationScope* scope_ = nullptr;
  std::optional<Labels> shared_;  // labels of the resource and the scope
  std::string metric_;            // the metric's name
  std::vector<Label> merged_;     // shared labels merged with the attributes merged_of_ of a body
  std::optional<uint32_t> merged_of_;
  // The following members describe the current data point.
  const Attributes* attributes_ = nullptr;
  Labels own_;                        // the point's attributes
  std::vector<Label> series_labels_;  // borrows the texts of shared_ and own_
  size_t labels_bytes_ = 0;           // bytes of the texts of series_labels_
  bool has_shared_labels_ = false;    // whether series_labels_ are those of shared_
  int64_t time_ms_ = 0;
  // The point has no recorded value, so each of its series gets a stale marker.
  bool stale_ = false;
};

}  // namespace

void AddDataPoints(const otlp::ExportMetricsServiceRequest& request, const OtlpNaming& naming,
                   LabelledSink* sink) {
  Reader(naming, sink).Read(request);
}

bool AddDataPoints(std::string_view protobuf, const OtlpNaming& naming, LabelledSink* sink,
                   RequestMemory::Share* memory) {
  if (OtlpBody body(memory); body.Read(protobuf)) {
    Reader(naming, sink).Read(body);
    return true;
  }
  RequestMemory::Room room(memory);
  otlp::ExportMetricsServiceRequest request;
  if (!ParseMessage(protobuf, &request, 0, &room)) return false;
  AddDataPoints(request, naming, sink);
  return true;
}

}  // namespace hg::http
