#include "http/wire/query_result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/wire/annotation_json.h"
#include "http/wire/base64.h"
#include "http/wire/query_stats.h"
#include "query/plan/rollup.h"
#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"
#include "storage/model/plain_double.h"
#include "storage/model/timestamp.h"

namespace hg::http {
namespace {

using query::Answer;
using query::FilterSpec;
using query::Group;
using query::ValidQuery;

/// Writes tags in the order of Java's hash map, whose capacity depends on their number.
/// Neighbouring groups mostly have the same keys, so the order is computed once for them.
class TagWriter {
 public:
  explicit TagWriter(size_t (*capacity_of)(size_t)) : capacity_of_(capacity_of) {}

  void Write(const std::vector<std::pair<Bytes, Bytes>>& tags, JsonWriter* json) {
    if (!std::equal(tags.begin(), tags.end(), keys_.begin(), keys_.end(),
                    [](const auto& tag, const Bytes& key) { return tag.first == key; })) {
      Learn(tags);
    }
    json->BeginObject();
    for (const size_t i : order_) json->Member(tags[i].first, tags[i].second);
    json->EndObject();
  }

 private:
  void Learn(const std::vector<std::pair<Bytes, Bytes>>& tags) {
    keys_.clear();
    std::vector<uint32_t> hashes;
    for (const auto& [key, value] : tags) {
      keys_.push_back(key);
      hashes.push_back(JavaHashUtf8(key));
    }
    order_ = JavaMapOrder(hashes, capacity_of_(tags.size()));
  }

  size_t (*const capacity_of_)(size_t);
  std::vector<Bytes> keys_;
  std::vector<size_t> order_;
};

void WriteAnnotations(std::string_view key, const std::vector<codec::Annotation>& annotations,
                      const ValidQuery& query, JsonWriter* json) {
  std::vector<const codec::Annotation*> shown;
  for (const codec::Annotation& a : annotations) {
    int64_t start = Timestamp{a.start_time}.millis();
    if (start >= query.start_ms && start <= query.end_ms) shown.push_back(&a);
  }
  // The annotations are sorted by the start time as stored: seconds come before milliseconds
  // (observed in OpenTSDB).
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->start_time < b->start_time; });
  json->Key(key);
  json->BeginArray();
  for (const codec::Annotation* a : shown) WriteAnnotation(*a, json);
  json->EndArray();
}

/// The format of the points of one sub-query.
struct PointFormat {
  AnswerForm form;
  bool millis = false;
  bool nan_as_null = false;
};

void WriteValue(const query::PointColumns& points, size_t i, const PointFormat& format,
                JsonWriter* json) {
  if (!points.double_at(i)) return json->Int(static_cast<int64_t>(points.bits[i]));
  double value = std::bit_cast<double>(points.bits[i]);
  if (format.nan_as_null && std::isnan(value)) return json->Null();
  json->Double(value);
}

/// Buffers points in the form `"time":number`. Neighbouring groups mostly have the same times, so
/// the texts of times are cached.
class PointTexts {
 public:
  /// Adds the i-th point of a group. If the number needs another form, adds nothing and returns
  /// false.
  bool Add(size_t i, int64_t time, double value, JsonWriter* json) {
    if (text_.size() - size_ < kPointBytesMax) Finish(json);
    const Key& key = KeyOf(i, time);
    char* to = text_.data() + size_;
    if (size_ > 0) *to++ = ',';
    std::memcpy(to, key.text.data(), key.text.size());
    const char* const end = PutPlainDouble(value, to + key.size);
    if (end == nullptr) return false;
    size_ = static_cast<size_t>(end - text_.data());
    return true;
  }
  /// Writes the buffered points. Call it before anything else is written.
  void Finish(JsonWriter* json) {
    if (size_ > 0) json->Raw({text_.data(), std::exchange(size_, 0)});
  }

 private:
  static constexpr size_t kKeyBytesMax = 23;  // quotes, sign, 19 digits, colon
  static constexpr size_t kPointBytesMax = 1 + kKeyBytesMax + kPlainDoubleBytesMax;
  static constexpr size_t kKeysMax = 1024;
  struct Key {
    int64_t time = 0;
    uint8_t size = 0;
    std::array<char, kKeyBytesMax> text{};
  };

  const Key& KeyOf(size_t i, int64_t time) {
    if (i < keys_.size() && keys_[i].time == time) return keys_[i];
    i = std::min({i, keys_.size(), kKeysMax});
    if (i == keys_.size()) keys_.emplace_back();
    Key& key = keys_[i];
    key.time = time;
    char* to = key.text.data();
    *to++ = '"';
    to = std::to_chars(to, key.text.data() + kKeyBytesMax, time).ptr;
    *to++ = '"';
    *to++ = ':';
    key.size = static_cast<uint8_t>(to - key.text.data());
    return key;
  }

  std::vector<Key> keys_;
  std::array<char, 2048> text_;
  size_t size_ = 0;  // used bytes of text_
};

void WritePoints(const query::PointColumns& points, const PointFormat& format, PointTexts* texts,
                 JsonWriter* json) {
  json->Key("dps");
  format.form.arrays ? json->BeginArray() : json->BeginObject();
  for (size_t i = 0; i < points.size() && json->alive(); ++i) {
    if (format.form.omit_nan && points.double_at(i) &&
        std::isnan(std::bit_cast<double>(points.bits[i])))
      continue;
    int64_t time = format.millis ? points.time_ms[i] : points.time_ms[i] / 1000;
    if (format.form.arrays) {
      json->BeginArray();
      json->Int(time);
      WriteValue(points, i, format, json);
      json->EndArray();
    } else if (!points.double_at(i) ||
               !texts->Add(i, time, std::bit_cast<double>(points.bits[i]), json)) {
      texts->Finish(json);
      json->Key(time);
      WriteValue(points, i, format, json);
    }
  }
  texts->Finish(json);
  format.form.arrays ? json->EndArray() : json->EndObject();
}

/// The cost of printing is counted in points. This many bytes of text cost as much as one point.
constexpr size_t kTextBytesPerPoint = 24;
/// The costs of an annotation and of a filter, in points, without their texts.
constexpr size_t kAnnotationPoints = 8, kFilterPoints = 4;

size_t PointsOf(const Bytes& metric, const std::vector<std::pair<Bytes, Bytes>>& tags) {
  size_t bytes = metric.size();
  for (const auto& [key, value] : tags) bytes += key.size() + value.size();
  return bytes / kTextBytesPerPoint;
}

size_t PointsOf(const query::SubQuery& query) {
  size_t points = 1 + (query.tsuids ? query.tsuids->size() : 0) +
                  (query.percentiles ? query.percentiles->size() : 0);
  for (const FilterSpec& f : query.filters)
    points += kFilterPoints + (f.tagk.size() + f.filter.size()) / kTextBytesPerPoint;
  return points;
}

/// The data that the printing of all results of a query shares.
struct Printing {
  const ValidQuery& query;
  const Answer& answer;
  const AnswerForm& form;
  const Clock& clock;
};

/// Writes one group. Returns the elapsed time in nanoseconds.
int64_t WriteGroup(const Printing& printing, const Group& group, TagWriter* tags, PointTexts* texts,
                   JsonWriter* json) {
  const auto& [query, answer, form, clock] = printing;
  const int64_t began_ns = clock.MonotonicNs();
  const query::Request& request = query.request;
  // The result of an expression (kComputedGroup) shows the first sub-query as its own. Its list of
  // annotations is always empty.
  const bool computed = group.query_index == query::kComputedGroup;
  const size_t index = computed ? 0 : group.query_index;
  const query::ValidSubQuery& sub = query.queries[index];
  const query::SubQueryInfo& info = answer.queries[index];
  json->BeginObject();
  json->Member("metric", group.metric);
  json->Key("tags");
  tags->Write(group.tags, json);
  json->Key("aggregateTags");
  json->BeginArray();
  for (const Bytes& tag : group.aggregate_tags) json->String(tag);
  json->EndArray();
  if (request.show_query) {
    json->Key("query");
    WriteSubQuery(sub.text, index, info.filter_keys, json, info.rollup_table);
  }
  if (request.show_tsuids) {
    json->Key("tsuids");
    json->BeginArray();
    for (const Bytes& tsuid : group.tsuids) json->String(ToHexUpper(tsuid));
    json->EndArray();
  }
  if (!request.no_annotations) {
    if (!group.annotations.empty() || computed) {
      WriteAnnotations("annotations", group.annotations, query, json);
    }
    if (!answer.global_annotations.empty()) {
      WriteAnnotations("globalAnnotations", answer.global_annotations, query, json);
    }
  }
  bool nulls = sub.downsample && sub.downsample->fill == query::FillPolicy::kNull;
  WritePoints(group.points, {form, request.ms_resolution, nulls}, texts, json);
  const int64_t print_ns = clock.MonotonicNs() - began_ns;
  if (request.show_stats) {
    json->Key("stats");
    WriteGroupStats(group, info.stats, index, print_ns, json);
  }
  json->EndObject();
  return print_ns;
}

void WriteLastPoint(const query::LastPoint& point, TagWriter* tags, JsonWriter* json) {
  json->BeginObject();
  if (point.metric) json->Member("metric", *point.metric);
  json->Member("timestamp", point.time_ms);
  std::string value;
  if (point.is_double) {
    AppendJavaDouble(&value, std::bit_cast<double>(point.bits));
  } else {
    value = std::to_string(static_cast<int64_t>(point.bits));
  }
  json->Member("value", value);
  if (point.metric) {
    json->Key("tags");
    tags->Write(point.tags, json);
  }
  json->Member("tsuid", ToHexUpper(point.tsuid));
  json->EndObject();
}

}  // namespace

void WriteAnswer(const ValidQuery& query, const Answer& answer, const AnswerForm& form,
                 const Clock& clock, query::QueryStats* stats, const Printers& printers,
                 JsonWriter* json) {
  const Printing printing{query, answer, form, clock};
  std::mutex stats_mutex;
  ElementPrinting groups;
  groups.count = answer.groups.size();
  // Results that are printed concurrently wait in memory, so the estimate must include every part
  // of a result that can be long.
  std::vector<size_t> query_points(query.queries.size(), 0);
  if (query.request.show_query) {
    for (size_t i = 0; i < query.queries.size(); ++i)
      query_points[i] = PointsOf(query.queries[i].text);
  }
  groups.points = [&](size_t i) {
    const Group& group = answer.groups[i];
    const size_t of = group.query_index == query::kComputedGroup ? 0 : group.query_index;
    size_t points = group.points.size() + query_points[of] + PointsOf(group.metric, group.tags);
    if (query.request.show_tsuids) points += group.tsuids.size();
    if (!query.request.no_annotations) {
      points += kAnnotationPoints * (group.annotations.size() + answer.global_annotations.size());
    }
    return points;
  };
  groups.print = [&](size_t begin, size_t end, JsonWriter* part) {
    TagWriter tags(HashQCapacity);
    PointTexts texts;
    std::vector<int64_t> print_ns(stats->queries.size());
    for (size_t i = begin; i < end && part->alive(); ++i) {
      const Group& group = answer.groups[i];
      const size_t of = group.query_index == query::kComputedGroup ? 0 : group.query_index;
      print_ns[of] += WriteGroup(printing, group, &tags, &texts, part);
    }
    std::lock_guard lock(stats_mutex);
    for (size_t i = 0; i < print_ns.size(); ++i) stats->queries[i].print_ns += print_ns[i];
  };
  json->BeginArray();
  PrintElements(groups, printers, json);
  if (!json->alive()) return;
  if (query.request.show_summary) {
    json->BeginObject();
    json->Key("statsSummary");
    WriteQueryStats(*stats, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteSubQuery(const query::SubQuery& text, size_t index, const std::vector<Bytes>& filter_keys,
                   JsonWriter* json, std::string_view rollup_table) {
  json->BeginObject();
  json->TextOrNull("aggregator", text.aggregator);
  json->TextOrNull("metric", text.metric);
  json->Key("tsuids");
  if (text.tsuids) {
    json->BeginArray();
    for (const std::string& tsuid : *text.tsuids) json->String(tsuid);
    json->EndArray();
  } else {
    json->Null();
  }
  json->TextOrNull("downsample", text.downsample);
  json->Member("rate", text.rate);
  json->Key("filters");
  json->BeginArray();
  for (const FilterSpec& f : text.filters) {
    json->BeginObject();
    json->Member("tagk", f.tagk);
    json->Member("filter", f.filter);
    json->Member("group_by", f.group_by);
    json->Member("type", f.type);
    json->EndObject();
  }
  json->EndArray();
  json->Key("percentiles");
  if (text.percentiles) {
    json->BeginArray();
    std::vector<double> ascending = *text.percentiles;  // in the order of the results
    std::sort(ascending.begin(), ascending.end());
    for (double p : ascending) json->Float(static_cast<float>(p));
    json->EndArray();
  } else {
    json->Null();
  }
  json->Member("index", static_cast<int64_t>(index));
  json->Key("filterTagKs");
  if (filter_keys.empty() && text.filters.empty()) {
    json->Null();
  } else {
    json->BeginArray();
    for (const Bytes& key : filter_keys) json->String(ToBase64(key));
    json->EndArray();
  }
  json->Member("useFuzzyFilter", text.use_fuzzy_filter);
  json->Member("useMultiGets", text.use_multi_gets);
  json->Member("rollupTable", rollup_table);
  json->Key("rateOptions");
  if (text.rate_options) {
    json->BeginObject();
    json->Member("counter", text.rate_options->counter);
    json->Member("counterMax", text.rate_options->counter_max);
    json->Member("resetValue", text.rate_options->reset_value);
    json->Member("dropResets", text.rate_options->drop_resets);
    json->EndObject();
  } else {
    json->Null();
  }
  json->Member("preAggregate", text.pre_aggregate);
  json->Key("rollupUsage");
  text.rollup_usage ? json->String(query::RollupUsageName(*text.rollup_usage)) : json->Null();
  json->Member("explicitTags", text.explicit_tags);
  if (text.value_filter) json->Member("valueFilter", *text.value_filter);
  json->Member("showHistogramBuckets", text.show_histogram_buckets);
  json->Key("tags");
  json->BeginObject();
  // If a key occurs several times, the last filter counts.
  std::map<std::string_view, const FilterSpec*> grouping;
  for (const FilterSpec& f : text.filters) {
    if (f.group_by) grouping[f.tagk] = &f;
  }
  for (const auto& [key, f] : grouping) json->Member(key, f->type + "(" + f->filter + ")");
  json->EndObject();
  json->Member("histogramQuery", query::AsksForHistograms(text));
  json->EndObject();
}

void WriteLastPoints(const std::vector<query::LastPoint>& points, const Printers& printers,
                     JsonWriter* json) {
  ElementPrinting elements;
  elements.count = points.size();
  elements.points = [&](size_t i) {
    return 1 + (points[i].metric ? PointsOf(*points[i].metric, points[i].tags) : 0);
  };
  elements.print = [&](size_t begin, size_t end, JsonWriter* part) {
    TagWriter tags(HashNCapacity);
    for (size_t i = begin; i < end && part->alive(); ++i) WriteLastPoint(points[i], &tags, part);
  };
  json->BeginArray();
  PrintElements(elements, printers, json);
  json->EndArray();
}

}  // namespace hg::http
