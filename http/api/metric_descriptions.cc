#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "http/api/handlers.h"
#include "http/api/prom_request.h"
#include "http/request/client_notes.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

/// Number of descriptions that are copied in one critical section. So writers wait only a short
/// time, and the copies take at most 1 MB.
constexpr size_t kPiece = 256;

void Write(const ClientNotes::Description& of, JsonWriter* json) {
  json->Key(of.metric);
  json->BeginArray();
  json->BeginObject();
  json->Member("type", of.type.empty() ? std::string_view("unknown") : of.type);
  json->Member("help", std::string_view(of.help));
  json->Member("unit", std::string_view(of.unit));
  json->EndObject();
  json->EndArray();
}

std::string_view TextOf(const JsonValue& element, std::string_view name) {
  const JsonValue* const value = element.Find(name);
  return value != nullptr && value->kind == JsonValue::Kind::kString ? value->text
                                                                     : std::string_view();
}

}  // namespace

void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return;
  const std::optional<size_t> limit = PromLimit(*parameters, out);
  if (!limit) return;
  const std::string* const metric = parameters->Find("metric");
  const bool one = metric != nullptr && !metric->empty();
  out.SetContentType("application/json");
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("status", "success");
  json.Key("data");
  json.BeginObject();
  std::string first = one ? *metric : "";
  for (size_t left = one ? 1 : *limit; left > 0 && json.alive();) {
    const auto found = services.notes.Descriptions(first, std::min(left, kPiece));
    if (found.empty()) break;
    for (const ClientNotes::Description& of : found)
      if (!one || of.metric == *metric) Write(of, &json);
    left -= found.size();
    first = found.back().metric + '\0';  // the next possible name
  }
  json.EndObject();
  json.EndObject();
  json.Finish();
}

void HandleScollectorMetadata(const Request& request, Services& services, ResponseWriter& out) {
  const auto keep = [&](const JsonValue& element) -> Status {
    MetricDescription description;
    description.metric = TextOf(element, "Metric");
    const std::string_view name = TextOf(element, "Name"), value = TextOf(element, "Value");
    if (name == "desc") description.help = value;
    if (name == "unit") description.unit = value;
    if (name == "rate" && (value == "counter" || value == "gauge")) description.type = value;
    if (!description.metric.empty()) services.notes.Describe(description);
    return request.running->Step(ClientNotes::kStepsToDescribe);
  };
  const Status read = ParseJsonElements(request.body, keep, request.memory);
  if (!read.ok()) return SendStatus(out, request, read);
  SendEmpty(out, 204);
}

}  // namespace hg::http
