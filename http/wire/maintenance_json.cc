#include "http/wire/maintenance_json.h"

#include <array>
#include <utility>

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

}  // namespace hg::http
