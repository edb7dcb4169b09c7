// Handlers of /api/tree/rule and /api/tree/rules.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/parsed_body.h"
#include "http/api/tree_parts.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/tree_json.h"
#include "query/request/running_request.h"
#include "uid/java_pattern.h"

namespace hg::http {
namespace {

using uid::TreeRule;
using uid::TreeRuleType;

constexpr uint64_t kStepsPerRule = 1 << 14;

/// Reads a rule. The message of InvalidArgument names the invalid field.
Result<TreeRule> ReadRule(JsonValue document, RequestContext& context) {
  const JsonValue value = ObjectOfOne(std::move(document), JsonValue::Kind::kNumber, "treeId");
  if (!value.is_object()) return Status::InvalidArgument("A rule must be an object");
  TreeRule rule;
  const auto text = [&](const char* name, std::string* field) {
    const JsonValue* member = value.Find(name);
    if (member != nullptr && member->is_scalar()) *field = member->text;
  };
  Status status;
  const auto number = [&](const char* name, int32_t* field) {
    const JsonValue* member = value.Find(name);
    if (member == nullptr || member->is_null()) return;
    const std::optional<int64_t> given = member->AsInt();
    if (given && *given >= 0 && *given <= INT32_MAX) {
      *field = static_cast<int32_t>(*given);
    } else {
      status = Status::InvalidArgument(std::string("Invalid value of ") + name);
    }
  };
  std::string type;
  text("type", &type);
  text("field", &rule.field);
  text("regex", &rule.regex);
  text("separator", &rule.separator);
  text("description", &rule.description);
  text("notes", &rule.notes);
  text("customField", &rule.custom_field);
  text("displayFormat", &rule.display_format);
  number("level", &rule.level);
  number("order", &rule.order);
  number("treeId", &rule.tree_id);
  number("regexGroupIdx", &rule.regex_group);
  RETURN_IF_ERROR(status);
  if (const JsonValue* given = value.Find("type");
      given != nullptr && !given->is_null() && type.empty())
    return Status::InvalidArgument("Rule type was empty");
  rule.type = uid::ParseTreeRuleType(type);
  if (!type.empty() && rule.type == TreeRuleType::kNone)
    return Status::InvalidArgument("Unrecognized rule type: " + type);
  RETURN_IF_ERROR(uid::JavaPattern::Compile(rule.regex, context).status());
  return rule;
}

void SendBadRule(ResponseWriter& out, const Request& request, const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return SendStatus(out, request, status);
  // The status is 500, although it is a client error (opentsdb-http-api.md §18.2).
  SendError(out, request, 500, status.message());
}

/// Reads tree, level and order from the query string. If one is invalid, sends an error and returns
/// nullopt.
std::optional<TreeRule> PlaceFromParameters(const Request& request, ResponseWriter& out) {
  TreeRule rule;
  const std::pair<const char*, int32_t*> places[] = {
      {"treeid", &rule.tree_id}, {"level", &rule.level}, {"order", &rule.order}};
  for (const auto& [name, field] : places) {
    const std::optional<int32_t> number = RequiredNumber(request, name, out);
    if (!number) return {};
    *field = *number;
  }
  return rule;
}

std::optional<TreeRule> RuleFromParameters(const Request& request, ResponseWriter& out) {
  std::optional<TreeRule> rule = PlaceFromParameters(request, out);
  if (!rule) return {};
  const auto text = [&](const char* name) { return NonEmptyParameter(request, name).value_or(""); };
  rule->field = text("field");
  rule->regex = text("regex");
  if (const auto pattern = uid::JavaPattern::Compile(rule->regex, *request.running);
      !pattern.ok()) {
    SendError(out, request, 400, "Unable to parse the 'regex' parameter",
              pattern.status().message());
    return {};
  }
  rule->separator = text("separator");
  rule->description = text("description");
  rule->notes = text("notes");
  rule->custom_field = text("custom_field");
  rule->display_format = text("display_format");
  if (const std::string type = text("type"); !type.empty()) {
    rule->type = uid::ParseTreeRuleType(type);
    if (rule->type == TreeRuleType::kNone) {
      SendError(out, request, 400, "Unable to parse the 'type' parameter",
                "Unrecognized rule type: " + type);
      return {};
    }
  }
  if (!NonEmptyParameter(request, "regex_group_idx")) return rule;
  const std::optional<int32_t> group = RequiredNumber(request, "regex_group_idx", out);
  if (!group) return {};
  rule->regex_group = *group;
  return rule;
}

/// Reads the body, or the query string if there is no body. Returns nullopt if it sent an error.
std::optional<TreeRule> ReadRuleRequest(const Request& request, ResponseWriter& out) {
  if (request.body.empty()) return RuleFromParameters(request, out);
  std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  Result<TreeRule> rule = ReadRule(std::move(*body), *request.running);
  if (rule.ok()) return std::move(*rule);
  SendBadRule(out, request, rule.status());
  return {};
}

const TreeRule* FindRule(const uid::Tree& tree, const TreeRule& place) {
  const auto level = tree.rules.find(place.level);
  if (level == tree.rules.end()) return nullptr;
  const auto rule = level->second.find(place.order);
  return rule == level->second.end() ? nullptr : &rule->second;
}

TreeRule Merge(TreeRule said, const TreeRule& stored) {
  const auto keep = [](auto* field, const auto& old) {
    if (*field == std::decay_t<decltype(*field)>()) *field = old;
  };
  keep(&said.type, stored.type);
  keep(&said.field, stored.field);
  keep(&said.regex, stored.regex);
  keep(&said.separator, stored.separator);
  keep(&said.description, stored.description);
  keep(&said.notes, stored.notes);
  keep(&said.custom_field, stored.custom_field);
  keep(&said.regex_group, stored.regex_group);
  keep(&said.display_format, stored.display_format);
  return said;
}

/// Returns the rule that replaces `stored`, which may be null. Returns nullopt if `said` has no
/// fields, or if the rule would not change.
Result<std::optional<TreeRule>> Changed(const TreeRule& said, const TreeRule* stored,
                                        bool replace) {
  TreeRule silent;
  silent.tree_id = said.tree_id;
  if (said == silent) return std::optional<TreeRule>();
  TreeRule rule = stored != nullptr && !replace ? Merge(said, *stored) : said;
  if (stored != nullptr && rule == *stored) return std::optional<TreeRule>();
  RETURN_IF_ERROR(rule.Check());
  return std::optional<TreeRule>(std::move(rule));
}

void SendRule(ResponseWriter& out, const Request& request, const TreeRule& rule) {
  std::string body;
  JsonWriter json(&body);
  WriteTreeRule(rule, &json);
  SendJson(out, request, body);
}

void SendNoRule(ResponseWriter& out, const Request& request, TreeRule place) {
  place.type = TreeRuleType::kNone;
  SendError(out, request, 404, "Unable to locate rule: " + place.Label());
}

Result<std::optional<TreeRule>> Store(const TreeRule& said, bool replace, const Request& request,
                                      Services& services) {
  return TreesOf(services).UpdateRule(
      said, [&](const TreeRule* stored) { return Changed(said, stored, replace); },
      *request.running);
}

void WriteOne(const TreeRule& said, const Request& request, Services& services, ResponseWriter& out,
              bool replace) {
  const Result<std::optional<TreeRule>> rule = Store(said, replace, request, services);
  if (!rule.ok() && rule.status().code() == StatusCode::kInvalidArgument)
    return SendTreeArgumentError(out, request, rule.status().message());
  if (!rule.ok()) return SendStatus(out, request, rule.status());
  if (!*rule) return SendEmpty(out, 304);
  SendRule(out, request, **rule);
}

/// Reads the rules of a body: at least one, and all of the same tree. On failure sends an error and
/// returns nullopt.
std::optional<std::vector<TreeRule>> ReadRules(const Request& request, ResponseWriter& out) {
  const auto refuse = [&](int status, std::string_view why) {
    SendError(out, request, status, why);
    return std::optional<std::vector<TreeRule>>();
  };
  // The status of errors is 500, although they are client errors (opentsdb-http-api.md §18.2).
  const std::optional<JsonValue> body = ParsedBody(request, out);
  if (!body) return {};
  if (body->is_null()) return refuse(400, "Missing tree rules");
  if (!body->is_array()) return refuse(500, "An array of rules is expected");
  // This charge covers the rules, their texts, and the copies of both that ReplaceMany makes.
  const size_t bytes = body->items.size() * 4 * sizeof(TreeRule) + 2 * request.body.size();
  if (const Status status = request.running->Charge(static_cast<int64_t>(bytes)); !status.ok()) {
    SendStatus(out, request, status);
    return {};
  }
  std::vector<TreeRule> rules;
  for (const JsonValue& item : body->items) {
    // Reading a rule compiles its pattern, so it counts as work.
    if (const Status status = request.running->Step(kStepsPerRule); !status.ok()) {
      SendStatus(out, request, status);
      return {};
    }
    Result<TreeRule> rule = ReadRule(item, *request.running);
    if (!rule.ok()) {
      SendBadRule(out, request, rule.status());
      return {};
    }
    rules.push_back(std::move(*rule));
  }
  if (rules.empty()) return refuse(400, "Missing tree rules");
  for (const TreeRule& rule : rules) {
    if (rule.tree_id != rules[0].tree_id)
      return refuse(400, "All rules must belong to the same tree");
  }
  return rules;
}

/// Sends the response to a request with several rules. `said` is the last rule that was processed,
/// and `rule` is its result.
void AnswerMany(const Result<std::optional<TreeRule>>& rule, const TreeRule& said,
                const Request& request, ResponseWriter& out) {
  if (!rule.ok() && rule.status().code() == StatusCode::kInvalidArgument)
    return SendTreeArgumentError(out, request, rule.status().message());
  if (!rule.ok()) return SendStatus(out, request, rule.status());
  if (!*rule) return SendError(out, request, 500, "No change of the rule " + said.Label());
  SendEmpty(out, 204);
}

/// Merges the rules with the stored ones, one by one. Stops at an invalid rule; the rules before it
/// stay stored.
void MergeMany(const std::vector<TreeRule>& rules, const Request& request, Services& services,
               ResponseWriter& out) {
  for (const TreeRule& said : rules) {
    const Result<std::optional<TreeRule>> rule = Store(said, false, request, services);
    if (!rule.ok() || !*rule || &said == &rules.back()) return AnswerMany(rule, said, request, out);
  }
}

/// Replaces all rules of a tree by `rules`, in one write, so that a cancelled request changes
/// nothing. As in OpenTSDB, if a rule is invalid, the rules before it still replace all stored
/// rules.
void ReplaceMany(const uid::Tree& tree, const std::vector<TreeRule>& rules, const Request& request,
                 Services& services, ResponseWriter& out) {
  if (tree.rules.empty())
    return SendTreeArgumentError(out, request, "The tree has no rules that could be deleted");
  std::map<std::pair<int32_t, int32_t>, TreeRule> made;  // by level and order
  Result<std::optional<TreeRule>> rule = std::optional<TreeRule>();
  const TreeRule* said = nullptr;
  for (const TreeRule& one : rules) {
    const auto place = std::pair(one.level, one.order);
    const auto before = made.find(place);
    said = &one;
    rule = Changed(one, before == made.end() ? nullptr : &before->second, true);
    if (!rule.ok() || !*rule) break;
    made.insert_or_assign(place, **rule);
  }
  std::vector<TreeRule> all;
  for (auto& [place, one] : made) all.push_back(std::move(one));
  const Status replaced = TreesOf(services).ReplaceRules(tree, all, *request.running);
  if (!replaced.ok()) return SendStatus(out, request, replaced);
  AnswerMany(rule, *said, request, out);
}

/// Deletes all rules of a tree, in one write.
void DeleteAll(const uid::Tree& tree, const Request& request, Services& services,
               ResponseWriter& out) {
  if (tree.rules.empty())
    return SendTreeArgumentError(out, request, "The tree has no rules that could be deleted");
  const Status status = TreesOf(services).ReplaceRules(tree, {}, *request.running);
  if (!status.ok()) return SendStatus(out, request, status);
  SendEmpty(out, 204);
}

}  // namespace

void HandleTreeRule(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<TreeRule> said = ReadRuleRequest(request, out);
  if (!said) return;
  const std::optional<uid::Tree> tree = RequireTree(said->tree_id, request, services, out);
  if (!tree) return;
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  if (*method == Method::kPost || *method == Method::kPut)
    return WriteOne(*said, request, services, out, *method == Method::kPut);
  if (*method != Method::kGet && *method != Method::kDelete)
    return SendUnsupportedMethod(out, request);
  const TreeRule* rule = FindRule(*tree, *said);
  if (rule == nullptr) return SendNoRule(out, request, *said);
  if (*method == Method::kGet) return SendRule(out, request, *rule);
  if (const Status status = TreesOf(services).DeleteRule(*rule, *request.running); !status.ok())
    return SendStatus(out, request, status);
  SendEmpty(out, 204);
}

void HandleTreeRules(const Request& request, Services& services, ResponseWriter& out) {
  std::vector<TreeRule> rules;
  std::optional<int32_t> id;
  if (!request.body.empty()) {
    auto read = ReadRules(request, out);
    if (!read) return;
    rules = std::move(*read);
    id = rules[0].tree_id;
  } else {
    id = TreeIdParameter(request, out);
  }
  if (!id) return;
  const std::optional<uid::Tree> tree = RequireTree(*id, request, services, out);
  if (!tree) return;
  const std::optional<Method> method = OverriddenMethod(request, out);
  if (!method) return;
  if (*method == Method::kPost || *method == Method::kPut) {
    if (rules.empty()) return SendError(out, request, 400, "Missing tree rules");
    if (*method == Method::kPut) return ReplaceMany(*tree, rules, request, services, out);
    return MergeMany(rules, request, services, out);
  }
  if (*method != Method::kDelete) return SendUnsupportedMethod(out, request);
  DeleteAll(*tree, request, services, out);
}

}  // namespace hg::http
