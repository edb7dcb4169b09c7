#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "storage/model/utf8.h"
#include "uid/tree.h"

namespace hg::uid {
namespace {

using Json = rapidjson::Value;

class Object {
 public:
  Object() { writer_.StartObject(); }
  Object& Text(const char* key, std::string_view text) {
    writer_.Key(key);
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return *this;
  }
  Object& Number(const char* key, int64_t number) {
    writer_.Key(key);
    writer_.Int64(number);
    return *this;
  }
  Object& Flag(const char* key, bool flag) {
    writer_.Key(key);
    writer_.Bool(flag);
    return *this;
  }
  Object& Begin(const char* key) {
    writer_.Key(key);
    writer_.StartObject();
    return *this;
  }
  Object& End() {
    writer_.EndObject();
    return *this;
  }
  std::string Finish() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

Status Damaged(const char* what) { return Status::Corruption(std::string("tree table: ") + what); }

Status Parse(ByteView json, rapidjson::Document* document) {
  document->Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document->HasParseError() || !document->IsObject()) return Damaged("not a JSON object");
  return {};
}

const Json* Find(const Json& object, const char* key) {
  const auto member = object.FindMember(key);
  return member == object.MemberEnd() || member->value.IsNull() ? nullptr : &member->value;
}

Status Read(const Json& object, const char* key, std::string* out) {
  const Json* value = Find(object, key);
  if (value == nullptr) return {};
  if (!value->IsString()) return Damaged(key);
  out->assign(value->GetString(), value->GetStringLength());
  ReplaceInvalidUtf8(out);
  return {};
}

Status Read(const Json& object, const char* key, bool* out) {
  const Json* value = Find(object, key);
  if (value == nullptr) return {};
  if (!value->IsBool()) return Damaged(key);
  *out = value->GetBool();
  return {};
}

template <typename T>
Status ReadNumber(const Json& object, const char* key, T* out) {
  const Json* value = Find(object, key);
  if (value == nullptr) return {};
  if (!value->IsInt64()) return Damaged(key);
  *out = static_cast<T>(value->GetInt64());
  return {};
}

}  // namespace

std::string EncodeTree(const Tree& tree) {
  return Object()
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
  rapidjson::Document document;
  RETURN_IF_ERROR(Parse(json, &document));
  RETURN_IF_ERROR(Read(document, "name", &tree->name));
  RETURN_IF_ERROR(Read(document, "description", &tree->description));
  RETURN_IF_ERROR(Read(document, "notes", &tree->notes));
  RETURN_IF_ERROR(Read(document, "strictMatch", &tree->strict_match));
  RETURN_IF_ERROR(ReadNumber(document, "created", &tree->created));
  RETURN_IF_ERROR(Read(document, "enabled", &tree->enabled));
  return Read(document, "storeFailures", &tree->store_failures);
}

std::string EncodeTreeRule(const TreeRule& rule) {
  return Object()
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
  rapidjson::Document document;
  RETURN_IF_ERROR(Parse(json, &document));
  std::string type;
  RETURN_IF_ERROR(Read(document, "type", &type));
  rule->type = ParseTreeRuleType(type);
  if (rule->type == TreeRuleType::kNone) return Damaged("type");
  RETURN_IF_ERROR(Read(document, "field", &rule->field));
  RETURN_IF_ERROR(Read(document, "regex", &rule->regex));
  RETURN_IF_ERROR(Read(document, "separator", &rule->separator));
  RETURN_IF_ERROR(Read(document, "description", &rule->description));
  RETURN_IF_ERROR(Read(document, "notes", &rule->notes));
  RETURN_IF_ERROR(ReadNumber(document, "level", &rule->level));
  RETURN_IF_ERROR(ReadNumber(document, "order", &rule->order));
  RETURN_IF_ERROR(ReadNumber(document, "treeId", &rule->tree_id));
  RETURN_IF_ERROR(Read(document, "customField", &rule->custom_field));
  RETURN_IF_ERROR(ReadNumber(document, "regexGroupIdx", &rule->regex_group));
  return Read(document, "displayFormat", &rule->display_format);
}

std::string EncodeTreeBranch(const std::vector<std::string>& path) {
  Object object;
  object.Begin("path");
  for (size_t i = 0; i < path.size(); ++i) object.Text(std::to_string(i).c_str(), path[i]);
  return object.End().Text("displayName", path.back()).Finish();
}

Status DecodeTreeBranch(ByteView json, std::vector<std::string>* path) {
  rapidjson::Document document;
  RETURN_IF_ERROR(Parse(json, &document));
  const Json* names = Find(document, "path");
  if (names == nullptr || !names->IsObject()) return Damaged("path");
  path->resize(names->MemberCount());
  for (size_t i = 0; i < path->size(); ++i)
    RETURN_IF_ERROR(Read(*names, std::to_string(i).c_str(), &(*path)[i]));
  return path->empty() ? Damaged("path") : Status::Ok();
}

std::string EncodeTreeLeaf(const TreeLeaf& leaf) {
  return Object()
      .Text("displayName", leaf.display_name)
      .Text("tsuid", ToHexUpper(leaf.tsuid))
      .Finish();
}

Status DecodeTreeLeaf(ByteView json, TreeLeaf* leaf) {
  rapidjson::Document document;
  RETURN_IF_ERROR(Parse(json, &document));
  std::string tsuid;
  RETURN_IF_ERROR(Read(document, "displayName", &leaf->display_name));
  RETURN_IF_ERROR(Read(document, "tsuid", &tsuid));
  return FromHex(tsuid, &leaf->tsuid) ? Status::Ok() : Damaged("tsuid");
}

}  // namespace hg::uid
