// Handlers of /api/tree/branch, /api/tree/collisions, /api/tree/notmatched and /api/tree/test.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/parsed_body.h"
#include "http/api/tree_parts.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/metadata_json.h"
#include "http/wire/tree_json.h"
#include "query/request/running_request.h"
#include "storage/model/java_hash.h"
#include "uid/tree_path.h"

namespace hg::http {
namespace {

constexpr size_t kTreeIdBytes = 2;
constexpr uint64_t kStepsPerText = 64;

struct SeriesOfTree {
  int32_t tree = 0;
  std::vector<std::string> tsuids;  // as sent
  bool tsuids_no_list = false;      // the member exists but is not an array
};

Status AddWords(const std::string& text, std::vector<std::string>* words, RequestContext& context) {
  // The list may take twice its size while it grows, and the words are copied as keys of the
  // response.
  constexpr size_t kWordBytes = 4 * sizeof(std::string);
  const auto count = static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1;
  RETURN_IF_ERROR(context.Step(count * 16 + text.size()));
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(count * kWordBytes + 2 * text.size())));
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) words->push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return {};
}

/// Reads the body, or the query string if there is no body. Returns nullopt if it sent an error.
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
    const Status added = AddWords(NonEmptyParameter(request, "tsuids").value_or(""), &asked.tsuids,
                                  *request.running);
    if (added.ok()) return asked;
    SendStatus(out, request, added);
    return {};
  }
  // The status is 500, although it is a client error (opentsdb-http-api.md §18.2).
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
    for (const JsonValue& item : tsuids->items) {
      const Status added = AddWords(item.text, &asked.tsuids, *request.running);
      if (added.ok()) continue;
      SendStatus(out, request, added);
      return {};
    }
  }
  return asked;
}

/// The result of applying the rules to one series.
struct Tested {
  std::optional<uid::TsMeta> meta;
  std::vector<std::string> messages;
};

/// The root that all results of a test share, as in OpenTSDB. It shows the branches of the last
/// series only, but collects leaves of all series.
class SharedRoot {
 public:
  explicit SharedRoot(RequestContext& context) : context_(context), branches_(&context) {
    root_.path = {"ROOT"};
  }

  [[nodiscard]] const uid::TreeBranch& branch() const { return root_; }

  /// Adds the series to the result. `names`: as in TreePath. If `refused` is true, the tree does
  /// not accept the series, and only a leaf directly below the root is added.
  Status Show(const std::vector<std::string>& names, const Bytes& tsuid, bool refused) {
    root_.branches.clear();
    if (names.size() == 1) RETURN_IF_ERROR(AddLeaf(names[0], tsuid));
    if (names.size() < 2 || refused) return {};
    RETURN_IF_ERROR(ChargeBranches(names));
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
    return {};
  }

 private:
  /// Adds a leaf, unless there is one with the same name.
  Status AddLeaf(const std::string& name, const Bytes& tsuid) {
    constexpr size_t kNodeBytes = 96;
    if (names_.contains(name)) return {};
    RETURN_IF_ERROR(context_.Charge(static_cast<int64_t>(kNodeBytes + 2 * sizeof(uid::TreeLeaf) +
                                                         2 * name.size() + tsuid.size())));
    names_.insert(name);
    root_.leaves.push_back({name, tsuid});
    return {};
  }

  /// Charges the memory of the branches. Each branch stores the names of all branches above it.
  Status ChargeBranches(const std::vector<std::string>& names) {
    size_t bytes = 0;
    for (size_t i = 0; i < names.size(); ++i)
      bytes += (names.size() - i) * (sizeof(std::string) + names[i].size());
    branches_.Remove(branches_.held());
    RETURN_IF_ERROR(branches_.Step(bytes));
    return branches_.Add(static_cast<int64_t>(bytes));
  }

  RequestContext& context_;
  MemoryTally branches_;
  uid::TreeBranch root_;
  std::set<std::string> names_;  // names of the root's leaves
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
  const auto branch = TreesOf(services).FindBranch(key, *request.running);
  if (!branch.ok()) return SendStatus(out, request, branch.status());
  if (!branch->has_value())
    return SendError(out, request, 404,
                     "Unable to locate branch '" + ToHexUpper(key) + "' for tree '" +
                         std::to_string(tree) + "'");
  StreamJson(out, request, [&](JsonWriter* json) {
    return WriteTreeBranch(tree, **branch, services.metadata.layout(), &services.names, json,
                           *request.running);
  });
}

void HandleTreeFailures(const Request& request, Services& services, ResponseWriter& out,
                        uid::TreeFailure kind) {
  const std::optional<SeriesOfTree> asked = ReadSeries(request, out);
  if (!asked || !RequireTree(asked->tree, request, services, out)) return;
  if (!RequireReadingVerb(request, out)) return;
  if (asked->tsuids_no_list)
    return SendError(out, request, 400, "Unable to convert the given data to a list");
  // The bytes of the texts are charged (AddWords).
  const Status charged =
      request.running->Charge(static_cast<int64_t>(asked->tsuids.size() * sizeof(Bytes)));
  if (!charged.ok()) return SendStatus(out, request, charged);
  std::vector<Bytes> tsuids;
  tsuids.reserve(asked->tsuids.size());
  for (const std::string& text : asked->tsuids) {
    Result<Bytes> tsuid = ParseHex(text);
    if (!tsuid.ok()) return SendTreeArgumentError(out, request, tsuid.status().message());
    tsuids.push_back(std::move(*tsuid));
  }
  const auto failures = TreesOf(services).Failures(asked->tree, kind, tsuids, *request.running);
  if (!failures.ok()) return SendStatus(out, request, failures.status());
  StreamJson(out, request, [&](JsonWriter* json) -> Status {
    json->BeginObject();
    for (const auto& [tsuid, text] : *failures) {
      RETURN_IF_ERROR(request.running->Step(tsuid.size() + text.size()));
      json->Member(ToHexUpper(tsuid), text);
      if (!json->alive()) break;
    }
    json->EndObject();
    return {};
  });
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
  query::RunningRequest& running = *request.running;
  SharedRoot root(running);
  for (const std::string& text : asked->tsuids) {
    const Result<Bytes> tsuid = ParseHex(text);
    if (!tsuid.ok()) return SendTreeArgumentError(out, request, tsuid.status().message());
    // Memory of a text, a result, and their entries in the containers below.
    constexpr int64_t kResultBytes = 512;
    if (const Status status = running.Charge(kResultBytes); !status.ok())
      return SendStatus(out, request, status);
    Tested& tested = results.emplace_back();
    Result<uid::TsMeta> meta = services.metadata.FindSeries(*tsuid, running);
    if (meta.status().code() == StatusCode::kNotFound) {
      tested.messages.emplace_back("Unable to locate TSUID meta data");
      continue;
    }
    if (!meta.ok()) return SendStatus(out, request, meta.status());
    if (tree->rules.empty()) return SendError(out, request, 500, "The tree has no rules");
    Result<uid::TreePath> path = uid::FindTreePath(*tree, *meta, true, running);
    // The status is 500, because OpenTSDB throws an exception in this case.
    if (!path.ok() && path.status().code() == StatusCode::kUnsupported)
      return SendError(out, request, 500, path.status().message());
    if (!path.ok()) return SendStatus(out, request, path.status());
    Status status = running.Charge(uid::BytesOf(*meta));
    if (status.ok())
      status = root.Show(path->names, *tsuid, tree->strict_match && !path->matched_all);
    if (!status.ok()) return SendStatus(out, request, status);
    tested.messages = std::move(path->messages);
    tested.meta = std::move(*meta);
  }
  // If the request contains a TSUID several times, only its last result is kept, at the position of
  // the first one.
  std::vector<uint32_t> hashes;
  std::vector<std::string> keys;
  std::map<std::string_view, size_t> places;  // index of each text in `keys`
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
  StreamJson(out, request, [&](JsonWriter* json) -> Status {
    json->BeginObject();
    for (size_t i : JavaMapOrder(hashes, Hash16Capacity(hashes.size()))) {
      const Tested& tested = results[i];
      json->Key(keys[i]);
      json->BeginObject();
      json->Key("meta");
      tested.meta ? WriteTsMeta(*tested.meta, json) : json->Null();
      json->Key("messages");
      json->BeginArray();
      for (const std::string& message : tested.messages) {
        RETURN_IF_ERROR(running.Step(kStepsPerText + message.size()));
        json->String(message);
      }
      json->EndArray();
      json->Key("branch");
      if (tested.meta) {
        RETURN_IF_ERROR(WriteTreeBranch(tree->id, root.branch(), services.metadata.layout(),
                                        nullptr, json, running));
      } else {
        json->Null();
      }
      json->EndObject();
      if (!json->alive()) break;
    }
    json->EndObject();
    return {};
  });
}

}  // namespace hg::http
