#include "http/api/put_answer.h"

#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

/// Numbers of points by result.
struct PutCounts {
  int64_t success = 0, failed = 0, late = 0;
  bool refused = false;  // some points are invalid
};

PutCounts Count(const PutResult& result) {
  PutCounts counts;
  for (const PutOutcome& outcome : result.outcomes) {
    if (outcome.error.empty()) continue;
    const bool timed_out = result.timed_out && outcome.error == kPutTimedOut;
    counts.late += timed_out ? 1 : 0;
    counts.failed += timed_out ? 0 : 1;
    counts.refused |= !outcome.storage;
  }
  counts.success = static_cast<int64_t>(result.outcomes.size()) - counts.failed - counts.late;
  return counts;
}

void AnswerPlain(const Request& request, const PutCounts& counts, ResponseWriter& out) {
  constexpr std::string_view kSeeDetails =
      "Please see the TSD logs or append \"details\" to the put request";
  if (counts.late > 0) {
    return SendError(out, request, 400,
                     "The put call has timedout with " + std::to_string(counts.success) +
                         " successful writes, " + std::to_string(counts.failed) +
                         " failed writes and " + std::to_string(counts.late) + " timed out writes.",
                     kSeeDetails);
  }
  if (counts.failed > 0)
    return SendError(out, request, 400, "One or more data points had errors", kSeeDetails);
  SendBody(out, 204, JsonContentType(request), {});
}

void WriteTags(JsonWriter& json, const std::vector<PutTag>& tags) {
  json.Key("tags");
  json.BeginObject();
  for (const PutTag& tag : tags) {
    json.Key(tag.key);
    if (tag.value) {
      json.String(*tag.value);
    } else {
      json.Null();
    }
  }
  json.EndObject();
}

void WriteHistogram(JsonWriter& json, const PutPoint& point) {
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

void WriteError(JsonWriter& json, PutKind kind, const PutPoint& point, std::string_view error) {
  json.BeginObject();
  json.Key("datapoint");
  if (point.null) {
    json.Null();
  } else {
    json.BeginObject();
    if (point.metric) json.Member("metric", *point.metric);
    json.Member("timestamp", point.timestamp);
    if (point.value) json.Member("value", *point.value);
    if (point.tags) WriteTags(json, *point.tags);
    if (point.tsuid) json.Member("tsuid", *point.tsuid);
    if (point.interval) json.Member("interval", *point.interval);
    if (point.aggregator) json.Member("aggregator", *point.aggregator);
    if (point.group_by) json.Member("groupByAggregator", *point.group_by);
    if (kind == PutKind::kHistograms) WriteHistogram(json, point);
    json.EndObject();
  }
  json.Member("error", error);
  json.EndObject();
}

}  // namespace

void AnswerPut(const Request& request, const PutResult& result, ResponseWriter& out) {
  const PutCounts counts = Count(result);
  const PutFlags& flags = result.flags;
  if (!flags.summary && !flags.details) return AnswerPlain(request, counts, out);
  if (flags.details && result.unprintable) {
    return SendError(out, request, 500,
                     "The details cannot be written: the aggregate tag of a rollup has no key, "
                     "because no rollups are configured",
                     "");
  }
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Member("success", counts.success);
  if (flags.sync_timeout_ms > 0) json.Member("timeouts", counts.late);
  json.Member("failed", counts.failed);
  if (flags.details) {
    json.Key("errors");
    json.BeginArray();
    for (size_t i = 0; i < result.outcomes.size(); ++i) {
      const std::string& error = result.outcomes[i].error;
      if (!error.empty()) WriteError(json, result.kind, result.points[i], error);
    }
    json.EndArray();
  }
  json.EndObject();
  SendJson(out, request, body, counts.refused || counts.late > 0 ? 400 : 200);
}

}  // namespace hg::http
