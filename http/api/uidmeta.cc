#include <optional>
#include <string>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/api/object_verbs.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/metadata_json.h"
#include "query/request/running_request.h"

namespace hg::http {
namespace {

/// Sends the error of a failed call; `wrong_argument` is the HTTP status for client errors.
void SendFailure(ResponseWriter& out, const Request& request, const Status& status,
                 int wrong_argument) {
  if (status.code() == StatusCode::kNotFound)
    return SendError(out, request, 404, "Could not find the requested UID", status.message());
  if (status.code() != StatusCode::kInvalidArgument) return SendStatus(out, request, status);
  SendError(out, request, wrong_argument, status.message(),
            wrong_argument == 400 ? status.message() : "");
}

void SendMeta(ResponseWriter& out, const Request& request, const uid::UidMeta& meta) {
  std::string body;
  JsonWriter json(&body);
  WriteUidMeta(meta, &json);
  SendJson(out, request, body);
}

/// Reads the query string. If it is invalid, sends an error and returns nullopt.
std::optional<UidMetaRequest> UidMetaFromParameters(const Request& request, ResponseWriter& out) {
  UidMetaRequest asked;
  for (const char* name : {"uid", "type"}) {
    if (NonEmptyParameter(request, name)) continue;
    SendMissingParameter(out, request, name);
    return {};
  }
  asked.id = *NonEmptyParameter(request, "uid");
  const std::string type = *NonEmptyParameter(request, "type");
  asked.kind = ParseUidKind(type);
  if (!asked.kind) {
    SendError(out, request, 500, "Invalid type requested: " + type);
    return {};
  }
  asked.fields.display_name = NonEmptyParameter(request, "display_name").value_or("");
  asked.fields.description = NonEmptyParameter(request, "description").value_or("");
  asked.fields.notes = NonEmptyParameter(request, "notes").value_or("");
  // The parameter `created` has no effect. Only the member `created` of a body has an effect.
  return asked;
}

/// Reads the body, or the query string if there is no body. Returns nullopt if it sent an error.
std::optional<UidMetaRequest> ReadUidMetaRequest(const Request& request, ResponseWriter& out) {
  if (request.body.empty()) return UidMetaFromParameters(request, out);
  const std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  Result<UidMetaRequest> asked = ReadUidMeta(*body, *request.running);
  if (!asked.ok()) {
    SendReadFailure(out, request, asked.status());
    return {};
  }
  if (!asked->id.empty() && asked->kind) return std::move(*asked);
  const char* missing = asked->id.empty() ? "Missing UID" : "Missing type";
  SendError(out, request, 400, missing, missing);
  return {};
}

void GetUidMeta(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<UidMetaRequest> asked = UidMetaFromParameters(request, out);
  if (!asked) return;
  const Result<Bytes> id = ParseHex(asked->id);
  if (!id.ok()) return SendFailure(out, request, id.status(), 500);
  const Result<uid::UidMeta> found = services.metadata.FindUid(*asked->kind, *id, *request.running);
  if (!found.ok()) return SendFailure(out, request, found.status(), 500);
  SendMeta(out, request, *found);
}

void PutUidMeta(const Request& request, Services& services, ResponseWriter& out, bool replace) {
  std::optional<UidMetaRequest> asked = ReadUidMetaRequest(request, out);
  if (!asked) return;
  // The fields are checked before the id is looked up.
  if (!asked->fields.HasChanges()) return SendEmpty(out, 304);
  const Result<Bytes> id = ParseHex(asked->id);
  if (!id.ok()) return SendFailure(out, request, id.status(), 400);
  asked->fields.kind = *asked->kind;
  asked->fields.id = *id;
  const auto written = services.metadata.WriteUid(asked->fields, replace, *request.running);
  if (!written.ok()) return SendFailure(out, request, written.status(), 400);
  SendMeta(out, request, **written);
}

void DeleteUidMeta(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<UidMetaRequest> asked = ReadUidMetaRequest(request, out);
  if (!asked) return;
  const Result<Bytes> id = ParseHex(asked->id);
  if (!id.ok()) return SendFailure(out, request, id.status(), 400);
  const Status status = services.metadata.DeleteUid(*asked->kind, *id, *request.running);
  if (!status.ok()) return SendFailure(out, request, status, 400);
  SendEmpty(out, 204);
}

}  // namespace

void HandleUidMeta(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  if (!AnswerVerb({GetUidMeta, PutUidMeta, DeleteUidMeta}, *method, request, services, out))
    SendMethodNotAllowed(out, request);
}

}  // namespace hg::http
