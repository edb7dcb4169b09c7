#include <optional>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/api/object_verbs.h"
#include "http/api/parsed_body.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/annotation_json.h"
#include "query/request/running_request.h"
#include "storage/model/point_sink.h"

namespace hg::http {
namespace {

// Cost of writing an annotation in the response, in steps. Writing an annotation takes about a
// microsecond.
constexpr uint64_t kStepsPerAnnotation = 1 << 10;

/// Returns the annotation that the query string describes. InvalidArgument: a time is invalid (500
/// in OpenTSDB).
Result<codec::Annotation> FromParameters(const Request& request, const Services& services) {
  const auto seconds = [&](std::string_view name) -> Result<int64_t> {
    const std::optional<std::string> text = NonEmptyParameter(request, name);
    if (!text) return 0;
    ASSIGN_OR_RETURN(const int64_t ms, ParseRequestTime(*text, services));
    // The result is in whole seconds, even for times given in milliseconds (opentsdb-http-api.md
    // §16.2).
    return ms / 1000;
  };
  codec::Annotation annotation;
  ASSIGN_OR_RETURN(annotation.start_time, seconds("start_time"));
  ASSIGN_OR_RETURN(annotation.end_time, seconds("end_time"));
  annotation.tsuid = NonEmptyParameter(request, "tsuid").value_or("");
  annotation.description = NonEmptyParameter(request, "description").value_or("");
  annotation.notes = NonEmptyParameter(request, "notes").value_or("");
  return annotation;
}

/// Reads the body, or the query string if there is no body. Returns nullopt if it sent an error.
std::optional<codec::Annotation> ReadRequest(const Request& request, const Services& services,
                                             ResponseWriter& out) {
  if (request.body.empty()) {
    Result<codec::Annotation> annotation = FromParameters(request, services);
    if (annotation.ok() && annotation->start_time > 0) return std::move(*annotation);
    if (annotation.ok()) {
      SendError(out, request, 400, "Missing start time");
    } else {
      SendError(out, request, 500, annotation.status().message());
    }
    return {};
  }
  const std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  Result<codec::Annotation> annotation = ReadAnnotation(*body);
  if (annotation.ok()) return std::move(*annotation);
  // The status is 500 and not 400, because OpenTSDB returns its parser's error
  // (opentsdb-http-api.md §16.2).
  SendError(out, request, 500, annotation.status().message());
  return {};
}

void SendFailure(ResponseWriter& out, const Request& request, const Status& status) {
  if (status.code() == StatusCode::kUnsupported)
    return SendError(out, request, 500, status.message());
  if (status.code() != StatusCode::kInvalidArgument) return SendStatus(out, request, status);
  SendError(out, request, 400, status.message(), status.message());
}

void SendAnnotation(ResponseWriter& out, const Request& request,
                    const codec::Annotation& annotation) {
  std::string body;
  JsonWriter json(&body);
  WriteAnnotation(annotation, &json);
  SendJson(out, request, body);
}

void GetAnnotation(const Request& request, Services& services, ResponseWriter& out) {
  const Result<codec::Annotation> wanted = FromParameters(request, services);
  if (!wanted.ok()) return SendError(out, request, 500, wanted.status().message());
  if (wanted->start_time < 1) return SendError(out, request, 400, "Missing start time");
  const Result<codec::Annotation> found =
      services.annotations.Find(wanted->tsuid, wanted->start_time, *request.running);
  if (found.ok()) return SendAnnotation(out, request, *found);
  if (found.status().code() == StatusCode::kInvalidArgument ||
      found.status().code() == StatusCode::kUnsupported)
    return SendError(out, request, 500, found.status().message());
  SendStatus(out, request, found.status());
}

void PutAnnotation(const Request& request, Services& services, ResponseWriter& out, bool replace) {
  const std::optional<codec::Annotation> annotation = ReadRequest(request, services, out);
  if (!annotation) return;
  WriteContext write(*request.running, request.writer.get());
  const auto written = services.annotations.Write(
      *annotation, replace, *request.running,
      [&](ByteView tsuid) { return services.sink.AdmitSeries(tsuid, write); });
  if (!written.ok()) return SendFailure(out, request, written.status());
  if (!written->has_value()) return SendEmpty(out, 304);
  SendAnnotation(out, request, **written);
}

void DeleteAnnotation(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<codec::Annotation> annotation = ReadRequest(request, services, out);
  if (!annotation) return;
  const Status status =
      services.annotations.Delete(annotation->tsuid, annotation->start_time, *request.running);
  if (!status.ok()) return SendFailure(out, request, status);
  SendEmpty(out, 204);
}

void HandleOne(Method method, const Request& request, Services& services, ResponseWriter& out) {
  if (AnswerVerb({GetAnnotation, PutAnnotation, DeleteAnnotation}, method, request, services, out))
    return;
  // As in OpenTSDB, the request is read before the method is checked. So an invalid request with a
  // wrong method gets the error for the invalid request.
  if (ReadRequest(request, services, out)) SendMethodNotAllowed(out, request);
}

void ListGlobals(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<std::string> start = NonEmptyParameter(request, "start_time");
  if (!start) return SendError(out, request, 400, "Missing start time");
  const Result<int64_t> start_ms = ParseRequestTime(*start, services);
  if (!start_ms.ok()) return SendError(out, request, 500, start_ms.status().message());
  if (*start_ms < 1000) return SendError(out, request, 400, "Missing start time");
  const Result<int64_t> end_ms =
      ParseRequestTime(NonEmptyParameter(request, "end_time").value_or("0ms"), services);
  if (!end_ms.ok()) return SendError(out, request, 500, end_ms.status().message());
  // If the request has no end, the end is the current time in milliseconds, although other times
  // are in seconds, as in OpenTSDB.
  const int64_t end = *end_ms / 1000 == 0 ? services.clock.NowMs() : *end_ms / 1000;

  const auto found = services.annotations.Globals(*start_ms / 1000, end, *request.running);
  if (!found.ok() && found.status().code() == StatusCode::kInvalidArgument)
    return SendError(out, request, 500, found.status().message());
  if (!found.ok()) return SendStatus(out, request, found.status());
  StreamJson(out, request, [&](JsonWriter* json) -> Status {
    json->BeginArray();
    for (const codec::Annotation& annotation : *found) {
      RETURN_IF_ERROR(request.running->Step(kStepsPerAnnotation));
      WriteAnnotation(annotation, json);
      if (!json->alive()) break;
    }
    json->EndArray();
    return {};
  });
}

}  // namespace

void HandleAnnotation(const Request& request, Services& services, ResponseWriter& out) {
  if (request.Segment(1) == "bulk") return HandleAnnotationBulk(request, services, out);
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (method) HandleOne(*method, request, services, out);
}

void HandleAnnotations(const Request& request, Services& services, ResponseWriter& out) {
  if (request.Segment(1) == "bulk") return HandleAnnotationBulk(request, services, out);
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  if (*method == Method::kGet) return ListGlobals(request, services, out);
  HandleOne(*method, request, services, out);
}

}  // namespace hg::http
