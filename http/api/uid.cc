#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/api/scalar_body.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "query/request/running_request.h"
#include "storage/model/letter_case.h"
#include "storage/model/name_text.h"
#include "storage/model/point_sink.h"

namespace hg::http {
namespace {

// The types of assign and rename, in the order of OpenTSDB's map.
constexpr std::pair<std::string_view, UidKind> kTypes[] = {
    {"metric", UidKind::kMetric}, {"tagk", UidKind::kTagk}, {"tagv", UidKind::kTagv}};

std::optional<UidKind> KindOfType(std::string_view type) {
  const std::string lower = LowerCase(type);
  for (const auto& [word, kind] : kTypes)
    if (lower == word) return kind;
  return {};
}

/// One type of an assign request: its name as sent, and the names to assign.
struct AssignList {
  std::string type;
  std::vector<std::string> names;
};

std::vector<AssignList> AssignFromParameters(const Request& request) {
  std::vector<AssignList> lists;
  for (const auto& [word, kind] : kTypes) {
    const std::optional<std::string> text = NonEmptyParameter(request, word);
    // As in Java's String.split, trailing commas are ignored, and other empty parts count as names.
    if (!text || text->find_first_not_of(',') == std::string::npos) continue;
    AssignList& list = lists.emplace_back();
    list.type = word;
    std::string_view rest = *text;
    rest = rest.substr(0, rest.find_last_not_of(',') + 1);
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      list.names.emplace_back(name);
    }
  }
  return lists;
}

/// Reads the body. If it is invalid, sends an error and returns nullopt.
std::optional<std::vector<AssignList>> AssignFromBody(const Request& request, ResponseWriter& out) {
  const std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  const auto bad = [&](std::string_view why) {
    SendBadJson(out, request, why);
    return std::optional<std::vector<AssignList>>();
  };
  if (!body->is_object()) return bad("An object is expected");
  std::vector<AssignList> lists;
  const auto members = body->LastMembers(*request.running);
  if (!members.ok()) {
    SendStatus(out, request, members.status());
    return {};
  }
  for (const JsonMember* member : *members) {
    const auto& [type, value] = *member;
    const auto null = [&](const JsonValue& item) { return item.is_null(); };
    if (value.is_null() || std::any_of(value.items.begin(), value.items.end(), null)) {
      SendError(out, request, 500, "\"" + type + "\" is null, or holds null");
      return {};
    }
    if (!value.is_array()) return bad("\"" + type + "\" must be an array of names");
    AssignList& list = lists.emplace_back();
    list.type = type;
    for (const JsonValue& name : value.items) {
      if (!name.is_scalar()) return bad("\"" + type + "\" must hold names, nothing else");
      list.names.push_back(name.text);
    }
  }
  return lists;
}

struct AssignResult {
  std::map<std::string, std::string> ids;
  std::map<std::string, std::string> errors;
  /// An error that ends the whole request: the store refuses, or no ids are left.
  Status failure;
};

/// Assigns ids to the names of a list. Memory is charged to `tally`. If `tally` refuses memory, the
/// names that got ids before keep them.
AssignResult Assign(const AssignList& list, const NameRules& rules, uid::Names& names,
                    MemoryTally* tally) {
  // An assignment needs three writes. A line of the response has the name and its result.
  constexpr uint64_t kSteps = 10'000;
  constexpr size_t kLineBytes = 256;
  AssignResult result;
  const std::optional<UidKind> kind = KindOfType(list.type);
  for (const std::string& name : list.names) {
    result.failure = tally->Step(kSteps);
    if (result.failure.ok())
      result.failure = tally->Add(static_cast<int64_t>(kLineBytes + 4 * name.size()));
    if (!result.failure.ok()) return result;
    const auto refuse = [&, &name = name](std::string_view why) { result.errors[name] = why; };
    if (!kind) {
      refuse("Unknown type name");
      continue;
    }
    if (const Status legal = rules.Check(list.type, name); !legal.ok()) {
      refuse(legal.message());
      continue;
    }
    bool assigned = false;
    // A name that is too long fails alone, without the whole request.
    if (name.size() > uid::kNameLengthMax && ToLatin1(name).size() > uid::kNameLengthMax) {
      refuse("The name is longer than " + std::to_string(uid::kNameLengthMax) + " characters");
      continue;
    }
    const Result<Bytes> id = names.FindOrAssign(*kind, name, &assigned);
    if (id.status().code() == StatusCode::kConflict) {
      refuse(id.status().message());
    } else if (!id.ok()) {
      result.failure = id.status();
      return result;
    } else if (assigned) {
      result.ids[name] = ToHexUpper(*id);
    } else {
      refuse("Name already exists with UID: " + ToHexUpper(*id));
    }
  }
  return result;
}

void WriteMap(const std::string& key, const std::map<std::string, std::string>& map,
              JsonWriter* json) {
  json->Key(key);
  json->BeginObject();
  for (const auto& [name, text] : map) json->Member(name, text);
  json->EndObject();
}

void HandleAssign(const Request& request, Services& services, ResponseWriter& out) {
  if (request.method != Method::kGet && request.method != Method::kPost)
    return SendMethodNotAllowed(out, request);
  std::vector<AssignList> lists;
  if (request.method == Method::kPost) {
    auto from_body = AssignFromBody(request, out);
    if (!from_body) return;
    lists = std::move(*from_body);
  } else {
    lists = AssignFromParameters(request);
  }
  if (lists.empty()) return SendError(out, request, 400, "Missing values to assign UIDs");

  const NameRules rules(services.options.extra_name_characters);
  MemoryTally tally(request.running);
  bool failed = false;
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (const AssignList& list : lists) {
    const AssignResult result = Assign(list, rules, services.names, &tally);
    // The name is valid, so InvalidArgument means that all ids are assigned.
    if (result.failure.code() == StatusCode::kInvalidArgument)
      return SendError(out, request, 500, result.failure.message());
    if (!result.failure.ok()) return SendStatus(out, request, result.failure);
    WriteMap(list.type, result.ids, &json);
    if (result.errors.empty()) continue;
    WriteMap(list.type + "_errors", result.errors, &json);
    failed = true;
  }
  json.EndObject();
  SendJson(out, request, body, failed ? 400 : 200);
}

struct RenameArguments {
  UidKind kind = UidKind::kMetric;
  std::string_view word;  // name of the kind
  std::string old_name, new_name;
};

/// Reads the request. If it is invalid, sends an error and returns nullopt.
std::optional<RenameArguments> ReadRename(const Request& request, ResponseWriter& out) {
  std::optional<JsonValue> body;
  if (request.method == Method::kPost) {
    body = RequireJsonBody(request, out);
    if (!body || !RequireScalars(*body, request, out)) return {};
  }
  // In a body, an empty text counts as a name, which does not exist.
  const auto text = [&](std::string_view name) -> std::optional<std::string> {
    if (!body) return NonEmptyParameter(request, name);
    const JsonValue* value = body->Find(name);
    if (value == nullptr || value->is_null()) return {};
    return value->text;
  };
  bool has_type = false;
  RenameArguments arguments;
  // If the request names several types, the last one counts.
  for (const auto& [word, kind] : kTypes) {
    std::optional<std::string> old_name = text(word);
    if (!old_name) continue;
    has_type = true;
    arguments.kind = kind;
    arguments.word = word;
    arguments.old_name = std::move(*old_name);
  }
  const std::optional<std::string> new_name = text("name");
  arguments.new_name = new_name.value_or("");
  if (has_type && new_name) return arguments;
  SendError(out, request, 400, "Missing necessary values to rename UID");
  return {};
}

void HandleRename(const Request& request, Services& services, ResponseWriter& out) {
  if (request.method != Method::kGet && request.method != Method::kPost)
    return SendMethodNotAllowed(out, request);
  const std::optional<RenameArguments> rename = ReadRename(request, out);
  if (!rename) return;
  const NameRules rules(services.options.extra_name_characters);
  Status status = rules.Check(rename->word, rename->new_name);
  if (status.ok()) status = services.names.Rename(rename->kind, rename->old_name, rename->new_name);
  // The raw series keys that the sink has cached may now belong to other series.
  services.sink.ForgetRawKeys();
  switch (status.code()) {
    case StatusCode::kOk:
      return SendJson(out, request, R"({"result":"true"})");
    case StatusCode::kNotFound:
    case StatusCode::kConflict:
    case StatusCode::kInvalidArgument:
      break;
    default:
      return SendStatus(out, request, status);
  }
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Member("result", "false");
  json.Key("error");
  json.String(status.code() == StatusCode::kNotFound
                  ? "Name(\"" + rename->old_name + "\") does not exist"
                  : std::string(status.message()));
  json.EndObject();
  SendJson(out, request, body, 400);
}

}  // namespace

void HandleUid(const Request& request, Services& services, ResponseWriter& out) {
  const std::string part = request.Segment(1);
  if (part == "assign") return HandleAssign(request, services, out);
  if (part == "rename") return HandleRename(request, services, out);
  if (part == "uidmeta") return HandleUidMeta(request, services, out);
  if (part == "tsmeta") return HandleTsMeta(request, services, out);
  SendError(out, request, 501, "Other UID endpoints have not been implemented yet");
}

}  // namespace hg::http
