#include "http/api/put.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "http/commit_wait.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/services.h"
#include "http/wire/histogram_text.h"
#include "http/wire/json_writer.h"
#include "http/wire/put_document.h"
#include "http/wire/put_json.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/number_text.h"
#include "storage/model/point_sink.h"

namespace hg::http {
namespace {

struct Flags {
  bool summary = false, details = false, sync = false;
  int32_t sync_timeout_ms = 0;
};

/// What became of one point.
struct Outcome {
  std::string error;     // empty = stored
  bool storage = false;  // refused by the store, not by its contents
};

class PutRequest {
 public:
  PutRequest(const Request& request, Services& services, ResponseWriter& out, PutKind kind)
      : request_(request),
        services_(services),
        counters_(services.counters),
        out_(out),
        kind_(kind) {}

  void Run() {
    if (kind_ == PutKind::kPoints) counters_.rpc_put.fetch_add(1, std::memory_order_relaxed);
    if (kind_ == PutKind::kPoints && StoreLearning()) return;
    if (!ReadBody() || !ReadFlags()) return;
    outcomes_.resize(points_.size());
    if (kind_ == PutKind::kPoints) ReadSpellings();
    if (kind_ != PutKind::kPoints && !MayStore()) {
      counters_.put_writes_blocked.fetch_add(1, std::memory_order_relaxed);
      return SendWriteRefusal(out_, request_, refusal_);
    }
    for (size_t i = 0; i < points_.size(); ++i) {
      outcomes_[i] = kind_ == PutKind::kHistograms ? TakeHistogram(points_[i]) : TakePoint(i);
      if (!refusal_.ok()) return SendWriteRefusal(out_, request_, refusal_);
    }
    if (!Store()) return;
    Answer();
  }

 private:
  void Refuse(int status, std::string_view message, std::string_view details = {}) {
    SendError(out_, request_, status, message, details);
  }

  bool ReadBody() {
    const std::string_view body = request_.body;
    if (body.empty()) return Refuse(400, "Missing request content"), false;
    const size_t first = body.find_first_not_of(" \t\r\n\f\v");
    if (first == std::string_view::npos) return Refuse(500, "String index out of range: 0"), false;
    if (body[first] != '{' && body[first] != '[') {
      return Refuse(400, "The JSON must start as an object or an array"), false;
    }
    auto points = ParsePutDocument(body, kind_);
    if (!points.ok()) {
      return Refuse(400, "Unable to parse the given JSON", points.status().message()), false;
    }
    points_ = std::move(*points);
    if (points_.empty()) return Refuse(400, "No datapoints found in content"), false;
    return true;
  }

  bool ReadFlags() {
    const Parameters& parameters = request_.parameters;
    flags_ = {parameters.Has("summary"), parameters.Has("details"), parameters.Has("sync"), 0};
    const std::string* timeout = parameters.Find("sync_timeout");
    if (timeout == nullptr) return true;
    std::string_view text = *timeout;
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, flags_.sync_timeout_ms);
    if (error == std::errc() && stop == end) return true;
    return Refuse(500, "For input string: \"" + *timeout + "\""), false;
  }

  /// A regular body whose series are new, or not met since the start: all of it is stored without
  /// building a document. False: nothing is done, and every point is to be looked at.
  bool StoreLearning() {
    std::vector<SpelledPoint> points;
    if (!Parser().Parse(Padded(), &points) || points.empty()) return false;
    if (!ReadFlags()) return true;
    if (flags_.sync) return false;  // it may be told of points that took too long
    const auto appended = services_.sink.AppendLearning(points);
    if (!appended.ok()) {
      if (Judge(appended.status()); refusal_.ok()) return false;
      SendWriteRefusal(out_, request_, refusal_);
      return true;
    }
    if (!appended->known) return false;
    outcomes_.resize(points.size());
    counters_.points_added.fetch_add(points.size(), std::memory_order_relaxed);
    if (Commit(appended->position)) Answer();
    return true;
  }

  /// The raw bytes of each point, under which its series is found the next time.
  void ReadSpellings() {
    Parser().ParseSpellings(Padded(), &spellings_);
    // Cut short by what the fast parser does not know: the rest has none.
    spellings_.resize(points_.size());
  }

  static PutJsonParser& Parser() {
    static thread_local PutJsonParser parser;
    return parser;
  }

  /// The body with room behind it.
  std::string& Padded() {
    padded_.reserve(request_.body.size() + kPutPadding);
    padded_ = request_.body;
    return padded_;
  }

  /// Spec http-api.md §8.2, rows 1–7; a good point is queued, a rollup is stored.
  Outcome TakePoint(size_t i) {
    NamedPoint named;
    std::string fault = CheckPoint(points_[i], &named.value);
    if (!fault.empty()) return {std::move(fault), false};
    if (kind_ == PutKind::kRollups) return TakeRollup(&points_[i], named.value);
    named.metric = *points_[i].metric;
    named.time.raw = points_[i].timestamp;
    named.spelling = spellings_[i];
    named_.push_back(named);
    tags_.push_back(TagsOf(points_[i]));
    places_.push_back(i);
    return {};
  }

  /// The text of the refusal.
  std::string CheckPoint(const PutPoint& point, PointValue* value) {
    if (point.null) return Illegal("Unexpected null datapoint encountered in set.");
    if (!point.metric || point.metric->empty()) return Illegal("Metric name was empty");
    if (point.timestamp <= 0) return Illegal("Invalid timestamp");
    if (!point.value || point.value->empty()) return Illegal("Empty value");
    if (!point.tags || point.tags->empty()) return Illegal("Missing tags");
    if (kind_ == PutKind::kRollups && Missing(point.group_by)) {
      if (Missing(point.interval)) return Illegal("Missing interval");
      if (Missing(point.aggregator)) return Illegal("Missing aggregator");
    }
    NumberError error;
    if (!ParseValue(*point.value, EntryPath::kHttp, value, &error)) {
      if (error.fault == NumberFault::kNotFinite) {
        return Illegal("value is NaN or Infinite: " + error.message + " for metric=" +
                       *point.metric + " timestamp=" + std::to_string(point.timestamp));
      }
      counters_.put_invalid_values.fetch_add(1, std::memory_order_relaxed);
      return "Unable to parse value to a number";
    }
    return {};
  }

  Outcome TakeRollup(PutPoint* point, const PointValue& value) {
    NamedRollup rollup;
    rollup.metric = *point->metric;
    rollup.time.raw = point->timestamp;
    rollup.value = value;
    if (point->interval) rollup.interval = *point->interval;
    if (point->aggregator) rollup.aggregator = *point->aggregator;
    if (point->group_by) rollup.group_by = *point->group_by;
    rollup.group_by_given = point->group_by.has_value();
    const std::string key(services_.rollups->aggregate_key());
    if (!key.empty() || Missing(point->interval)) {
      std::string aggregate = AggregateTagValue(*services_.rollups, rollup.group_by, rollup.time);
      unprintable_ |= key.empty() && !aggregate.empty();
      AddTag(key, std::move(aggregate), point);
    }
    const std::vector<TagText> tags = TagsOf(*point);
    rollup.tags = tags;
    const Status stored = services_.rollups->Put(rollup);
    if (stored.code() == StatusCode::kUnsupported) return {"Unexpected exception", false};
    return Judge(stored);
  }

  /// Adds a tag in its place, if there is a value and no such key. One that is there is given in
  /// any case and stored as `value` is; whether it may be another is the sink's business.
  static void AddTag(const std::string& key, std::string value, PutPoint* point) {
    if (value.empty()) return;
    for (PutTag& tag : *point->tags) {
      if (tag.key != key) continue;
      if (UpperCase(tag.value.value_or("")) == UpperCase(value)) tag.value = value;
      return;
    }
    point->tags->push_back({key, std::move(value)});
    OrderPutTags(&*point->tags);
  }

  /// Spec http-api.md §9.2.
  Outcome TakeHistogram(const PutPoint& point) {
    if (point.null) return {Illegal("Unexpected null datapoint encountered in set."), false};
    if (!point.metric || point.metric->empty()) return {Illegal("Metric name was empty"), false};
    if (point.timestamp <= 0) return {Illegal("Invalid timestamp"), false};
    if (!point.tags || point.tags->empty()) return {Illegal("Missing tags"), false};
    const Result<Bytes> value = EncodeHistogram(point);
    if (!value.ok()) return {Illegal(std::string(value.status().message())), false};
    const std::vector<TagText> tags = TagsOf(point);
    return Judge(
        services_.histograms->Put({*point.metric, tags, Timestamp{point.timestamp}, *value}));
  }

  Result<Bytes> EncodeHistogram(const PutPoint& point) {
    const uint8_t codec = *services_.options.histogram_codec_id;
    codec::SimpleHistogram histogram;
    histogram.codec_id = codec;
    if (!point.buckets || point.buckets->empty()) {
      if (Missing(point.value)) {
        return Status::InvalidArgument(
            "Histogram buckets cannot be null or empty if 'value' is empty.");
      }
      if (point.id != codec) {
        return Status::InvalidArgument("No codec found mapped to ID " + std::to_string(point.id));
      }
      ASSIGN_OR_RETURN(histogram, DecodeHistogramText(*point.value, codec));
      return codec::EncodeSimpleHistogram(std::move(histogram));
    }
    for (const PutBucket& bucket : *point.buckets)
      RETURN_IF_ERROR(AddBucket(bucket.bounds, bucket.count, &histogram));
    histogram.underflow = static_cast<uint64_t>(point.underflow);
    histogram.overflow = static_cast<uint64_t>(point.overflow);
    return codec::EncodeSimpleHistogram(std::move(histogram));
  }

  static std::vector<TagText> TagsOf(const PutPoint& point) {
    std::vector<TagText> tags;
    for (const PutTag& tag : *point.tags) {
      tags.push_back({tag.key, tag.value ? std::string_view(*tag.value) : std::string_view(),
                      !tag.value.has_value()});
    }
    return tags;
  }

  static bool Missing(const std::optional<std::string>& field) { return !field || field->empty(); }

  std::string Illegal(std::string text) {
    counters_.put_illegal_arguments.fetch_add(1, std::memory_order_relaxed);
    return text;
  }

  /// Asks for all values at once: each is stored for itself, and of what is refused none is to be.
  bool MayStore() {
    std::set<std::string_view> metrics;
    uint64_t values = 0;
    for (const PutPoint& point : points_) {
      if (point.null || Missing(point.metric)) continue;
      metrics.insert(*point.metric);
      ++values;
    }
    LimitedSink* const sink = kind_ == PutKind::kHistograms
                                  ? static_cast<LimitedSink*>(services_.histograms)
                                  : services_.rollups;
    refusal_ = sink->AskFor(std::vector<std::string_view>(metrics.begin(), metrics.end()), values);
    return refusal_.ok();
  }

  /// Stores the good points and waits for the log. False: answered already, the store will not have
  /// it now.
  bool Store() {
    for (size_t k = 0; k < named_.size(); ++k) named_[k].tags = tags_[k];
    std::vector<Status> verdicts;
    const auto position = services_.sink.AppendNamed(named_, &verdicts);
    for (size_t k = 0; k < verdicts.size(); ++k) {
      outcomes_[places_[k]] = Judge(verdicts[k]);
      if (!refusal_.ok()) return SendWriteRefusal(out_, request_, refusal_), false;
    }
    return Commit(position);
  }

  /// Waits for the log. False: answered already.
  bool Commit(PointSink::Position position) {
    const Status committed = CommitAndWait(services_.sink, position,
                                           flags_.sync ? std::max(flags_.sync_timeout_ms, 0) : 0);
    if (committed.code() == StatusCode::kDeadlineExceeded) {
      timed_out_ = true;
      for (const size_t place : places_) {
        if (outcomes_[place].error.empty()) outcomes_[place] = {"Write timedout", true};
      }
    } else if (!committed.ok()) {
      counters_.put_storage_errors.fetch_add(1, std::memory_order_relaxed);
      return SendStatus(out_, request_, committed), false;
    }
    return true;
  }

  Outcome Judge(const Status& verdict) {
    switch (verdict.code()) {
      case StatusCode::kOk:
        counters_.points_added.fetch_add(1, std::memory_order_relaxed);
        return {};
      case StatusCode::kInvalidArgument:
        return {Illegal(std::string(verdict.message())), false};
      case StatusCode::kNotFound:
        counters_.put_unknown_metrics.fetch_add(1, std::memory_order_relaxed);
        return {"Unknown metric", false};
      case StatusCode::kConflict:  // a name whose bytes are another one's
        counters_.put_storage_errors.fetch_add(1, std::memory_order_relaxed);
        return {std::string(verdict.message()), false};
      case StatusCode::kBusy:
      case StatusCode::kUnavailable:
      case StatusCode::kLimitExceeded:
        // Of the whole request: a client that is told of single points would drop them.
        counters_.put_writes_blocked.fetch_add(1, std::memory_order_relaxed);
        refusal_ = verdict;
        return {std::string(verdict.message()), true};
      default:
        counters_.put_storage_errors.fetch_add(1, std::memory_order_relaxed);
        return {"Storage exception: " + std::string(verdict.message()), true};
    }
  }

  void Answer() {
    int64_t failed = 0, late = 0;
    bool refused = false;
    for (const Outcome& outcome : outcomes_) {
      if (outcome.error.empty()) continue;
      const bool timed_out = timed_out_ && outcome.error == "Write timedout";
      late += timed_out ? 1 : 0;
      failed += timed_out ? 0 : 1;
      refused |= !outcome.storage;
    }
    const auto success = static_cast<int64_t>(outcomes_.size()) - failed - late;
    if (!flags_.summary && !flags_.details) return AnswerPlain(success, failed, late);
    if (flags_.details && unprintable_)
      return Refuse(500, "A data point was given a tag without a key: no rollups are configured",
                    "");
    std::string body;
    JsonWriter json(&body);
    json.BeginObject();
    json.Member("success", success);
    if (flags_.sync_timeout_ms > 0) json.Member("timeouts", late);
    json.Member("failed", failed);
    if (flags_.details) {
      json.Key("errors");
      json.BeginArray();
      for (size_t i = 0; i < outcomes_.size(); ++i) {
        if (!outcomes_[i].error.empty()) WriteError(json, points_[i], outcomes_[i].error);
      }
      json.EndArray();
    }
    json.EndObject();
    SendJson(out_, request_, body, refused || late > 0 ? 400 : 200);
  }

  void AnswerPlain(int64_t success, int64_t failed, int64_t late) {
    constexpr std::string_view kSeeDetails =
        "Please see the TSD logs or append \"details\" to the put request";
    if (late > 0) {
      return Refuse(400,
                    "The put call has timedout with " + std::to_string(success) +
                        " successful writes, " + std::to_string(failed) + " failed writes and " +
                        std::to_string(late) + " timed out writes.",
                    kSeeDetails);
    }
    if (failed > 0) return Refuse(400, "One or more data points had errors", kSeeDetails);
    SendBody(out_, 204, JsonContentType(request_), {});
  }

  static void WriteHistogram(JsonWriter& json, const PutPoint& point) {
    json.Member("id", point.id);
    if (point.buckets) {
      json.Key("buckets");
      json.BeginObject();
      for (const PutBucket& bucket : *point.buckets) json.Member(bucket.bounds, bucket.count);
      json.EndObject();
    }
    json.Member("underflow", point.underflow);
    json.Member("overflow", point.overflow);
  }

  void WriteError(JsonWriter& json, const PutPoint& point, std::string_view error) {
    json.BeginObject();
    json.Key("datapoint");
    if (point.null) {
      json.Null();
    } else {
      json.BeginObject();
      if (point.metric) json.Member("metric", *point.metric);
      json.Member("timestamp", point.timestamp);
      if (point.value) json.Member("value", *point.value);
      if (point.tags) {
        json.Key("tags");
        json.BeginObject();
        for (const PutTag& tag : *point.tags) {
          json.Key(tag.key);
          if (tag.value) {
            json.String(*tag.value);
          } else {
            json.Null();
          }
        }
        json.EndObject();
      }
      if (point.tsuid) json.Member("tsuid", *point.tsuid);
      if (point.interval) json.Member("interval", *point.interval);
      if (point.aggregator) json.Member("aggregator", *point.aggregator);
      if (point.group_by) json.Member("groupByAggregator", *point.group_by);
      if (kind_ == PutKind::kHistograms) WriteHistogram(json, point);
      json.EndObject();
    }
    json.Member("error", error);
    json.EndObject();
  }

  const Request& request_;
  Services& services_;
  Counters& counters_;
  ResponseWriter& out_;
  const PutKind kind_;

  Flags flags_;
  std::vector<PutPoint> points_;
  std::vector<Outcome> outcomes_;  // of points_
  std::string padded_;
  std::vector<Spelling> spellings_;         // of points_, in padded_
  std::vector<NamedPoint> named_;           // the good ones
  std::vector<std::vector<TagText>> tags_;  // of named_
  std::vector<size_t> places_;              // of named_ among points_
  bool timed_out_ = false;
  bool unprintable_ = false;  // a rollup got a tag without a key: OpenTSDB cannot show it
  Status refusal_;            // the store takes nothing now: what was stored may be sent again
};

}  // namespace

void HandlePut(const Request& request, Services& services, ResponseWriter& out) {
  PutRequest(request, services, out, PutKind::kPoints).Run();
}

void HandleRollup(const Request& request, Services& services, ResponseWriter& out) {
  PutRequest(request, services, out, PutKind::kRollups).Run();
}

void HandleHistogram(const Request& request, Services& services, ResponseWriter& out) {
  if (services.histograms == nullptr) return SendError(out, request, 503, kHistogramsOff);
  if (request.method != Method::kPost) return SendMethodNotAllowed(out, request);
  PutRequest(request, services, out, PutKind::kHistograms).Run();
}

}  // namespace hg::http
