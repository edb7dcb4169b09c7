#include <string>

#include "http/api/arguments.h"
#include "http/api/handlers.h"
#include "http/api/scalar_body.h"
#include "http/api/tree_parts.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/tree_json.h"
#include "query/request/running_request.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

/// The fields of a tree definition in a request. nullopt: the field is absent. An empty text counts
/// as absent.
struct TreeRequest {
  int32_t id = 0;
  std::optional<std::string> name, description, notes;
  std::optional<bool> strict_match, enabled, store_failures;
  int64_t created = 0;

  [[nodiscard]] bool HasChanges() const {
    return name || description || notes || strict_match || enabled || store_failures;
  }
  /// Applies the fields to *tree. Absent fields stay unchanged. If `replace` is true, they get
  /// their defaults.
  void ApplyTo(uid::Tree* tree, bool replace) const {
    const auto set = [replace](const auto& said, auto* field) {
      if (said) {
        *field = *said;
      } else if (replace) {
        *field = {};
      }
    };
    set(name, &tree->name);
    set(description, &tree->description);
    set(notes, &tree->notes);
    set(strict_match, &tree->strict_match);
    set(enabled, &tree->enabled);
    set(store_failures, &tree->store_failures);
  }
};

std::optional<TreeRequest> TreeFromParameters(const Request& request, Services& services,
                                              ResponseWriter& out) {
  const std::optional<int32_t> id = TreeIdParameter(request, out);
  if (!id) return {};
  TreeRequest asked;
  asked.id = *id;
  asked.created = services.clock.NowMs() / 1000;
  const auto text = [&](std::string_view name, std::optional<std::string>* field) {
    if (auto value = NonEmptyParameter(request, name)) *field = std::move(*value);
  };
  const auto flag = [&](std::string_view name, std::optional<bool>* field) {
    if (const std::string* value = request.parameters.Find(name))
      *field = *value == "true" || *value == "1";
  };
  text("name", &asked.name);
  text("description", &asked.description);
  text("notes", &asked.notes);
  flag("strict_match", &asked.strict_match);
  flag("enabled", &asked.enabled);
  flag("store_failures", &asked.store_failures);
  return asked;
}

std::optional<TreeRequest> ReadTreeRequest(const Request& request, Services& services,
                                           ResponseWriter& out) {
  if (request.body.empty()) return TreeFromParameters(request, services, out);
  std::optional<JsonValue> body = RequireJsonBody(request, out);
  if (!body) return {};
  *body = ObjectOfOne(std::move(*body), JsonValue::Kind::kNumber, "treeId");
  if (!RequireScalars(*body, request, out)) return {};
  TreeRequest asked;
  if (const JsonValue* id = body->Find("treeId"); id != nullptr && !id->is_null()) {
    const std::optional<int64_t> number = id->AsInt();
    const bool whole = id->text.find('.') == std::string::npos;
    if (!number || !whole || *number < 0 || *number > uid::kTreeIdMax) {
      SendTreeArgumentError(out, request, "Invalid Tree ID");
      return {};
    }
    asked.id = static_cast<int32_t>(*number);
  }
  const auto text = [&](std::string_view name, std::optional<std::string>* field) {
    const JsonValue* value = body->Find(name);
    if (value != nullptr && value->is_scalar() && !value->text.empty()) *field = value->text;
  };
  const auto flag = [&](std::string_view name, std::optional<bool>* field) {
    const JsonValue* value = body->Find(name);
    if (value != nullptr && !value->is_null()) *field = value->AsBool().value_or(false);
  };
  text("name", &asked.name);
  text("description", &asked.description);
  text("notes", &asked.notes);
  flag("strictMatch", &asked.strict_match);
  flag("enabled", &asked.enabled);
  flag("storeFailures", &asked.store_failures);
  return asked;
}

void SendTree(ResponseWriter& out, const Request& request, const uid::Tree& tree) {
  StreamJson(out, request, [&](JsonWriter* json) {
    WriteTree(tree, json);
    return Status();
  });
}

void Get(const TreeRequest& asked, const Request& request, Services& services,
         ResponseWriter& out) {
  if (asked.id != 0) {
    if (const auto tree = RequireTree(asked.id, request, services, out))
      SendTree(out, request, *tree);
    return;
  }
  const auto trees = TreesOf(services).List(*request.running);
  if (!trees.ok()) return SendStatus(out, request, trees.status());
  StreamJson(out, request, [&](JsonWriter* json) -> Status {
    json->BeginArray();
    for (const uid::Tree& tree : *trees) {
      RETURN_IF_ERROR(request.running->Check());
      WriteTree(tree, json);
      if (!json->alive()) break;
    }
    json->EndArray();
    return {};
  });
}

void Write(const TreeRequest& asked, const Request& request, Services& services,
           ResponseWriter& out, bool replace) {
  uid::TreeStore store = TreesOf(services);
  if (asked.id == 0) {
    if (asked.name.value_or("").empty())
      return SendTreeArgumentError(out, request, "Tree was missing the name");
    uid::Tree fresh;
    asked.ApplyTo(&fresh, true);
    fresh.created = asked.created;
    const Result<uid::Tree> created = store.Create(std::move(fresh), *request.running);
    if (!created.ok()) return SendStatus(out, request, created.status());
    return SendTree(out, request, *created);
  }
  const std::optional<uid::Tree> tree = RequireTree(asked.id, request, services, out);
  if (!tree) return;
  if (!asked.HasChanges()) return SendEmpty(out, 304);
  const Result<uid::Tree> written = store.Update(
      tree->id, [&](uid::Tree* stored) { asked.ApplyTo(stored, replace); }, *request.running);
  if (!written.ok()) return SendStatus(out, request, written.status());
  SendTree(out, request, *written);
}

void Delete(const TreeRequest& asked, const Request& request, Services& services,
            ResponseWriter& out) {
  if (!RequireTree(asked.id, request, services, out)) return;
  bool definition = NonEmptyParameter(request, "definition") == "true";
  if (!request.body.empty()) {
    const std::optional<JsonValue> body = RequireJsonBody(request, out);
    if (!body) return;
    const JsonValue* value = body->Find("definition");
    definition = value != nullptr && value->AsBool().value_or(false);
  }
  if (const Status status = TreesOf(services).Purge(asked.id, definition, *request.running);
      !status.ok())
    return SendStatus(out, request, status);
  SendEmpty(out, 204);
}

// The handlers in this file read the arguments before they check the method.
void HandleDefinition(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<TreeRequest> asked = ReadTreeRequest(request, services, out);
  if (!asked) return;
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  switch (*method) {
    case Method::kGet:
      return Get(*asked, request, services, out);
    case Method::kPost:
      return Write(*asked, request, services, out, false);
    case Method::kPut:
      return Write(*asked, request, services, out, true);
    case Method::kDelete:
      return Delete(*asked, request, services, out);
    default:
      return SendUnsupportedMethod(out, request);
  }
}

}  // namespace

uid::TreeStore TreesOf(Services& services) {
  const auto table = services.settings.find("tsd.storage.hbase.tree_table");
  return {services.cells, table == services.settings.end() ? "tsdb-tree" : table->second};
}

void SendUnsupportedMethod(ResponseWriter& out, const Request& request) {
  SendError(out, request, 400, "Unsupported HTTP request method");
}

void SendTreeArgumentError(ResponseWriter& out, const Request& request, std::string_view message) {
  SendError(out, request, 400, message, message);
}

std::optional<int32_t> TreeIdParameter(const Request& request, ResponseWriter& out) {
  const std::string* text = request.parameters.Find("treeid");
  if (text == nullptr) return 0;
  const std::optional<int32_t> id = ParseInt32(*text);
  if (!id) {
    SendError(out, request, 400, "Unable to parse 'tree' value",
              "For input string: \"" + *text + "\"");
    return {};
  }
  if (*id >= 0 && *id <= uid::kTreeIdMax) return id;
  SendTreeArgumentError(out, request, "Invalid Tree ID");
  return {};
}

std::optional<uid::Tree> RequireTree(int32_t id, const Request& request, Services& services,
                                     ResponseWriter& out) {
  if (id <= 0 || id > uid::kTreeIdMax) {
    SendTreeArgumentError(out, request, "Invalid Tree ID");
    return {};
  }
  Result<uid::Tree> tree = TreesOf(services).Find(id, *request.running);
  if (tree.ok()) return std::move(*tree);
  SendStatus(out, request, tree.status());
  return {};
}

std::optional<int32_t> RequiredNumber(const Request& request, std::string_view name,
                                      ResponseWriter& out) {
  const std::optional<std::string> text = NonEmptyParameter(request, name);
  if (!text) {
    SendMissingParameter(out, request, name);
    return {};
  }
  const std::optional<int32_t> number = ParseInt32(*text);
  if (!number)
    SendError(out, request, 400, "Unable to parse the '" + std::string(name) + "' parameter",
              "For input string: \"" + *text + "\"");
  return number;
}

void HandleTree(const Request& request, Services& services, ResponseWriter& out) {
  const std::string part = request.Segment(1);
  if (part.empty()) return HandleDefinition(request, services, out);
  if (part == "rule") return HandleTreeRule(request, services, out);
  if (part == "rules") return HandleTreeRules(request, services, out);
  if (part == "branch") return HandleTreeBranch(request, services, out);
  if (part == "test") return HandleTreeTest(request, services, out);
  if (part != "collisions" && part != "notmatched")
    return SendError(out, request, 404, "This endpoint is not supported");
  HandleTreeFailures(
      request, services, out,
      part == "collisions" ? uid::TreeFailure::kCollision : uid::TreeFailure::kNotMatched);
}

bool RequireReadingVerb(const Request& request, ResponseWriter& out) {
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return false;
  if (*method == Method::kGet || *method == Method::kPost || *method == Method::kPut) return true;
  SendUnsupportedMethod(out, request);
  return false;
}

}  // namespace hg::http
