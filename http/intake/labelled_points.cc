#include "http/intake/labelled_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "storage/model/instant.h"
#include "storage/model/special_double.h"

namespace hg::http {
namespace {

/// Maximum points per batch.
constexpr size_t kBatchPoints = 8192;
/// Maximum bytes of the series of a batch, and of the names of these series. A batch that exceeds
/// it is stored before more series are added.
constexpr size_t kBatchBytes = 1 << 20;
/// Number of bytes of a series that can be copied, or turned into names, in the time of a step.
constexpr uint64_t kBytesPerStep = 8;
/// Typical bytes for the two lengths of a label.
constexpr size_t kSizesBytes = 2;

}  // namespace

/// Series with names, and their points, which borrow the names.
struct LabelledPoints::NamedBatch {
  std::deque<NamedSeries> names;  // a deque, because the points borrow its elements
  std::deque<std::vector<TagText>> tags;
  size_t bytes = 0;  // bytes of `names` and `tags`
  std::vector<NamedPoint> points;
  std::vector<size_t> places;  // index in points_ of each element of `points`

  void AddSeries(NamedSeries series) {
    std::vector<TagText>& texts = tags.emplace_back();
    const NamedSeries& name = names.emplace_back(std::move(series));
    bytes += name.metric.size();
    for (const auto& [key, value] : name.tags) {
      texts.push_back({key, value});
      bytes += sizeof(name.tags[0]) + sizeof(TagText) + key.size() + value.size();
    }
  }
};

std::string LabelledPoints::TooManyLabels(std::span<const Label> labels) const {
  if (labels.size() <= tags_max_) return {};
  // A label without a value does not count.
  const auto tags = static_cast<size_t>(std::count_if(
      labels.begin(), labels.end(), [](const Label& label) { return !label.value.empty(); }));
  if (tags <= tags_max_) return {};
  return "Too many tags: " + std::to_string(tags) +
         " maximum allowed: " + std::to_string(tags_max_) + " (setting tsd.ingest.max_tags)";
}

bool LabelledPoints::BeginItem() {
  ++items_;
  if (!intake_.refusal().ok()) return false;
  constexpr uint64_t kItemSteps = 16;
  const uint64_t steps = kItemSteps + std::exchange(raw_key_bytes_, 0) / kBytesPerStep;
  intake_.Stop(context_.Step(steps));
  return intake_.refusal().ok();
}

void LabelledPoints::SetSeries(std::string_view metric, std::span<const Label> labels) {
  too_many_labels_ = TooManyLabels(labels);
  // The kept labels are shown if the first rejected item belongs to the series.
  if (!too_many_labels_.empty()) labels = labels.first(refused_ == 0 ? tags_max_ : 0);
  if (!intake_.refusal().ok()) labels = {};
  if (!series_.empty() && !borrowed_) {  // the previous series had no points
    series_bytes_ -= series_.back().size();
    series_.pop_back();
  }
  borrowed_ = false;
  SeriesBytes& series = series_.emplace_back();
  series.metric_size = metric.size();
  size_t bytes = metric.size();
  for (const Label& label : labels) bytes += label.name.size() + label.value.size() + kSizesBytes;
  series.all.reserve(bytes);
  series.all.append(metric);
  AppendLabels(labels, &series.all);
  series_bytes_ += series.size();
  intake_.Stop(names_room_.Cover(series_bytes_));
  raw_key_bytes_ += series.size();
}

void LabelledPoints::Add(int64_t time_ms, PointValue value) {
  if (!intake_.refusal().ok()) return;
  if (!too_many_labels_.empty()) return Refuse(too_many_labels_);
  const std::optional<Timestamp> time = TimestampOfMillis(time_ms);
  if (!time) return Refuse(BadInstant(std::to_string(time_ms) + " ms").message());
  if (std::isnan(value.as_double())) value = StoredNan(value.bits);
  const SeriesBytes& series = series_.back();
  borrowed_ = true;
  points_.push_back({{Dialect::kLabels, series.metric(), series.labels()}, *time, value});
  item_of_.push_back(items_);
  if (points_.size() == kBatchPoints || series_bytes_ > kBatchBytes) Flush();
}

void LabelledPoints::Refuse(std::string_view reason) {
  CountFailure(Failure::kInvalid, 1, &services_.counters);
  RefuseItem(items_, series_.back().metric(), series_.back().labels(), reason);
}

Status LabelledPoints::Finish() {
  Flush();
  return intake_.Finish();
}

void LabelledPoints::Flush() {
  if (points_.empty() || !intake_.refusal().ok()) return;
  if (!intake_.StoreKnown(points_)) StoreNamed();
  points_.clear();
  item_of_.clear();
  borrowed_ = false;
  while (series_.size() > 1) series_.pop_front();
  series_bytes_ = series_.back().size();
}

void LabelledPoints::StoreNamed() {
  if (!rules_) {
    const Options& options = services_.options;
    rules_ = {.names = NameRules(options.extra_name_characters),
              .default_key = options.default_tag_key,
              .default_value = options.default_tag_value};
  }
  NamedBatch batch;
  const char* last = nullptr;  // address of the series that batch.names.back() was made of
  Status last_fault;
  for (size_t i = 0; i < points_.size(); ++i) {
    const KeyedPoint& point = points_[i];
    // Points of one series are adjacent and borrow the same bytes.
    if (point.series.metric.data() != last) {
      last = point.series.metric.data();
      if (batch.bytes > kBatchBytes) Store(&batch);
      const uint64_t bytes = point.series.metric.size() + point.series.tags.size();
      intake_.Stop(context_.Step(bytes / kBytesPerStep));
      if (!intake_.refusal().ok()) return;
      const std::vector<Label> labels = ReadLabels(point.series.tags);
      Result<NamedSeries> series = NameSeries(point.series.metric, labels, *rules_);
      last_fault = series.status();
      if (series.ok()) batch.AddSeries(std::move(*series));
      intake_.Stop(names_room_.Cover(series_bytes_ + batch.bytes));
      if (!intake_.refusal().ok()) return;
    }
    if (!last_fault.ok()) {
      Judge(i, last_fault);
      continue;
    }
    NamedPoint& to = batch.points.emplace_back();
    to.metric = batch.names.back().metric;
    to.tags = batch.tags.back();
    to.time = point.time;
    to.value = point.value;
    to.raw_key = point.series;
    batch.places.push_back(i);
  }
  Store(&batch);
}

void LabelledPoints::Store(NamedBatch* batch) {
  std::vector<Status> results;
  intake_.StoreNamed(batch->points, &results);
  for (size_t i = 0; i < results.size(); ++i) Judge(batch->places[i], results[i]);
  *batch = {};
}

void LabelledPoints::Judge(size_t point, const Status& result) {
  const Failure failure = intake_.Judge(result);
  if (failure == Failure::kNone || MayPass(failure)) return;
  const RawKey& series = points_[point].series;
  RefuseItem(item_of_[point], series.metric, series.tags, result.message());
}

void LabelledPoints::RefuseItem(uint64_t item, std::string_view metric, ByteView labels,
                                std::string_view reason) {
  if (item_refused_.size() <= item) item_refused_.resize(item + 1);
  if (item_refused_[item]) return;
  item_refused_[item] = true;
  if (refused_++ == 0)
    first_refusal_ = SeriesText(metric, ReadLabels(labels)) + ": " + std::string(reason);
}

}  // namespace hg::http
