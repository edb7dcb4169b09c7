#include "http/wire/put_document.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "http/wire/json_value.h"
#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

Status Misfit(std::string_view field, std::string_view wanted) {
  return Status::InvalidArgument("\"" + std::string(field) + "\" must be " + std::string(wanted));
}

/// Accepts a text, or a scalar as a text. null resets *out.
Status BindText(std::string_view field, const JsonValue& value, std::optional<std::string>* out) {
  out->reset();
  if (value.is_null()) return {};
  if (!value.is_scalar()) return Misfit(field, "a string");
  *out = value.text;
  return {};
}

/// Trims blanks and control characters. Returns "" for "null", because both mean that there is no
/// number.
std::string_view Digits(std::string_view text) {
  while (!text.empty() && static_cast<uint8_t>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<uint8_t>(text.back()) <= ' ') text.remove_suffix(1);
  return text == "null" ? std::string_view() : text;
}

/// Accepts a number, whose fraction is cut off, or a text with a whole number. Blank texts and null
/// are 0.
Status BindTime(const JsonValue& value, int64_t* out) {
  *out = 0;
  NumberError error;
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return {};
    case JsonValue::Kind::kString: {
      const std::string_view text = Digits(value.text);
      if (text.empty() || ParseLong(text, out, &error)) return {};
      break;
    }
    case JsonValue::Kind::kNumber: {
      if (ParseLong(value.text, out, &error)) return {};
      double d = 0;
      constexpr double kLimit = 9223372036854775808.0;
      if (value.text.find_first_of(".eE") == std::string::npos || !ParseJavaDouble(value.text, &d))
        break;
      if (!(d >= -kLimit && d < kLimit)) break;
      *out = static_cast<int64_t>(d);
      return {};
    }
    default:
      break;
  }
  return Misfit("timestamp", "a whole number of seconds or milliseconds");
}

/// Accepts whole numbers, as numbers or as texts. Blank texts and null are 0.
Status BindCount(std::string_view field, const JsonValue& value, int64_t* out) {
  *out = 0;
  if (value.is_null()) return {};
  NumberError error;
  const bool number = value.kind == JsonValue::Kind::kNumber;
  if (number && ParseLong(value.text, out, &error)) return {};
  if (value.kind == JsonValue::Kind::kString) {
    const std::string_view text = Digits(value.text);
    if (text.empty() || ParseLong(text, out, &error)) return {};
  }
  return Misfit(field, "a whole number");
}

/// The index of each name among the names read before. A map is used, because a client chooses the
/// names: a list could become long, and the hashes of a hash table could collide.
using Places = std::map<std::string_view, size_t>;

Status BindBuckets(const JsonValue& value, std::optional<std::vector<PutBucket>>* out) {
  out->reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return Misfit("buckets", "an object of counts");
  std::vector<PutBucket> buckets;
  Places places;
  for (const auto& [bounds, count] : value.members) {
    PutBucket bucket{bounds, 0};
    RETURN_IF_ERROR(BindCount("buckets", count, &bucket.count));
    const auto [known, is_new] = places.try_emplace(bounds, buckets.size());
    if (is_new) {
      buckets.push_back(std::move(bucket));
    } else {
      buckets[known->second].count = bucket.count;
    }
  }
  *out = std::move(buckets);
  return {};
}

Status BindTags(const JsonValue& value, std::optional<std::vector<PutTag>>* out) {
  out->reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return Misfit("tags", "an object of strings");
  std::vector<PutTag> tags;
  tags.reserve(value.members.size());
  Places places;
  for (const auto& [key, member] : value.members) {
    std::optional<std::string> text;
    RETURN_IF_ERROR(BindText("tags", member, &text));
    const auto [known, is_new] = places.try_emplace(key, tags.size());
    if (is_new) {
      tags.push_back({key, std::move(text)});
    } else {
      tags[known->second].value = std::move(text);
    }
  }
  OrderPutTags(&tags);
  *out = std::move(tags);
  return {};
}

Status BindRollupField(std::string_view name, const JsonValue& value, PutPoint* point) {
  if (name == "interval") return BindText(name, value, &point->interval);
  if (name == "aggregator") return BindText(name, value, &point->aggregator);
  if (name == "groupByAggregator") return BindText(name, value, &point->group_by);
  return {};
}

Status BindHistogramField(std::string_view name, const JsonValue& value, PutPoint* point) {
  if (name == "id") return BindCount(name, value, &point->id);
  if (name == "buckets") return BindBuckets(value, &point->buckets);
  if (name == "underflow") return BindCount(name, value, &point->underflow);
  if (name == "overflow") return BindCount(name, value, &point->overflow);
  return {};
}

Status BindPoint(const JsonValue& element, PutKind kind, PutPoint* point) {
  if (element.is_null()) {
    point->null = true;
    return {};
  }
  if (!element.is_object()) return Status::InvalidArgument("a data point must be an object");
  // All duplicates of a field must be valid; the last one counts.
  for (const auto& [name, value] : element.members) {
    if (name == "metric") {
      RETURN_IF_ERROR(BindText(name, value, &point->metric));
    } else if (name == "timestamp") {
      RETURN_IF_ERROR(BindTime(value, &point->timestamp));
    } else if (name == "value") {
      RETURN_IF_ERROR(BindText(name, value, &point->value));
    } else if (name == "tags") {
      RETURN_IF_ERROR(BindTags(value, &point->tags));
    } else if (name == "tsuid") {
      RETURN_IF_ERROR(BindText(name, value, &point->tsuid));
    } else if (kind == PutKind::kRollups) {
      RETURN_IF_ERROR(BindRollupField(name, value, point));
    } else if (kind == PutKind::kHistograms) {
      RETURN_IF_ERROR(BindHistogramField(name, value, point));
    }
  }
  return {};
}

/// Returns the memory of a point, including the memory that is needed for it until its request is
/// answered.
uint64_t BytesOf(const PutPoint& point) {
  // Memory for the raw series key of the point, its result with an error text, and the copies for
  // the sink.
  constexpr uint64_t kBesideBytes = 320, kBesideTagBytes = 40;
  uint64_t bytes = sizeof(PutPoint) + kBesideBytes;
  const auto add = [&bytes](const std::optional<std::string>& text) {
    if (text) bytes += text->capacity();
  };
  for (const auto* text : {&point.metric, &point.value, &point.tsuid, &point.interval,
                           &point.aggregator, &point.group_by})
    add(*text);
  if (point.tags) {
    for (const PutTag& tag : *point.tags) {
      bytes += sizeof(PutTag) + kBesideTagBytes + tag.key.capacity();
      add(tag.value);
    }
  }
  if (point.buckets) {
    for (const PutBucket& bucket : *point.buckets)
      bytes += sizeof(PutBucket) + bucket.bounds.capacity();
  }
  return bytes;
}

/// Returns the memory to bind an element, in addition to the memory of its point.
uint64_t BindingBytesOf(const JsonValue& element) {
  // For each tag, BindTags needs an element in each of two lists, and a node of Places. Sorting the
  // tags needs a hash and two indexes for each tag.
  constexpr uint64_t kNodeBytes = 64, kSortBytes = 24;
  constexpr uint64_t kTagBytes = 2 * sizeof(PutTag) + kNodeBytes + kSortBytes;
  size_t members = 0;
  for (const auto& [name, value] : element.members)
    members = std::max(members, value.members.size());
  return kTagBytes * members;
}

/// Returns true for a JSON number beyond the range of a double.
bool IsHuge(std::string_view number) {
  double d = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), d);
  return error == std::errc::result_out_of_range && stop == number.data() + number.size() &&
         number.find(".e") == std::string_view::npos && number.find(".E") == std::string_view::npos;
}

/// Returns the body with numbers beyond the range of a double as strings. The JSON reader refuses
/// such numbers and with them the whole body, but put documents use numbers as texts. Later, only
/// the point with a value such as 1e400 is refused.
std::string QuoteHugeNumbers(std::string_view body) {
  std::string quoted;
  for (size_t i = 0; i < body.size();) {
    size_t end = i + 1;
    if (body[i] == '"') {
      while (end < body.size() && body[end] != '"') end += body[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, body.size());
      quoted.append(body, i, end - i);
    } else if (body[i] == '-' || (body[i] >= '0' && body[i] <= '9')) {
      end = std::min(body.find_first_not_of("0123456789+-.eE", i), body.size());
      const std::string_view number = body.substr(i, end - i);
      const std::string_view quote = IsHuge(number) ? "\"" : "";
      quoted.append(quote).append(number).append(quote);
    } else {
      quoted += body[i];
    }
    i = end;
  }
  return quoted;
}

}  // namespace

void OrderPutTags(std::vector<PutTag>* tags) {
  std::vector<uint32_t> hashes;
  hashes.reserve(tags->size());
  for (const PutTag& tag : *tags) hashes.push_back(JavaHashUtf8(tag.key));
  std::vector<PutTag> ordered;
  ordered.reserve(tags->size());
  for (const size_t i : JavaMapOrder(hashes, Hash16Capacity(tags->size())))
    ordered.push_back(std::move((*tags)[i]));
  *tags = std::move(ordered);
}

Result<std::deque<PutPoint>> ParsePutDocument(std::string_view body, RequestMemory::Share* memory,
                                              PutKind kind, RequestContext& context) {
  std::deque<PutPoint> points;
  uint64_t held = 0;
  Status bound;
  const auto bind = [&](const JsonValue& element) -> Status {
    PutPoint& point = points.emplace_back();
    RequestMemory::Room room(memory);
    RETURN_IF_ERROR(room.Grow(BindingBytesOf(element)));
    bound = BindPoint(element, kind, &point);
    if (!bound.ok() || memory == nullptr) return bound;
    const uint64_t bytes = BytesOf(point);
    if (!memory->Take(bytes)) return memory->refusal();
    held += bytes;
    return {};
  };
  Status parsed = ParseJsonElements(body, bind, memory, context);
  if (parsed.code() == StatusCode::kInvalidArgument && bound.ok()) {
    points.clear();
    if (memory != nullptr) memory->Give(held);
    if (memory != nullptr && !memory->Take(body.size())) return memory->refusal();
    const Status again = ParseJsonElements(QuoteHugeNumbers(body), bind, memory, context);
    if (again.code() != StatusCode::kInvalidArgument || !bound.ok()) parsed = again;
  }
  if (!bound.ok() && body[body.find_first_not_of(" \t\r\n")] == '[')
    return Prepend(bound, "data point " + std::to_string(points.size()));
  RETURN_IF_ERROR(parsed);
  return points;
}

}  // namespace hg::http
