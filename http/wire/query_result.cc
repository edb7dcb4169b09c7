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

/// Writes an array. `write` writes one element. If the client has disconnected, the rest of the
/// elements is left out.
template <typename List, typename WriteOne>
void WriteArray(const List& list, JsonWriter* json, WriteOne write) {
  json->BeginArray();
  for (const auto& element : list) {
    if (!json->alive()) break;
    write(element);
  }
  json->EndArray();
}

using AnnotationList = std::vector<const codec::Annotation*>;

/// Returns the annotations in the time range of the query, in the order of the response.
AnnotationList ShownAnnotations(const std::vector<codec::Annotation>& annotations,
                                const ValidQuery& query) {
  AnnotationList shown;
  for (const codec::Annotation& a : annotations) {
    int64_t start = Timestamp{a.start_time}.millis();
    if (start >= query.start_ms && start <= query.end_ms) shown.push_back(&a);
  }
  // The annotations are sorted by the start time as stored: seconds come before milliseconds
  // (observed in OpenTSDB).
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->start_time < b->start_time; });
  return shown;
}

void WriteAnnotations(std::string_view key, const AnnotationList& shown, JsonWriter* json) {
  json->Key(key);
  WriteArray(shown, json, [&](const codec::Annotation* a) { WriteAnnotation(*a, json); });
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

// Upper bounds of the bytes that the elements of a response take. The bounds of objects include the
// names of their members and all numbers, but not their texts and lists.
constexpr size_t kGroupBytes = 128, kGroupStatsBytes = 384, kSubQueryBytes = 640;
constexpr size_t kFilterBytes = 64, kAnnotationBytes = 128, kLastPointBytes = 128;
constexpr size_t kJsonPointBytes = 48;   // 20 bytes of time, 24 of value, quotes, comma and colon
constexpr size_t kJsonNumberBytes = 25;  // a number and a comma
constexpr size_t kEscapedBytes = 6;      // an escaped character, such as \u0000

size_t JsonBytesMax(std::string_view text) {
  constexpr size_t kAround = 3;  // quotes, and a comma or colon
  return kAround + kEscapedBytes * text.size();
}

/// Returns an upper bound for a list of texts, or of bytes in hexadecimal or base64.
size_t JsonBytesMax(const std::vector<Bytes>& texts) {
  size_t bytes = 0;
  for (const Bytes& text : texts) bytes += JsonBytesMax(text);
  return bytes;
}

size_t JsonBytesMax(const std::vector<std::pair<Bytes, Bytes>>& tags) {
  size_t bytes = 0;
  for (const auto& [key, value] : tags) bytes += JsonBytesMax(key) + JsonBytesMax(value);
  return bytes;
}

size_t JsonBytesMax(const codec::Annotation& annotation) {
  size_t bytes = kAnnotationBytes + JsonBytesMax(annotation.tsuid) +
                 JsonBytesMax(annotation.description) + JsonBytesMax(annotation.notes);
  if (annotation.custom) {
    for (const auto& [name, value] : *annotation.custom)
      bytes += JsonBytesMax(name) + JsonBytesMax(value);
  }
  return bytes;
}

size_t JsonBytesMax(const query::SubQuery& query, const query::SubQueryInfo& info) {
  size_t bytes = kSubQueryBytes + JsonBytesMax(info.rollup_table) + JsonBytesMax(info.filter_keys);
  for (const auto* text :
       {&query.aggregator, &query.metric, &query.downsample, &query.value_filter}) {
    if (*text) bytes += JsonBytesMax(**text);
  }
  if (query.tsuids) bytes += JsonBytesMax(query.tsuids->get());
  if (query.percentiles) bytes += kJsonNumberBytes * query.percentiles->size();
  for (const FilterSpec& f : query.filters) {
    const size_t texts = JsonBytesMax(f.tagk) + JsonBytesMax(f.type) + JsonBytesMax(f.filter);
    bytes += kFilterBytes + (f.group_by ? 2 * texts : texts);
  }
  return bytes;
}

/// The data that the printing of all results of a query shares.
struct Printing {
  const ValidQuery& query;
  const Answer& answer;
  const AnswerForm& form;
  const Clock& clock;
  AnnotationList global_annotations;  // each result repeats these annotations
};

/// Writes one group. Returns the elapsed time in nanoseconds.
int64_t WriteGroup(const Printing& printing, const Group& group, TagWriter* tags, PointTexts* texts,
                   JsonWriter* json) {
  const auto& [query, answer, form, clock, global_annotations] = printing;
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
  WriteArray(group.aggregate_tags, json, [&](const Bytes& tag) { json->String(tag); });
  if (request.show_query) {
    json->Key("query");
    WriteSubQuery(sub.text, index, info.filter_keys, json, info.rollup_table);
  }
  if (request.show_tsuids) {
    json->Key("tsuids");
    WriteArray(group.tsuids, json, [&](const Bytes& tsuid) { json->String(ToHexUpper(tsuid)); });
  }
  if (!request.no_annotations) {
    if (!group.annotations.empty() || computed) {
      WriteAnnotations("annotations", ShownAnnotations(group.annotations, query), json);
    }
    if (!answer.global_annotations.empty()) {
      WriteAnnotations("globalAnnotations", global_annotations, json);
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
  if (point.names != nullptr) json->Member("metric", point.names->metric);
  json->Member("timestamp", point.time_ms);
  std::string value;
  if (point.is_double) {
    AppendJavaDouble(&value, std::bit_cast<double>(point.bits));
  } else {
    value = std::to_string(static_cast<int64_t>(point.bits));
  }
  json->Member("value", value);
  if (point.names != nullptr) {
    json->Key("tags");
    tags->Write(point.names->tags, json);
  }
  json->Member("tsuid", ToHexUpper(point.tsuid));
  json->EndObject();
}

}  // namespace

void WriteAnswer(const ValidQuery& query, const Answer& answer, const AnswerForm& form,
                 const Clock& clock, query::QueryStats* stats, const Printers& printers,
                 JsonWriter* json) {
  Printing printing{query, answer, form, clock, {}};
  size_t repeated_bytes = kGroupBytes;  // what each result repeats
  if (!query.request.no_annotations) {
    printing.global_annotations = ShownAnnotations(answer.global_annotations, query);
    for (const codec::Annotation* a : printing.global_annotations)
      repeated_bytes += JsonBytesMax(*a);
  }
  if (query.request.show_stats) repeated_bytes += kGroupStatsBytes;
  std::vector<size_t> query_bytes(query.queries.size(), 0);
  if (query.request.show_query) {
    for (size_t i = 0; i < query.queries.size(); ++i)
      query_bytes[i] = JsonBytesMax(query.queries[i].text, answer.queries[i]);
  }
  std::mutex stats_mutex;
  ElementPrinting groups;
  groups.count = answer.groups.size();
  groups.bytes_max = [&](size_t i) {
    const Group& group = answer.groups[i];
    const size_t of = group.query_index == query::kComputedGroup ? 0 : group.query_index;
    size_t bytes = repeated_bytes + query_bytes[of] + JsonBytesMax(group.metric) +
                   JsonBytesMax(group.tags.get()) + JsonBytesMax(group.aggregate_tags.get()) +
                   kJsonPointBytes * group.points.size();
    if (query.request.show_tsuids) bytes += JsonBytesMax(group.tsuids.get());
    if (!query.request.no_annotations) {
      for (const codec::Annotation& a : group.annotations) bytes += JsonBytesMax(a);
    }
    return bytes;
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
    WriteArray(*text.tsuids, json, [&](const std::string& tsuid) { json->String(tsuid); });
  } else {
    json->Null();
  }
  json->TextOrNull("downsample", text.downsample);
  json->Member("rate", text.rate);
  json->Key("filters");
  WriteArray(text.filters, json, [&](const FilterSpec& f) {
    json->BeginObject();
    json->Member("tagk", f.tagk);
    json->Member("filter", f.filter);
    json->Member("group_by", f.group_by);
    json->Member("type", f.type);
    json->EndObject();
  });
  json->Key("percentiles");
  if (text.percentiles) {
    std::vector<double> ascending = *text.percentiles;  // in the order of the results
    std::sort(ascending.begin(), ascending.end());
    WriteArray(ascending, json, [&](double p) { json->Float(static_cast<float>(p)); });
  } else {
    json->Null();
  }
  json->Member("index", static_cast<int64_t>(index));
  json->Key("filterTagKs");
  if (filter_keys.empty() && text.filters.empty()) {
    json->Null();
  } else {
    WriteArray(filter_keys, json, [&](const Bytes& key) { json->String(ToBase64(key)); });
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
  for (const auto& [key, f] : grouping) {
    if (!json->alive()) break;
    json->Member(key, f->type + "(" + f->filter + ")");
  }
  json->EndObject();
  json->Member("histogramQuery", query::AsksForHistograms(text));
  json->EndObject();
}

void WriteLastPoints(const std::vector<query::LastPoint>& points, const Printers& printers,
                     JsonWriter* json) {
  ElementPrinting elements;
  elements.count = points.size();
  elements.bytes_max = [&](size_t i) {
    const query::LastPoint& point = points[i];
    const size_t bytes = kLastPointBytes + JsonBytesMax(point.tsuid);
    if (point.names == nullptr) return bytes;
    return bytes + JsonBytesMax(point.names->metric) + JsonBytesMax(point.names->tags);
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
