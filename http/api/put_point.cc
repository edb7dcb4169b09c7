#include "http/api/put_point.h"

#include <string_view>
#include <utility>

#include "http/wire/histogram_text.h"
#include "storage/codec/histogram.h"
#include "storage/model/letter_case.h"
#include "storage/model/number_text.h"

namespace hg::http {

std::string CheckPutPoint(const PutPoint& point, PutKind kind, Counters* counters,
                          PointValue* value) {
  const auto illegal = [counters](std::string text) {
    counters->put_illegal_arguments.fetch_add(1, std::memory_order_relaxed);
    return text;
  };
  if (point.null) return illegal("Unexpected null datapoint encountered in set.");
  if (Missing(point.metric)) return illegal("Metric name was empty");
  if (point.timestamp <= 0) return illegal("Invalid timestamp");
  const bool is_number = kind != PutKind::kHistograms;
  if (is_number && Missing(point.value)) return illegal("Empty value");
  if (!point.tags || point.tags->empty()) return illegal("Missing tags");
  if (!is_number) return {};
  if (kind == PutKind::kRollups && Missing(point.group_by)) {
    if (Missing(point.interval)) return illegal("Missing interval");
    if (Missing(point.aggregator)) return illegal("Missing aggregator");
  }
  NumberError error;
  if (ParseValue(*point.value, EntryPath::kHttp, value, &error)) return {};
  if (error.fault == NumberFault::kNotFinite) {
    return illegal("value is NaN or Infinite: " + error.message + " for metric=" + *point.metric +
                   " timestamp=" + std::to_string(point.timestamp));
  }
  counters->put_invalid_values.fetch_add(1, std::memory_order_relaxed);
  return "Unable to parse value to a number";
}

std::vector<TagText> TagsOf(const PutPoint& point) {
  std::vector<TagText> tags;
  for (const PutTag& tag : *point.tags) {
    tags.push_back({tag.key, tag.value ? std::string_view(*tag.value) : std::string_view(),
                    !tag.value.has_value()});
  }
  return tags;
}

void AddTag(const std::string& key, std::string value, PutPoint* point) {
  if (value.empty()) return;
  for (PutTag& tag : *point->tags) {
    if (tag.key != key) continue;
    if (UpperCase(tag.value.value_or("")) == UpperCase(value)) tag.value = value;
    return;
  }
  point->tags->push_back({key, std::move(value)});
  OrderPutTags(&*point->tags);
}

Result<Bytes> EncodeHistogram(const PutPoint& point, uint8_t codec_id) {
  codec::SimpleHistogram histogram;
  histogram.codec_id = codec_id;
  if (!point.buckets || point.buckets->empty()) {
    if (Missing(point.value)) {
      return Status::InvalidArgument(
          "Histogram buckets cannot be null or empty if 'value' is empty.");
    }
    if (point.id != codec_id) {
      return Status::InvalidArgument("No codec found mapped to ID " + std::to_string(point.id));
    }
    ASSIGN_OR_RETURN(histogram, DecodeHistogramText(*point.value, codec_id));
    return codec::EncodeSimpleHistogram(std::move(histogram));
  }
  for (const PutBucket& bucket : *point.buckets)
    RETURN_IF_ERROR(AddBucket(bucket.bounds, bucket.count, &histogram));
  histogram.underflow = static_cast<uint64_t>(point.underflow);
  histogram.overflow = static_cast<uint64_t>(point.overflow);
  return codec::EncodeSimpleHistogram(std::move(histogram));
}

}  // namespace hg::http
