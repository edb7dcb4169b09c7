#include <algorithm>
#include <string>

#include "http/api/handlers.h"
#include "http/request/client_notes.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "http/wire/percent.h"
#include "storage/model/letter_case.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

/// Clients derive the server's features from the version. For this version they use the line
/// protocol of 1.8 and the write endpoint of 2.
constexpr std::string_view kVersion = "1.8.0";
constexpr size_t kShownBytesMax = 200;

constexpr std::string_view kBlanks = " \t\r\n";

/// Returns the name at the front of a text, plain or in quotes, or "" if there is none.
std::string NameIn(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  std::string name;
  if (text.starts_with('"')) {
    for (size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      name += text[i];
    }
  } else {
    name = text.substr(0, text.find_first_of(" \t\r\n;"));
  }
  ReplaceInvalidUtf8(&name);
  return name;
}

/// Returns the result of SHOW DATABASES, with a row for each name.
std::string DatabaseList(const std::vector<std::string>& names) {
  std::string body =
      R"({"results":[{"statement_id":0,"series":[{"name":"databases","columns":["name"])";
  JsonWriter json(&body);
  if (!names.empty()) body += R"(,"values":[)";
  for (const std::string& name : names) {
    json.BeginArray();
    json.String(name);
    json.EndArray();
  }
  return body + (names.empty() ? "" : "]") + "}]}]}";
}

/// Returns the statement from the query string, or from a form in the body. Returns "" if there is
/// none.
std::string Statement(const Request& request) {
  if (const std::string* q = request.parameters.Find("q"); q != nullptr) return *q;
  Parameters form;
  const std::string* type = request.Header("content-type");
  const bool is_form = type == nullptr || type->starts_with("application/x-www-form-urlencoded");
  if (!is_form || request.body.size() > kFormBytesMax) return {};
  if (!ParseQueryString(request.body, &form, request.memory)) return {};
  const std::string* q = form.Find("q");
  return q == nullptr ? std::string() : *q;
}

}  // namespace

void HandleInfluxQuery(const Request& request, Services& services, ResponseWriter& out) {
  std::string statement = Statement(request);
  statement.erase(0, std::min(statement.find_first_not_of(kBlanks), statement.size()));
  const std::string words = UpperCase(statement);
  constexpr std::string_view kCreate = "CREATE DATABASE ";
  constexpr std::string_view kUnlessExists = "IF NOT EXISTS ";  // for clients of early versions
  const bool creates = words.starts_with(kCreate);
  if (creates) {
    std::string_view name = std::string_view(statement).substr(kCreate.size());
    if (std::string_view(words).substr(kCreate.size()).starts_with(kUnlessExists))
      name.remove_prefix(kUnlessExists.size());
    services.notes.AddDatabase(NameIn(name));
  }
  if (creates || words.starts_with("CREATE RETENTION POLICY "))
    return SendBody(out, 200, kJsonType, R"({"results":[{"statement_id":0}]})");
  if (words.starts_with("SHOW DATABASES"))
    return SendBody(out, 200, kJsonType, DatabaseList(services.notes.Databases()));
  if (words.empty()) return SendError(out, request, 400, "missing required parameter \"q\"");
  SendError(out, request, 400,
            "\"" + Shortened(statement, kShownBytesMax) +
                "\": of InfluxDB's statements only CREATE DATABASE, CREATE RETENTION POLICY and "
                "SHOW DATABASES are answered, for writers; points are read by /api/query");
}

void HandleInfluxPing(const Request& request, Services& services, ResponseWriter& out) {
  (void)services;
  out.AddHeader("X-Influxdb-Version", kVersion);
  const std::string* verbose = request.parameters.Find("verbose");
  if (verbose == nullptr || verbose->empty() || *verbose == "0" || *verbose == "false")
    return SendBody(out, 204, "", {});
  SendBody(out, 200, kJsonType, "{\"version\":\"" + std::string(kVersion) + "\"}");
}

void HandleInfluxHealth(const Request& request, Services& services, ResponseWriter& out) {
  (void)request, (void)services;
  SendBody(out, 200, kJsonType,
           R"({"checks":[],"message":"ready for writes","name":"influxdb","status":"pass",)"
           "\"version\":\"" +
               std::string(kVersion) + "\"}");
}

}  // namespace hg::http
