#include "http/wire/tree_json.h"

#include "storage/codec/row_key.h"
#include "storage/model/java_hash.h"

namespace hg::http {
namespace {

Status WriteSeries(const Bytes& tsuid, const KeyLayout& layout, uid::Names& names,
                   JsonWriter* json) {
  RETURN_IF_ERROR(codec::CheckTsuid(layout, tsuid));
  ASSIGN_OR_RETURN(
      const std::string metric,
      names.NameOf(UidKind::kMetric,
                   ByteView(tsuid).substr(0, static_cast<size_t>(layout.metric_width))));
  json->Member("metric", metric);
  Status status;
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<uint32_t> hashes;
  codec::ForEachPair(layout, tsuid, [&](ByteView tagk, ByteView tagv) {
    const Result<std::string> key = names.NameOf(UidKind::kTagk, tagk);
    const Result<std::string> value = names.NameOf(UidKind::kTagv, tagv);
    if (status.ok()) status = key.ok() ? value.status() : key.status();
    if (!status.ok()) return;
    tags.emplace_back(*key, *value);
    hashes.push_back(JavaHashUtf8(*key));
  });
  RETURN_IF_ERROR(status);
  json->Key("tags");
  json->BeginObject();
  for (size_t i : JavaMapOrder(hashes, Hash16Capacity(tags.size())))
    json->Member(tags[i].first, tags[i].second);
  json->EndObject();
  return {};
}

Status WriteLeaf(const uid::TreeLeaf& leaf, const KeyLayout& layout, uid::Names* names,
                 JsonWriter* json) {
  json->BeginObject();
  if (names != nullptr) {
    RETURN_IF_ERROR(WriteSeries(leaf.tsuid, layout, *names, json));
  } else {
    json->Member("metric", "");
    json->Key("tags");
    json->Null();
  }
  json->Member("tsuid", ToHexUpper(leaf.tsuid));
  json->Member("displayName", leaf.display_name);
  json->EndObject();
  return {};
}

constexpr uint64_t kStepsPerText = 64;

uint64_t StepsOf(const uid::TreeLeaf& leaf, bool named) {
  // The cost of a byte of a TSUID in steps. A TSUID contains a UID every few bytes, and the lookup
  // of the UID's name may need a request to another machine.
  constexpr uint64_t kStepsPerByte = 256;
  return kStepsPerText + leaf.display_name.size() + (named ? leaf.tsuid.size() * kStepsPerByte : 0);
}

}  // namespace

void WriteTree(const uid::Tree& tree, JsonWriter* json) {
  json->BeginObject();
  json->Member("name", tree.name);
  json->Member("description", tree.description);
  json->Member("notes", tree.notes);
  json->Member("enabled", tree.enabled);
  json->Key("rules");
  if (tree.rules.empty()) {
    json->Null();
  } else {
    json->BeginObject();
    for (const auto& [level, rules] : tree.rules) {
      json->Key(level);
      json->BeginObject();
      for (const auto& [order, rule] : rules) {
        json->Key(order);
        WriteTreeRule(rule, json);
      }
      json->EndObject();
    }
    json->EndObject();
  }
  json->Member("created", tree.created);
  json->Member("treeId", tree.id);
  json->Member("strictMatch", tree.strict_match);
  json->Member("storeFailures", tree.store_failures);
  json->EndObject();
}

void WriteTreeRule(const uid::TreeRule& rule, JsonWriter* json) {
  json->BeginObject();
  json->Member("type", uid::TreeRuleTypeName(rule.type));
  json->Member("field", rule.field);
  json->Member("regex", rule.regex);
  json->Member("separator", rule.separator);
  json->Member("description", rule.description);
  json->Member("notes", rule.notes);
  json->Member("level", rule.level);
  json->Member("order", rule.order);
  json->Member("treeId", rule.tree_id);
  json->Member("customField", rule.custom_field);
  json->Member("regexGroupIdx", rule.regex_group);
  json->Member("displayFormat", rule.display_format);
  json->EndObject();
}

Status WriteTreeBranch(int32_t tree, const uid::TreeBranch& branch, const KeyLayout& layout,
                       uid::Names* names, JsonWriter* json, RequestContext& context) {
  json->BeginObject();
  json->Key("leaves");
  if (branch.leaves.empty()) {
    json->Null();
  } else {
    json->BeginArray();
    for (const uid::TreeLeaf& leaf : branch.leaves) {
      RETURN_IF_ERROR(context.Step(StepsOf(leaf, names != nullptr)));
      RETURN_IF_ERROR(WriteLeaf(leaf, layout, names, json));
      if (!json->alive()) return {};
    }
    json->EndArray();
  }
  json->Key("branches");
  if (branch.branches.empty() && !branch.branches_known) {
    json->Null();
  } else {
    json->BeginArray();
    for (const uid::TreeBranch& child : branch.branches) {
      RETURN_IF_ERROR(WriteTreeBranch(tree, child, layout, names, json, context));
      if (!json->alive()) return {};
    }
    json->EndArray();
  }
  json->Key("path");
  json->BeginObject();
  for (size_t i = 0; i < branch.path.size(); ++i) {
    RETURN_IF_ERROR(context.Step(kStepsPerText + branch.path[i].size()));
    json->Key(static_cast<int64_t>(i));
    json->String(branch.path[i]);
  }
  json->EndObject();
  json->Member("displayName", branch.path.back());
  json->Member("treeId", tree);
  json->Member("branchId", ToHexUpper(uid::TreeBranchKey(tree, branch.path)));
  json->Member("depth", static_cast<int64_t>(branch.path.size()) - 1);
  json->EndObject();
  return {};
}

}  // namespace hg::http
