#include <map>
#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/api/object_verbs.h"
#include "http/api/series_search.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/metadata_json.h"
#include "http/wire/series_expression.h"
#include "query/request/running_request.h"
#include "storage/codec/row_key.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

/// A series expression with its names resolved to ids.
struct ResolvedSeries {
  Bytes metric;
  std::vector<Bytes> pairs;  // tagk ‖ tagv, without repeats
};

/// Resolves a series expression. NotFound: an unknown metric. Unsupported: an unknown tag, which
/// OpenTSDB reports differently. Corruption: there is no metric (500 in OpenTSDB). InvalidArgument:
/// other errors, for example two values of a tag key.
Result<ResolvedSeries> Resolve(const std::string& text, uid::Names& names,
                               RequestContext& context) {
  ASSIGN_OR_RETURN(const SeriesExpression expression, ParseSeriesExpression(text));
  for (const TagWish& tag : expression.tags) {
    if (!tag.key || !tag.value)
      return Status::InvalidArgument("A tag needs a key and a value: " + text);
  }
  if (!expression.metric) return Status::Corruption("The metric is missing in: " + text);
  ResolvedSeries series;
  ASSIGN_OR_RETURN(series.metric, names.Find(UidKind::kMetric, *expression.metric));
  std::map<Bytes, Bytes> values;  // by tag key
  for (const TagWish& tag : expression.tags) {
    RETURN_IF_ERROR(context.Step(2 * kStepsPerName));
    const Result<Bytes> key = names.Find(UidKind::kTagk, *tag.key);
    const Result<Bytes> value = names.Find(UidKind::kTagv, *tag.value);
    for (const auto* id : {&key, &value}) {
      if (id->status().code() == StatusCode::kNotFound)
        return Status::Unsupported(std::string(id->status().message()));
      RETURN_IF_ERROR(id->status());
    }
    const auto [known, is_new] = values.try_emplace(*key, *value);
    if (is_new) {
      series.pairs.push_back(*key + *value);
    } else if (known->second != *value) {
      return Status::InvalidArgument("When parsing tag '" + *tag.key + "=" + *tag.value +
                                     "': duplicate tag: " + *tag.key + "=" + *tag.value);
    }
  }
  return series;
}

void SendArgumentError(ResponseWriter& out, const Request& request, const Status& status) {
  SendError(out, request, 400, status.message(), status.message());
}

void SendMeta(ResponseWriter& out, const Request& request, const uid::TsMeta& meta) {
  std::string body;
  JsonWriter json(&body);
  WriteTsMeta(meta, &json);
  SendJson(out, request, body);
}

void GetOne(const Request& request, Services& services, ResponseWriter& out) {
  const std::string& text = *request.parameters.Find("tsuid");
  if (text.empty()) return SendError(out, request, 500, "UID was empty");
  const Result<Bytes> tsuid = ParseHex(text);
  if (!tsuid.ok()) return SendError(out, request, 500, tsuid.status().message());
  const Result<uid::TsMeta> found = services.metadata.FindSeries(*tsuid, *request.running);
  if (found.ok()) return SendMeta(out, request, *found);
  SendStatus(out, request, found.status());
}

void GetMany(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<std::string> text = NonEmptyParameter(request, "m");
  if (!text) return SendMissingParameter(out, request, "m");
  const Result<ResolvedSeries> series = Resolve(*text, services.names, *request.running);
  if (!series.ok()) {
    if (series.status().code() == StatusCode::kNotFound)
      return SendError(out, request, 404, "Unable to find one of the UIDs",
                       series.status().message());
    if (series.status().code() == StatusCode::kInvalidArgument ||
        series.status().code() == StatusCode::kUnsupported)
      return SendArgumentError(out, request, series.status());
    if (series.status().code() == StatusCode::kCorruption)
      return SendError(out, request, 500, series.status().message());
    return SendStatus(out, request, series.status());
  }
  StreamJsonWhileReading(out, request, [&](JsonWriter* json) -> Status {
    json->BeginArray();
    const auto write = [&](const uid::TsMeta& meta) -> Status {
      // The response repeats the objects of the metric and the tags for each series.
      RETURN_IF_ERROR(request.running->Step(static_cast<uint64_t>(uid::BytesOf(meta))));
      WriteTsMeta(meta, json);
      return json->alive() ? Status() : request.running->Check();
    };
    RETURN_IF_ERROR(
        services.metadata.VisitSeries(series->metric, series->pairs, write, *request.running));
    json->EndArray();
    return {};
  });
}

/// Reads the query string. If it is invalid, sends an error and returns nullopt.
std::optional<TsMetaRequest> TsMetaFromParameters(const Request& request, ResponseWriter& out) {
  const auto bad = [&](const std::string& name) {
    SendError(out, request, 400, "Unable to parse '" + name + "' value");
    return std::optional<TsMetaRequest>();
  };
  const auto text = [&](const char* name) { return NonEmptyParameter(request, name).value_or(""); };
  TsMetaRequest asked;
  uid::TsMeta& fields = asked.fields;
  asked.tsuid = text("tsuid");
  fields.display_name = text("display_name");
  fields.description = text("description");
  fields.notes = text("notes");
  fields.units = text("units");
  fields.data_type = text("data_type");
  if (const auto retention = NonEmptyParameter(request, "retention")) {
    const std::optional<int32_t> days = ParseInt32(*retention);
    if (!days) return bad("retention");
    fields.retention = *days;
  }
  const auto number = [&](const char* name, double* value, bool* said) {
    const std::optional<std::string> given = NonEmptyParameter(request, name);
    if (!given) return true;
    *said = true;
    return *given == "NaN" || ParseJavaDouble(*given, value);
  };
  if (!number("max", &fields.max, &fields.max_said)) return bad("max");
  if (!number("min", &fields.min, &fields.min_said)) return bad("min");
  return asked;
}

/// Reads the body, or the query string if there is no body. Returns nullopt if it sent an error.
std::optional<TsMetaRequest> ReadTsMetaRequest(const Request& request, ResponseWriter& out) {
  if (request.body.empty()) return TsMetaFromParameters(request, out);
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  Result<TsMetaRequest> asked = ReadTsMeta(std::move(*body), *request.running);
  if (asked.ok()) return std::move(*asked);
  SendReadFailure(out, request, asked.status());
  return {};
}

/// Handles POST and PUT of a series named by `m`. If the series has no object, creates one only if
/// the request has create=true.
void WriteByName(const Request& request, Services& services, ResponseWriter& out,
                 uid::TsMeta fields, bool replace) {
  const std::optional<std::string> text = NonEmptyParameter(request, "m");
  if (!text) return SendMissingParameter(out, request, "m");
  const Result<ResolvedSeries> series = Resolve(*text, services.names, *request.running);
  if (!series.ok()) {
    if (series.status().code() == StatusCode::kInvalidArgument)
      return SendArgumentError(out, request, series.status());
    return SendError(out, request, 500, series.status().message());
  }
  fields.tsuid = codec::MakeTsuid(series->metric, series->pairs);
  if (const Status status = codec::CheckTsuid(services.metadata.layout(), fields.tsuid);
      !status.ok())
    return SendArgumentError(out, request, status);
  const Result<bool> exists = services.metadata.HasSeries(fields.tsuid, *request.running);
  if (!exists.ok()) return SendStatus(out, request, exists.status());
  if (!*exists && NonEmptyParameter(request, "create") != "true")
    return SendError(out, request, 400,
                     "Could not find TSMeta, specify \"create=true\" to create a new one.");
  if (!*exists) {
    const Result<uid::TsMeta> created = services.metadata.CreateSeries(fields, *request.running);
    if (!created.ok()) return SendStatus(out, request, created.status());
    return SendMeta(out, request, *created);
  }
  const auto written = services.metadata.WriteSeries(fields, replace, *request.running);
  if (!written.ok()) return SendStatus(out, request, written.status());
  if (!written->has_value()) return SendEmpty(out, 304);
  SendMeta(out, request, **written);
}

void PutTsMeta(const Request& request, Services& services, ResponseWriter& out, bool replace) {
  std::optional<TsMetaRequest> asked = ReadTsMetaRequest(request, out);
  if (!asked) return;
  if (asked->tsuid.empty())
    return WriteByName(request, services, out, std::move(asked->fields), replace);
  // The fields are checked before the series is looked up.
  if (!asked->fields.HasChanges()) return SendEmpty(out, 304);
  Result<Bytes> tsuid = ParseHex(asked->tsuid);
  if (!tsuid.ok()) return SendArgumentError(out, request, tsuid.status());
  asked->fields.tsuid = std::move(*tsuid);
  if (!codec::CheckTsuid(services.metadata.layout(), asked->fields.tsuid).ok())
    return SendArgumentError(out, request,
                             Status::InvalidArgument("TSUID is too short, may be missing tags"));
  const auto written = services.metadata.WriteSeries(asked->fields, replace, *request.running);
  if (written.ok()) return SendMeta(out, request, **written);
  if (written.status().code() == StatusCode::kNotFound)
    return SendArgumentError(out, request,
                             Status::InvalidArgument("Requested TSMeta did not exist"));
  SendStatus(out, request, written.status());
}

void DeleteTsMeta(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<TsMetaRequest> asked = ReadTsMetaRequest(request, out);
  if (!asked) return;
  if (asked->tsuid.empty())
    return SendError(out, request, 400, "Unable to delete TSMeta information", "Missing UID");
  const Result<Bytes> tsuid = ParseHex(asked->tsuid);
  if (!tsuid.ok())
    return SendError(out, request, 400, "Unable to delete TSMeta information",
                     tsuid.status().message());
  const Status status = services.metadata.DeleteSeries(*tsuid, *request.running);
  if (!status.ok()) return SendStatus(out, request, status);
  SendEmpty(out, 204);
}

}  // namespace

void HandleTsMeta(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  const auto get = request.parameters.Has("tsuid") ? GetOne : GetMany;
  if (!AnswerVerb({get, PutTsMeta, DeleteTsMeta}, *method, request, services, out))
    SendMethodNotAllowed(out, request);
}

}  // namespace hg::http
