// /api/tree/branch, /api/tree/collisions, /api/tree/notmatched and /api/tree/test.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/parsed_body.h"
#include "http/api/tree_parts.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/wire/metadata_json.h"
#include "http/wire/tree_json.h"
#include "storage/model/java_hash.h"
#include "uid/tree_path.h"

namespace hg::http {
namespace {

constexpr size_t kTreeIdBytes = 2;

struct SeriesOfTree {
  int32_t tree = 0;
  std::vector<std::string> tsuids;  // as sent
  bool tsuids_no_list = false;      // what stands there is no array
};

void AddWords(const std::string& text, std::vector<std::string>* words) {
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) words->push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
}

/// From the body, or without one from the query string; none: the error was sent.
std::optional<SeriesOfTree> ReadSeries(const Request& request, ResponseWriter& out) {
  SeriesOfTree asked;
  if (request.body.empty()) {
    if (!NonEmptyParameter(request, "treeid")) {
      SendMissingParameter(out, request, "treeid");
      return {};
    }
    const std::optional<int32_t> id = TreeIdParameter(request, out);
    if (!id) return {};
    asked.tree = *id;
    AddWords(NonEmptyParameter(request, "tsuids").value_or(""), &asked.tsuids);
    return asked;
  }
  // 500, although it is the client's mistake: spec http-api.md §18.2.
  const auto bad = [&](std::string_view why) {
    SendError(out, request, 500, why);
    return std::optional<SeriesOfTree>();
  };
  const std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  if (!body->is_object()) return bad("An object is expected");
  const JsonValue* id = body->Find("treeId");
  if (id != nullptr && !id->is_null() &&
      (id->kind != JsonValue::Kind::kNumber || id->text.find_first_of(".eE") != std::string::npos))
    return bad("\"treeId\" must be a whole number");
  const int64_t number = id == nullptr ? 0 : id->AsInt().value_or(0);
  asked.tree = number > 0 && number <= uid::kTreeIdMax ? static_cast<int32_t>(number) : 0;
  if (const JsonValue* tsuids = body->Find("tsuids")) {
    asked.tsuids_no_list = !tsuids->is_array() && !tsuids->is_null();
    for (const JsonValue& item : tsuids->items) AddWords(item.text, &asked.tsuids);
  }
  return asked;
}

/// What the rules make of one series.
struct Tested {
  std::optional<uid::TsMeta> meta;
  std::vector<std::string> messages;
};

/// The one root that all results of a test show, as in OpenTSDB: below it the branches of the last
/// series alone, while leaves of its own gather.
class SharedRoot {
 public:
  SharedRoot() { root_.path = {"ROOT"}; }

  [[nodiscard]] const uid::TreeBranch& branch() const { return root_; }

  /// `names` as of a TreePath; `refused`: the tree does not take the series, but its own leaf
  /// stays.
  void Show(const std::vector<std::string>& names, const Bytes& tsuid, bool refused) {
    root_.branches.clear();
    if (names.size() == 1) AddLeaf(names[0], tsuid);
    if (names.size() < 2 || refused) return;
    root_.branches_known = true;
    uid::TreeBranch* branch = &root_;
    for (size_t i = 0; i + 1 < names.size(); ++i) {
      uid::TreeBranch child;
      child.path = branch->path;
      child.path.push_back(names[i]);
      branch->branches.push_back(std::move(child));
      branch = &branch->branches.back();
    }
    branch->leaves.push_back({names.back(), tsuid});
  }

 private:
  /// Of leaves with one name the first stays.
  void AddLeaf(const std::string& name, const Bytes& tsuid) {
    const auto same = [&](const uid::TreeLeaf& leaf) { return leaf.display_name == name; };
    auto& leaves = root_.leaves;
    if (std::none_of(leaves.begin(), leaves.end(), same)) leaves.push_back({name, tsuid});
  }

  uid::TreeBranch root_;
};

}  // namespace

void HandleTreeBranch(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  if (*method != Method::kGet) return SendUnsupportedMethod(out, request);
  Bytes key;
  if (const auto text = NonEmptyParameter(request, "branch")) {
    if (text->size() < 2 * kTreeIdBytes)
      return SendTreeArgumentError(out, request, "Branch ID was too short");
    Result<Bytes> bytes = ParseHex(*text);
    if (!bytes.ok()) return SendTreeArgumentError(out, request, bytes.status().message());
    key = std::move(*bytes);
  } else {
    const std::optional<int32_t> id = TreeIdParameter(request, out);
    if (!id) return;
    if (*id == 0) return SendError(out, request, 400, "Missing or invalid branch and tree IDs");
    key = uid::TreeBranchKey(*id, {});
  }
  const int32_t tree = ReadBig16(key.data());
  const auto branch = TreesOf(services).FindBranch(key);
  if (!branch.ok()) return SendStatus(out, request, branch.status());
  if (!branch->has_value())
    return SendError(out, request, 404,
                     "Unable to locate branch '" + ToHexUpper(key) + "' for tree '" +
                         std::to_string(tree) + "'");
  std::string body;
  JsonWriter json(&body);
  const Status written =
      WriteTreeBranch(tree, **branch, services.metadata.layout(), &services.names, &json);
  if (!written.ok()) return SendStatus(out, request, written);
  SendJson(out, request, body);
}

void HandleTreeFailures(const Request& request, Services& services, ResponseWriter& out,
                        uid::TreeFailure kind) {
  const std::optional<SeriesOfTree> asked = ReadSeries(request, out);
  if (!asked || !RequireTree(asked->tree, request, services, out)) return;
  if (!RequireReadingVerb(request, out)) return;
  if (asked->tsuids_no_list)
    return SendError(out, request, 400, "Unable to convert the given data to a list");
  std::vector<Bytes> tsuids;
  for (const std::string& text : asked->tsuids) {
    Result<Bytes> tsuid = ParseHex(text);
    if (!tsuid.ok()) return SendTreeArgumentError(out, request, tsuid.status().message());
    tsuids.push_back(std::move(*tsuid));
  }
  const auto failures = TreesOf(services).Failures(asked->tree, kind, tsuids);
  if (!failures.ok()) return SendStatus(out, request, failures.status());
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (const auto& [tsuid, text] : *failures) json.Member(ToHexUpper(tsuid), text);
  json.EndObject();
  SendJson(out, request, body);
}

void HandleTreeTest(const Request& request, Services& services, ResponseWriter& out) {
  std::optional<SeriesOfTree> asked = ReadSeries(request, out);
  if (!asked) return;
  const std::optional<uid::Tree> tree = RequireTree(asked->tree, request, services, out);
  if (!tree) return;
  if (asked->tsuids_no_list) return SendError(out, request, 500, "\"tsuids\" must be an array");
  if (asked->tsuids.empty()) return SendError(out, request, 400, "Missing or empty TSUID list");
  if (!RequireReadingVerb(request, out)) return;
  std::vector<Tested> results;
  SharedRoot root;
  for (const std::string& text : asked->tsuids) {
    const Result<Bytes> tsuid = ParseHex(text);
    if (!tsuid.ok()) return SendTreeArgumentError(out, request, tsuid.status().message());
    Tested& tested = results.emplace_back();
    Result<uid::TsMeta> meta = services.metadata.FindSeries(*tsuid);
    if (meta.status().code() == StatusCode::kNotFound) {
      tested.messages.emplace_back("Unable to locate TSUID meta data");
      continue;
    }
    if (!meta.ok()) return SendStatus(out, request, meta.status());
    if (tree->rules.empty()) return SendError(out, request, 500, "The tree has no rules");
    Result<uid::TreePath> path = uid::FindTreePath(*tree, *meta);
    if (!path.ok() &&
        path.status().code() == StatusCode::kUnsupported)  // an exception of OpenTSDB's
      return SendError(out, request, 500, path.status().message());
    if (!path.ok()) return SendStatus(out, request, path.status());
    tested.messages = std::move(path->messages);
    tested.meta = std::move(*meta);
    root.Show(path->names, *tsuid, tree->strict_match && !path->matched_all);
  }
  // Of equal TSUIDs the last result stays, where the first one stood.
  std::vector<uint32_t> hashes;
  std::vector<std::string> keys;
  std::map<std::string_view, size_t> places;  // of keys
  for (size_t i = 0; i < asked->tsuids.size(); ++i) {
    const auto [known, is_new] = places.try_emplace(asked->tsuids[i], keys.size());
    if (!is_new) {
      results[known->second] = std::move(results[i]);
      continue;
    }
    if (keys.size() != i) results[keys.size()] = std::move(results[i]);
    keys.push_back(asked->tsuids[i]);
    hashes.push_back(JavaHashUtf8(asked->tsuids[i]));
  }
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (size_t i : JavaMapOrder(hashes, Hash16Capacity(hashes.size()))) {
    const Tested& tested = results[i];
    json.Key(keys[i]);
    json.BeginObject();
    json.Key("meta");
    tested.meta ? WriteTsMeta(*tested.meta, &json) : json.Null();
    json.Key("messages");
    json.BeginArray();
    for (const std::string& message : tested.messages) json.String(message);
    json.EndArray();
    json.Key("branch");
    if (tested.meta) {
      const Status written =
          WriteTreeBranch(tree->id, root.branch(), services.metadata.layout(), nullptr, &json);
      if (!written.ok()) return SendStatus(out, request, written);
    } else {
      json.Null();
    }
    json.EndObject();
  }
  json.EndObject();
  SendJson(out, request, body);
}

}  // namespace hg::http
