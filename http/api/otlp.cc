#include <otlp.pb.h>

#include <string>

#include "http/api/handlers.h"
#include "http/intake/labelled_points.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/media_type.h"
#include "http/wire/otlp_json.h"
#include "http/wire/otlp_points.h"
#include "http/wire/protobuf_message.h"
#include "query/request/running_request.h"

namespace hg::http {
namespace {

constexpr std::string_view kProtobuf = "application/x-protobuf";

/// Returns the resource attributes that become labels. They distinguish processes and machines.
OtlpNaming Naming() {
  return {{"service.name", "service.namespace", "service.instance.id", "host.name"}};
}

/// Maximum size of an unpacked body in bytes. The limit is low because an element of two bytes can
/// need a hundred bytes of memory when parsed.
constexpr size_t kOtlpBytesMax = 16 << 20;
/// Maximum bytes of JSON that protobuf's own parser reads. It reads JSON that does not have the
/// form that exporters write (http/wire/otlp_json.h). It is slow and cannot be stopped.
constexpr size_t kOtlpOtherJsonBytesMax = 4 << 20;

// Error codes, as gRPC numbers them.
constexpr int kInvalidArgument = 3, kResourceExhausted = 8, kInternal = 13, kUnavailable = 14;

class OtlpRequest {
 public:
  OtlpRequest(const Request& request, Services& services, ResponseWriter& out)
      : request_(request), services_(services), out_(out) {}

  void Run() {
    const std::string* type = request_.Header("content-type");
    const MediaType media = ParseMediaType(type != nullptr ? *type : std::string_view());
    json_ = media.type == kJsonType;
    if (!json_ && media.type != kProtobuf) {
      return Refuse(415, kInvalidArgument,
                    "The body must be " + std::string(kProtobuf) + " or " + std::string(kJsonType) +
                        ", not '" + (type != nullptr ? *type : "") + "'");
    }
    if (request_.body.size() > kOtlpBytesMax) {
      return Refuse(413, kResourceExhausted,
                    "The body is longer than " + std::to_string(kOtlpBytesMax) + " bytes");
    }
    LabelledPoints points(services_, *request_.running, request_.writer.get(), request_.memory);
    if (!Read(&points)) return;
    const Status stored = points.Finish();
    if (!stored.ok()) return RefuseAll(stored);
    otlp::ExportMetricsServiceResponse answer;
    if (points.refused() > 0) {
      otlp::ExportMetricsPartialSuccess& partial = *answer.mutable_partial_success();
      partial.set_rejected_data_points(static_cast<int64_t>(points.refused()));
      partial.set_error_message("the first: " + points.first_refusal());
    }
    Send(200, answer);
  }

 private:
  /// Reads the request. On failure sends a reply and returns false.
  bool Read(LabelledPoints* points) {
    if (!json_) {
      if (AddDataPoints(request_.body, Naming(), points, request_.memory)) return true;
      Refuse(400, kInvalidArgument, "The body is not a protobuf ExportMetricsServiceRequest");
      return false;
    }
    std::string protobuf;
    if (OtlpJsonToProtobuf(request_.body, &protobuf, request_.memory) &&
        AddDataPoints(protobuf, Naming(), points, request_.memory))
      return true;
    if (request_.body.size() > kOtlpOtherJsonBytesMax) {
      Refuse(413, kResourceExhausted,
             "JSON of an unusual form, for example with '_' in the names of members, must not be "
             "longer than " +
                 std::to_string(kOtlpOtherJsonBytesMax) + " bytes");
      return false;
    }
    otlp::ExportMetricsServiceRequest message;
    const Status parsed = ParseJsonMessage(request_.body, &message, request_.memory);
    if (!parsed.ok()) {
      Refuse(400, kInvalidArgument,
             "The body is not an ExportMetricsServiceRequest: " + std::string(parsed.message()));
      return false;
    }
    AddDataPoints(message, Naming(), points);
    return true;
  }

  void RefuseAll(const Status& status) {
    const int http_status = BeginWriteRefusal(out_, status);
    Refuse(http_status,
           http_status == 503   ? kUnavailable
           : http_status == 429 ? kResourceExhausted
                                : kInternal,
           status.message());
  }

  void Refuse(int http_status, int code, std::string_view message) {
    otlp::Status status;
    status.set_code(code);
    status.set_message(std::string(message));
    Send(http_status, status);
  }

  void Send(int http_status, const google::protobuf::Message& message) {
    if (json_) return SendBody(out_, http_status, kJsonType, JsonOf(message));
    SendBody(out_, http_status, kProtobuf, message.SerializeAsString());
  }

  const Request& request_;
  Services& services_;
  ResponseWriter& out_;
  bool json_ = false;
};

}  // namespace

void HandleOtlpMetrics(const Request& request, Services& services, ResponseWriter& out) {
  OtlpRequest(request, services, out).Run();
}

}  // namespace hg::http
