#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/distinct_first.h"
#include "http/api/handlers.h"
#include "http/api/parsed_body.h"
#include "http/api/series_search.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "http/wire/series_expression.h"
#include "query/request/running_request.h"
#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr int32_t kLimitDefault = 25;
// Cost of printing a series, in steps. Printing a series takes some microseconds if its names are
// cached.
constexpr uint64_t kStepsPerPrinted = 1 << 12;

struct LookupQuery {
  std::optional<std::string> metric;  // nullopt = absent; "*" = any
  std::optional<std::vector<TagWish>> tags;
  std::optional<std::string> query;  // only repeated in the response
  int32_t limit = kLimitDefault;     // ≤ 0 = all
  int32_t start_index = 0;           // only repeated in the response
};

// ---- Reading the request ----

/// Reads the query string. If it is invalid, sends an error and returns nullopt.
std::optional<LookupQuery> LookupFromParameters(const Request& request, ResponseWriter& out) {
  LookupQuery query;
  const std::optional<std::string> expression = NonEmptyParameter(request, "m");
  if (!expression) {
    SendMissingParameter(out, request, "m");
    return {};
  }
  if (const std::string* text = request.parameters.Find("limit")) {
    const std::optional<int32_t> limit = ParseInt32(*text);
    if (!limit) {
      SendError(out, request, 400, "Unable to convert 'limit' to a valid number");
      return {};
    }
    query.limit = *limit;
  }
  Result<SeriesExpression> parsed = ParseSeriesExpression(*expression);
  if (!parsed.ok()) {
    SendError(out, request, 400, "Unable to parse query", parsed.status().message());
    return {};
  }
  query.metric = std::move(parsed->metric);
  query.tags = std::move(parsed->tags);
  if (query.metric || !query.tags->empty()) return query;
  SendError(out, request, 400, "Missing metric and tags. Please supply at least one value.");
  return {};
}

Status ReadText(const JsonValue& object, std::string_view name, std::optional<std::string>* out) {
  const JsonValue* value = object.Find(name);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_scalar())
    return Status::InvalidArgument("\"" + std::string(name) + "\" must be a string");
  *out = value->text;
  return {};
}

Status ReadNumber(const JsonValue& object, std::string_view name, int32_t* out) {
  const JsonValue* value = object.Find(name);
  if (value == nullptr || value->is_null()) return {};
  const std::optional<int64_t> number = value->AsInt();
  if (!number || *number != static_cast<int32_t>(*number))
    return Status::InvalidArgument("\"" + std::string(name) +
                                   "\" must be a whole number of 32 bits");
  *out = static_cast<int32_t>(*number);
  return {};
}

Result<LookupQuery> LookupFromBody(JsonValue parsed) {
  const JsonValue body = ObjectOfOne(std::move(parsed), JsonValue::Kind::kString, "metric");
  if (!body.is_object()) return Status::InvalidArgument("An object is expected");
  LookupQuery query;
  RETURN_IF_ERROR(ReadText(body, "metric", &query.metric));
  RETURN_IF_ERROR(ReadText(body, "query", &query.query));
  RETURN_IF_ERROR(ReadNumber(body, "limit", &query.limit));
  RETURN_IF_ERROR(ReadNumber(body, "startIndex", &query.start_index));
  if (const JsonValue* limit = body.Find("limit"); limit != nullptr && limit->is_null())
    query.limit = 0;
  std::optional<std::string> type;
  RETURN_IF_ERROR(ReadText(body, "type", &type));
  constexpr std::string_view kTypes[] = {"TSMETA",  "TSMETA_SUMMARY", "TSUIDS",
                                         "UIDMETA", "ANNOTATION",     "LOOKUP"};
  if (type && std::find(std::begin(kTypes), std::end(kTypes), *type) == std::end(kTypes))
    return Status::InvalidArgument("Unknown type of search: " + *type);
  if (body.Find("metric") == nullptr) query.metric = "*";
  const JsonValue* tags = body.Find("tags");
  if (tags == nullptr || tags->is_null()) return query;
  if (!tags->is_array()) return Status::InvalidArgument("\"tags\" must be an array");
  query.tags.emplace();
  for (const JsonValue& tag : tags->items) {
    if (!tag.is_object())
      return Status::InvalidArgument("\"tags\" must hold objects with \"key\" and \"value\"");
    for (const auto& [key, value] : tag.members) {
      if (key != "key" && key != "value")
        return Status::InvalidArgument("Unrecognized field \"" + key + "\" of a tag");
    }
    TagWish& wish = query.tags->emplace_back();
    RETURN_IF_ERROR(ReadText(tag, "key", &wish.key));
    RETURN_IF_ERROR(ReadText(tag, "value", &wish.value));
  }
  return query;
}

/// Finds the series of a lookup. `distinct_first`: series with tags that no earlier result has come
/// first (distinct_first.h). The memory of the result is charged to `memory`, which must outlive
/// the result.
Result<std::vector<Bytes>> Find(const SeriesWanted& wanted, int32_t limit, bool distinct_first,
                                Points& points, MemoryTally* memory, RequestContext& context) {
  if (limit > 0 && distinct_first) {
    DistinctFirst choice(points.layout(), wanted.matcher, static_cast<size_t>(limit), memory);
    RETURN_IF_ERROR(VisitSeries(
        wanted, points, [&](ByteView tsuid) { return choice.Offer(tsuid); }, context));
    return std::move(choice).Chosen();
  }
  std::vector<Bytes> found;
  RETURN_IF_ERROR(VisitSeries(
      wanted, points,
      [&](ByteView tsuid) -> Result<bool> {
        // The list may take twice its size while it grows.
        RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(2 * sizeof(Bytes) + tsuid.size())));
        found.emplace_back(tsuid);
        return limit <= 0 || found.size() < static_cast<size_t>(limit);
      },
      context));
  return found;
}

// ---- The response ----

void WriteOptional(std::string_view key, const std::optional<std::string>& text, JsonWriter* json) {
  json->Key(key);
  text ? json->String(*text) : json->Null();
}

// The memory of the names is charged to `context` until they are written.
Status WriteSeries(ByteView tsuid, const KeyLayout& layout, uid::Names& names,
                   RequestContext& context, JsonWriter* json) {
  constexpr int64_t kTagBytes = 128;  // approximate memory of a tag besides its names
  MemoryTally memory(&context);
  ASSIGN_OR_RETURN(
      const std::string metric,
      names.NameOf(UidKind::kMetric, tsuid.substr(0, static_cast<size_t>(layout.metric_width))));
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<uint32_t> hashes;
  for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
       at += static_cast<size_t>(layout.pair_width())) {
    const ByteView pair = tsuid.substr(at, static_cast<size_t>(layout.pair_width()));
    ASSIGN_OR_RETURN(
        std::string key,
        names.NameOf(UidKind::kTagk, pair.substr(0, static_cast<size_t>(layout.tagk_width))));
    ASSIGN_OR_RETURN(
        std::string value,
        names.NameOf(UidKind::kTagv, pair.substr(static_cast<size_t>(layout.tagk_width))));
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(key.size() + value.size()) + kTagBytes));
    hashes.push_back(JavaHashUtf8(key));
    tags.emplace_back(std::move(key), std::move(value));
  }
  json->BeginObject();
  json->Member("tsuid", ToHexUpper(tsuid));
  json->Member("metric", metric);
  json->Key("tags");
  json->BeginObject();
  for (size_t i : JavaMapOrder(hashes, HashNCapacity(tags.size())))
    json->Member(tags[i].first, tags[i].second);
  json->EndObject();
  json->EndObject();
  return {};
}

/// Writes the members that precede the results. They repeat the request as it was parsed.
void WriteHead(const LookupQuery& query, float took_ms, JsonWriter* json) {
  json->Member("type", "LOOKUP");
  if (query.query) json->Member("query", *query.query);
  if (query.metric) json->Member("metric", *query.metric);
  if (query.tags) {
    json->Key("tags");
    json->BeginArray();
    for (const TagWish& wish : *query.tags) {
      json->BeginObject();
      WriteOptional("key", wish.key, json);
      WriteOptional("value", wish.value, json);
      json->EndObject();
    }
    json->EndArray();
  }
  json->Member("limit", query.limit);
  json->Key("time");
  json->Float(took_ms);
}

// Reads the body of a search request of any kind. If it is invalid, sends an error and returns
// nullopt.
std::optional<LookupQuery> LookupFromBody(const Request& request, ResponseWriter& out) {
  std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  Result<LookupQuery> query = LookupFromBody(std::move(*body));
  if (query.ok()) return std::move(*query);
  // The status is 500 and not 400, because OpenTSDB returns its parser's error
  // (opentsdb-http-api.md §18.1).
  SendError(out, request, 500, query.status().message());
  return {};
}

}  // namespace

bool CheckSearchBody(const Request& request, ResponseWriter& out) {
  return LookupFromBody(request, out).has_value();
}

void HandleLookup(const Request& request, Services& services, ResponseWriter& out) {
  const int64_t began_ns = services.clock.MonotonicNs();
  std::optional<LookupQuery> query;
  if (request.body.empty()) {
    query = LookupFromParameters(request, out);
    if (!query) return;
  } else {
    query = LookupFromBody(request, out);
    if (!query) return;
    // A body without a metric counts as "*". Only an explicit null means that there is no metric
    // (observed in OpenTSDB).
    if (!query->metric && (!query->tags || query->tags->empty()))
      return SendError(out, request, 400,
                       "Missing metric and tags. Please supply at least one value.");
  }
  query::RunningRequest& running = *request.running;
  const std::vector<TagWish> no_tags;
  const Result<SeriesWanted> wanted =
      ResolveSeries(query->metric, query->tags ? *query->tags : no_tags, services.names, running);
  if (!wanted.ok() && wanted.status().code() == StatusCode::kNotFound)
    return SendError(out, request, 404, "Unable to resolve one or more UIDs",
                     wanted.status().message());
  if (!wanted.ok() && wanted.status().code() == StatusCode::kInvalidArgument)
    return SendError(out, request, 500, wanted.status().message());
  if (!wanted.ok()) return SendStatus(out, request, wanted.status());
  MemoryTally memory(&running);
  const Result<std::vector<Bytes>> series =
      Find(*wanted, query->limit, services.options.lookup_distinct_first, services.points, &memory,
           running);
  if (!series.ok()) return SendStatus(out, request, series.status());
  const auto took_ms = static_cast<float>((services.clock.MonotonicNs() - began_ns) / 1000000);

  StreamJson(out, request, [&](JsonWriter* json) -> Status {
    json->BeginObject();
    WriteHead(*query, took_ms, json);
    json->Key("results");
    json->BeginArray();
    int64_t written = 0;
    for (const Bytes& tsuid : *series) {
      RETURN_IF_ERROR(running.Step(kStepsPerPrinted));
      const Status status =
          WriteSeries(tsuid, services.points.layout(), services.names, running, json);
      // A UID of this series has no name. The other series are listed all the same.
      if (status.code() == StatusCode::kNotFound) continue;
      RETURN_IF_ERROR(status);
      if (!json->alive()) return {};
      ++written;
    }
    json->EndArray();
    json->Member("startIndex", query->start_index);
    json->Member("totalResults", written);
    json->EndObject();
    return {};
  });
}

}  // namespace hg::http
