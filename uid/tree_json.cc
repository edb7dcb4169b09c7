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
  ObjectReader object(kWhat);
  RETURN_IF_ERROR(object.Parse(json));
  RETURN_IF_ERROR(object.Text("name", &tree->name));
  RETURN_IF_ERROR(object.Text("description", &tree->description));
  RETURN_IF_ERROR(object.Text("notes", &tree->notes));
  RETURN_IF_ERROR(object.Flag("strictMatch", &tree->strict_match));
  RETURN_IF_ERROR(object.Number("created", &tree->created));
  RETURN_IF_ERROR(object.Flag("enabled", &tree->enabled));
  return object.Flag("storeFailures", &tree->store_failures);
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
  ObjectReader object(kWhat);
  RETURN_IF_ERROR(object.Parse(json));
  std::string type;
  RETURN_IF_ERROR(object.Text("type", &type));
  rule->type = ParseTreeRuleType(type);
  if (rule->type == TreeRuleType::kNone) return object.Damaged("type");
  RETURN_IF_ERROR(object.Text("field", &rule->field));
  RETURN_IF_ERROR(object.Text("regex", &rule->regex));
  RETURN_IF_ERROR(object.Text("separator", &rule->separator));
  RETURN_IF_ERROR(object.Text("description", &rule->description));
  RETURN_IF_ERROR(object.Text("notes", &rule->notes));
  RETURN_IF_ERROR(object.Number("level", &rule->level));
  RETURN_IF_ERROR(object.Number("order", &rule->order));
  RETURN_IF_ERROR(object.Number("treeId", &rule->tree_id));
  RETURN_IF_ERROR(object.Text("customField", &rule->custom_field));
  RETURN_IF_ERROR(object.Number("regexGroupIdx", &rule->regex_group));
  return object.Text("displayFormat", &rule->display_format);
}

std::string EncodeTreeBranch(const std::vector<std::string>& path) {
  ObjectWriter object;
  object.Begin("path");
  for (size_t i = 0; i < path.size(); ++i) object.Text(std::to_string(i), path[i]);
  return object.End().Text("displayName", path.back()).Finish();
}

Status DecodeTreeBranch(ByteView json, std::vector<std::string>* path) {
  ObjectReader object(kWhat);
  RETURN_IF_ERROR(object.Parse(json));
  const rapidjson::Value* names = object.Find("path");
  if (names == nullptr || !names->IsObject()) return object.Damaged("path");
  path->resize(names->MemberCount());
  for (size_t i = 0; i < path->size(); ++i)
    RETURN_IF_ERROR(object.Text(*names, std::to_string(i).c_str(), &(*path)[i]));
  return path->empty() ? object.Damaged("path") : Status::Ok();
}

std::string EncodeTreeLeaf(const TreeLeaf& leaf) {
  return ObjectWriter()
      .Text("displayName", leaf.display_name)
      .Text("tsuid", ToHexUpper(leaf.tsuid))
      .Finish();
}

Status DecodeTreeLeaf(ByteView json, TreeLeaf* leaf) {
  ObjectReader object(kWhat);
  RETURN_IF_ERROR(object.Parse(json));
  std::string tsuid;
  RETURN_IF_ERROR(object.Text("displayName", &leaf->display_name));
  RETURN_IF_ERROR(object.Text("tsuid", &tsuid));
  return FromHex(tsuid, &leaf->tsuid) ? Status::Ok() : object.Damaged("tsuid");
}

}  // namespace hg::uid
