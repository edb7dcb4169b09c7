#include "tsd/tools/migrate_state.h"

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <algorithm>

namespace hg::tsd {
namespace {

using rapidjson::Value;

Status Damaged(const char* field) {
  return Status::Corruption(std::string("a missing or invalid field \"") + field + "\"");
}

Result<std::string> TextField(const Value& object, const char* field) {
  const auto it = object.FindMember(field);
  if (it == object.MemberEnd() || !it->value.IsString()) return Damaged(field);
  return std::string(it->value.GetString(), it->value.GetStringLength());
}

Result<Bytes> KeyOf(const Value& object, const char* field) {
  ASSIGN_OR_RETURN(const std::string hex, TextField(object, field));
  Bytes key;
  if (!FromHex(hex, &key)) return Damaged(field);
  return key;
}

Result<uint64_t> NumberOf(const Value& object, const char* field) {
  const auto it = object.FindMember(field);
  if (it == object.MemberEnd() || !it->value.IsUint64()) return Damaged(field);
  return it->value.GetUint64();
}

Result<MigratePart> PartOf(const Value& object) {
  if (!object.IsObject()) return Damaged("parts");
  MigratePart part;
  ASSIGN_OR_RETURN(part.table, TextField(object, "table"));
  ASSIGN_OR_RETURN(part.start, KeyOf(object, "start"));
  ASSIGN_OR_RETURN(part.stop, KeyOf(object, "stop"));
  ASSIGN_OR_RETURN(part.at, KeyOf(object, "at"));
  ASSIGN_OR_RETURN(part.rows_total, NumberOf(object, "rows_total"));
  ASSIGN_OR_RETURN(part.sum.rows, NumberOf(object, "rows"));
  ASSIGN_OR_RETURN(part.sum.items, NumberOf(object, "items"));
  ASSIGN_OR_RETURN(part.sum.sum, NumberOf(object, "sum"));
  const auto done = object.FindMember("done");
  if (done == object.MemberEnd() || !done->value.IsBool()) return Damaged("done");
  part.done = done->value.GetBool();
  const auto all_rows = object.FindMember("all_rows");
  part.all_rows = all_rows != object.MemberEnd() && all_rows->value.IsTrue();
  return part;
}

}  // namespace

bool MigrateState::PassDone() const {
  return std::all_of(parts.begin(), parts.end(), [](const MigratePart& part) { return part.done; });
}

std::string WriteMigrateState(const MigrateState& state) {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> json(buffer);
  const auto text = [&json](const char* field, const std::string& value) {
    json.Key(field);
    json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  const auto number = [&json](const char* field, uint64_t value) {
    json.Key(field);
    json.Uint64(value);
  };
  json.StartObject();
  text("from", state.from);
  text("to", state.to);
  number("pass", static_cast<uint64_t>(state.pass));
  number("pass_began_ms", static_cast<uint64_t>(state.pass_began_ms));
  if (state.since_ms) number("since_ms", static_cast<uint64_t>(*state.since_ms));
  json.Key("parts");
  json.StartArray();
  for (const MigratePart& part : state.parts) {
    json.StartObject();
    text("table", part.table);
    text("start", ToHex(part.start));
    text("stop", ToHex(part.stop));
    text("at", ToHex(part.at));
    json.Key("done");
    json.Bool(part.done);
    if (part.all_rows) {
      json.Key("all_rows");
      json.Bool(true);
    }
    number("rows_total", part.rows_total);
    number("rows", part.sum.rows);
    number("items", part.sum.items);
    number("sum", part.sum.sum);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

Result<MigrateState> ReadMigrateState(std::string_view text) {
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) {
    return Status::Corruption("it is no JSON object");
  }
  MigrateState state;
  ASSIGN_OR_RETURN(state.from, TextField(document, "from"));
  ASSIGN_OR_RETURN(state.to, TextField(document, "to"));
  ASSIGN_OR_RETURN(const uint64_t pass, NumberOf(document, "pass"));
  ASSIGN_OR_RETURN(const uint64_t began_ms, NumberOf(document, "pass_began_ms"));
  state.pass = static_cast<int>(pass);
  state.pass_began_ms = static_cast<int64_t>(began_ms);
  if (document.HasMember("since_ms")) {
    ASSIGN_OR_RETURN(const uint64_t since_ms, NumberOf(document, "since_ms"));
    state.since_ms = static_cast<int64_t>(since_ms);
  }
  const auto parts = document.FindMember("parts");
  if (parts == document.MemberEnd() || !parts->value.IsArray()) return Damaged("parts");
  for (const Value& part : parts->value.GetArray()) {
    ASSIGN_OR_RETURN(MigratePart one, PartOf(part));
    state.parts.push_back(std::move(one));
  }
  return state;
}

}  // namespace hg::tsd
