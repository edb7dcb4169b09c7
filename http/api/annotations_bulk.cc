#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/annotation_json.h"
#include "query/request/running_request.h"
#include "storage/model/point_sink.h"

namespace hg::http {
namespace {

/// The parameters of a range delete.
struct RangeDelete {
  std::optional<std::vector<std::string>> tsuids;
  bool global = false;
  std::optional<int64_t> start_ms;
  std::optional<int64_t> end_ms;
};

void SendBadItem(ResponseWriter& out, const Request& request, const codec::Annotation& item,
                 const Status& status) {
  SendError(out, request, 400, status.message(),
            "Annotation error: TSUID: " + item.tsuid + " Start: " +
                std::to_string(item.start_time) + "  Description: " + item.description);
}

void WriteMany(const Request& request, Services& services, ResponseWriter& out, bool replace) {
  const std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return;
  if (!body->is_array()) return SendBadJson(out, request, "An array of annotations is expected");
  query::RunningRequest& running = *request.running;
  // Lists and texts may take twice their size while they grow.
  constexpr size_t kCopies = 2;
  const size_t bytes = body->items.size() * sizeof(codec::Annotation) + request.body.size();
  if (const Status status = running.Charge(static_cast<int64_t>(kCopies * bytes)); !status.ok())
    return SendStatus(out, request, status);
  std::vector<codec::Annotation> items;
  for (const JsonValue& value : body->items) {
    if (value.is_null()) return SendError(out, request, 500, "An annotation is null");
    Result<codec::Annotation> item = ReadAnnotation(value);
    if (!item.ok()) return SendBadJson(out, request, item.status().message());
    items.push_back(std::move(*item));
  }

  WriteContext write(running, request.writer.get());
  std::string stored;
  JsonWriter json(&stored);
  json.BeginArray();
  for (const codec::Annotation& item : items) {
    const auto written = services.annotations.Write(item, replace, running, [&](ByteView tsuid) {
      return services.sink.AdmitSeries(tsuid, write);
    });
    const StatusCode code = written.status().code();
    if (code == StatusCode::kInvalidArgument || code == StatusCode::kUnsupported)
      return SendBadItem(out, request, item, written.status());
    if (!written.ok()) return SendStatus(out, request, written.status());
    if (!written->has_value()) continue;
    const size_t before = stored.size();
    WriteAnnotation(**written, &json);
    const auto more = static_cast<int64_t>(kCopies * (stored.size() - before));
    if (const Status status = running.Charge(more); !status.ok())
      return SendStatus(out, request, status);
  }
  json.EndArray();
  SendJson(out, request, stored);
}

/// Returns the non-empty words between commas.
std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

/// Parses an optional time. If it is invalid, sends an error and returns false.
bool ReadTime(const std::optional<std::string>& text, const Request& request,
              const Services& services, ResponseWriter& out, std::optional<int64_t>* ms) {
  if (!text) return true;
  const Result<int64_t> time = ParseRequestTime(*text, services);
  if (time.ok()) {
    *ms = *time;
    return true;
  }
  SendError(out, request, 400, time.status().message());
  return false;
}

std::optional<RangeDelete> FromParameters(const Request& request, const Services& services,
                                          ResponseWriter& out) {
  RangeDelete range;
  const std::optional<std::string> start = NonEmptyParameter(request, "start_time");
  if (!start) {
    SendMissingParameter(out, request, "start_time");
    return {};
  }
  range.end_ms = services.clock.NowMs();
  if (!ReadTime(start, request, services, out, &range.start_ms)) return {};
  if (!ReadTime(NonEmptyParameter(request, "end_time"), request, services, out, &range.end_ms))
    return {};
  if (const auto tsuids = NonEmptyParameter(request, "tsuids"))
    range.tsuids = SplitAtCommas(*tsuids);
  range.global = request.parameters.Has("global");
  return range;
}

std::optional<RangeDelete> FromBody(const Request& request, const Services& services,
                                    ResponseWriter& out) {
  const std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  const auto bad = [&](std::string_view why) {
    SendBadJson(out, request, why);
    return std::optional<RangeDelete>();
  };
  if (!body->is_object()) return bad("An object is expected");
  for (const auto& [key, value] : body->members) {
    const bool known = key == "startTime" || key == "endTime" || key == "tsuids" ||
                       key == "global" || key == "totalDeleted";
    if (!known) return bad("Unrecognized field \"" + key + "\"");
    if (key.ends_with("Time") && !value.is_null() && !value.is_scalar())
      return bad("\"" + key + "\" must be a time");
  }
  const auto text = [&](std::string_view name) -> std::optional<std::string> {
    const JsonValue* value = body->Find(name);
    if (value == nullptr || !value->is_scalar() || value->text.empty()) return {};
    return value->text;
  };
  RangeDelete range;
  range.end_ms = services.clock.NowMs();
  if (!ReadTime(text("startTime"), request, services, out, &range.start_ms)) return {};
  if (!ReadTime(text("endTime"), request, services, out, &range.end_ms)) return {};
  if (const JsonValue* tsuids = body->Find("tsuids"); tsuids != nullptr && !tsuids->is_null()) {
    if (!tsuids->is_array()) return bad("\"tsuids\" must be an array of strings");
    // Each text is copied twice, and once into the response.
    const size_t bytes = 4 * tsuids->items.size() * sizeof(std::string) + 3 * request.body.size();
    if (const Status status = request.running->Charge(static_cast<int64_t>(bytes)); !status.ok()) {
      SendStatus(out, request, status);
      return {};
    }
    range.tsuids.emplace();
    for (const JsonValue& tsuid : tsuids->items) {
      if (!tsuid.is_scalar()) return bad("\"tsuids\" must be an array of strings");
      if (tsuid.text.empty()) return bad("UID was empty: a TSUID is an empty text");
      range.tsuids->push_back(tsuid.text);
    }
  }
  if (const JsonValue* global = body->Find("global"); global != nullptr && !global->is_null()) {
    const std::optional<bool> value = global->AsBool();
    if (!value) return bad("\"global\" must be true or false");
    range.global = *value;
  }
  return range;
}

void DeleteMany(const Request& request, Services& services, ResponseWriter& out) {
  const auto range = request.body.empty() ? FromParameters(request, services, out)
                                          : FromBody(request, services, out);
  if (!range) return;
  if (!range->start_ms) return SendError(out, request, 400, "Missing the start time value");
  if (!range->global && (!range->tsuids || range->tsuids->empty()))
    return SendError(out, request, 400, "Missing the TSUIDs or global annotations flag");

  // In storage, "" is the owner of global annotations; an empty TSUID of a client must not select
  // them.
  std::vector<std::string> owners;
  for (const std::string& tsuid : range->tsuids.value_or(std::vector<std::string>()))
    if (!tsuid.empty()) owners.push_back(tsuid);
  if (range->global) owners.emplace_back();
  const Result<uint64_t> deleted =
      services.annotations.DeleteRange(owners, *range->start_ms, *range->end_ms, *request.running);
  if (deleted.status().code() == StatusCode::kUnsupported)
    return SendError(out, request, 400, deleted.status().message());
  if (!deleted.ok()) return SendStatus(out, request, deleted.status());

  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Key("tsuids");
  if (range->tsuids) {
    json.BeginArray();
    for (const std::string& tsuid : *range->tsuids) json.String(tsuid);
    json.EndArray();
  } else {
    json.Null();
  }
  json.Member("global", range->global);
  json.Member("startTime", *range->start_ms);
  json.Member("endTime", *range->end_ms);
  json.Member("totalDeleted", static_cast<int64_t>(*deleted));
  json.EndObject();
  SendJson(out, request, body);
}

}  // namespace

void HandleAnnotationBulk(const Request& request, Services& services, ResponseWriter& out) {
  switch (request.method) {
    case Method::kPost:
      return WriteMany(request, services, out, false);
    case Method::kPut:
      return WriteMany(request, services, out, true);
    case Method::kDelete:
      return DeleteMany(request, services, out);
    default:
      return SendMethodNotAllowed(out, request);
  }
}

}  // namespace hg::http
