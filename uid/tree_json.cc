#include "uid/json_object.h"
#include "uid/tree.h"

namespace hg::uid {
namespace {

constexpr const char* kWhat = "tree table";

}  // namespace

std::string EncodeTree(const Tree& tree) {
  return ObjectWriter()
      .Text("name", tree.name)
      .Text("description", tree.description)
      .Text("notes", tree.notes)
      .Flag("strictMatch", tree.strict_match)
      .Number("created", tree.created)
      .Flag("enabled", tree.enabled)
      .Flag("storeFailures", tree.store_failures)
      .Finish();
}

Status DecodeTree(ByteView json, Tree* tree) {
  return ObjectReader(kWhat, json)
      .Text("name", &tree->name)
      .Text("description", &tree->description)
      .Text("notes", &tree->notes)
      .Flag("strictMatch", &tree->strict_match)
      .Number("created", &tree->created)
      .Flag("enabled", &tree->enabled)
      .Flag("storeFailures", &tree->store_failures)
      .status();
}

std::string EncodeTreeRule(const TreeRule& rule) {
  return ObjectWriter()
      .Text("type", TreeRuleTypeName(rule.type))
      .Text("field", rule.field)
      .Text("regex", rule.regex)
      .Text("separator", rule.separator)
      .Text("description", rule.description)
      .Text("notes", rule.notes)
      .Number("level", rule.level)
      .Number("order", rule.order)
      .Number("treeId", rule.tree_id)
      .Text("customField", rule.custom_field)
      .Number("regexGroupIdx", rule.regex_group)
      .Text("displayFormat", rule.display_format)
      .Finish();
}

Status DecodeTreeRule(ByteView json, TreeRule* rule) {
  ObjectReader object(kWhat, json);
  std::string type;
  object.Text("type", &type);
  rule->type = ParseTreeRuleType(type);
  if (rule->type == TreeRuleType::kNone) object.Damaged("type");
  return object.Text("field", &rule->field)
      .Text("regex", &rule->regex)
      .Text("separator", &rule->separator)
      .Text("description", &rule->description)
      .Text("notes", &rule->notes)
      .Number("level", &rule->level)
      .Number("order", &rule->order)
      .Number("treeId", &rule->tree_id)
      .Text("customField", &rule->custom_field)
      .Number("regexGroupIdx", &rule->regex_group)
      .Text("displayFormat", &rule->display_format)
      .status();
}

std::string EncodeTreeBranch(const std::vector<std::string>& path) {
  ObjectWriter object;
  object.Begin("path");
  for (size_t i = 0; i < path.size(); ++i) object.Text(std::to_string(i), path[i]);
  return object.End().Text("displayName", path.back()).Finish();
}

Status DecodeTreeBranch(ByteView json, std::vector<std::string>* path) {
  ObjectReader object(kWhat, json);
  const rapidjson::Value* names = object.Find("path");
  if (names == nullptr || !names->IsObject() || names->MemberCount() == 0)
    return object.Damaged("path").status();
  path->resize(names->MemberCount());
  for (size_t i = 0; i < path->size(); ++i)
    object.Text(*names, std::to_string(i).c_str(), &(*path)[i]);
  return object.status();
}

std::string EncodeTreeLeaf(const TreeLeaf& leaf) {
  return ObjectWriter()
      .Text("displayName", leaf.display_name)
      .Text("tsuid", ToHexUpper(leaf.tsuid))
      .Finish();
}

Status DecodeTreeLeaf(ByteView json, TreeLeaf* leaf) {
  ObjectReader object(kWhat, json);
  std::string tsuid;
  object.Text("displayName", &leaf->display_name).Text("tsuid", &tsuid);
  if (!FromHex(tsuid, &leaf->tsuid)) object.Damaged("tsuid");
  return object.status();
}

}  // namespace hg::uid
