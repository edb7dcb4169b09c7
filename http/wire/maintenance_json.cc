#include "http/wire/maintenance_json.h"

#include <array>
#include <utility>

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

constexpr std::array<std::pair<const char*, uint64_t CopyProgress::*>, 7> kProgressMembers = {{
    {"files", &CopyProgress::files},
    {"filesTotal", &CopyProgress::files_total},
    {"bytes", &CopyProgress::bytes},
    {"bytesTotal", &CopyProgress::bytes_total},
    {"kept", &CopyProgress::kept},
    {"linked", &CopyProgress::linked},
    {"copied", &CopyProgress::copied},
}};

Status Lacks(const char* name) {
  return Status::InvalidArgument(std::string("the answer has no \"") + name + "\"");
}

Result<uint64_t> Number(const JsonValue& object, const char* name) {
  const JsonValue* member = object.Find(name);
  const auto number = member != nullptr ? member->AsInt() : std::nullopt;
  if (!number || *number < 0) return Lacks(name);
  return static_cast<uint64_t>(*number);
}

Result<std::string> Text(const JsonValue& object, const char* name) {
  const JsonValue* member = object.Find(name);
  if (member == nullptr || member->kind != JsonValue::Kind::kString) return Lacks(name);
  return member->text;
}

Result<const JsonValue*> Array(const JsonValue& object, const char* name) {
  const JsonValue* member = object.Find(name);
  if (member == nullptr || !member->is_array()) return Lacks(name);
  return member;
}

}  // namespace

std::string ProgressJson(const CopyProgress& progress) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  for (const auto& [name, member] : kProgressMembers) {
    json.Member(name, static_cast<int64_t>(progress.*member));
  }
  json.EndObject();
  return text;
}

std::string ReportJson(const CheckReport& report) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Member("files", static_cast<int64_t>(report.files));
  json.Member("bytes", static_cast<int64_t>(report.bytes));
  json.Key("damages");
  json.BeginArray();
  for (const Damage& damage : report.damages) {
    json.BeginObject();
    json.Member("file", damage.file);
    json.Member("offset", static_cast<int64_t>(damage.offset));
    json.Member("what", damage.what);
    json.Member("lost", damage.lost);
    json.EndObject();
  }
  json.EndArray();
  json.Key("notes");
  json.BeginArray();
  for (const std::string& note : report.notes) json.String(note);
  json.EndArray();
  json.EndObject();
  return text;
}

Result<CopyProgress> ParseProgress(std::string_view json) {
  ASSIGN_OR_RETURN(const JsonValue document, ParseJson(json));
  CopyProgress progress;
  for (const auto& [name, member] : kProgressMembers) {
    ASSIGN_OR_RETURN(progress.*member, Number(document, name));
  }
  return progress;
}

Result<CheckReport> ParseReport(std::string_view json) {
  ASSIGN_OR_RETURN(const JsonValue document, ParseJson(json));
  CheckReport report;
  ASSIGN_OR_RETURN(report.files, Number(document, "files"));
  ASSIGN_OR_RETURN(report.bytes, Number(document, "bytes"));
  ASSIGN_OR_RETURN(const JsonValue* damages, Array(document, "damages"));
  for (const JsonValue& item : damages->items) {
    Damage& damage = report.damages.emplace_back();
    ASSIGN_OR_RETURN(damage.file, Text(item, "file"));
    ASSIGN_OR_RETURN(damage.offset, Number(item, "offset"));
    ASSIGN_OR_RETURN(damage.what, Text(item, "what"));
    ASSIGN_OR_RETURN(damage.lost, Text(item, "lost"));
  }
  ASSIGN_OR_RETURN(const JsonValue* notes, Array(document, "notes"));
  for (const JsonValue& note : notes->items) report.notes.push_back(note.text);
  return report;
}

}  // namespace hg::http
