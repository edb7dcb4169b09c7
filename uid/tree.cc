#include "uid/tree.h"

#include "storage/model/java_hash.h"
#include "storage/model/letter_case.h"
#include "uid/java_pattern.h"

namespace hg::uid {
namespace {

constexpr std::pair<TreeRuleType, std::string_view> kTypes[] = {
    {TreeRuleType::kMetric, "METRIC"},
    {TreeRuleType::kMetricCustom, "METRIC_CUSTOM"},
    {TreeRuleType::kTagk, "TAGK"},
    {TreeRuleType::kTagkCustom, "TAGK_CUSTOM"},
    {TreeRuleType::kTagvCustom, "TAGV_CUSTOM"},
};

}  // namespace

std::string_view TreeRuleTypeName(TreeRuleType type) {
  for (const auto& [known, name] : kTypes)
    if (known == type) return name;
  return "null";
}

TreeRuleType ParseTreeRuleType(std::string_view word) {
  const std::string upper = UpperCase(word);
  for (const auto& [type, name] : kTypes)
    if (name == upper) return type;
  return TreeRuleType::kNone;
}

std::string TreeRule::Label() const {
  return "[" + std::to_string(tree_id) + ":" + std::to_string(level) + ":" + std::to_string(order) +
         ":" + std::string(TreeRuleTypeName(type)) + "]";
}

Status TreeRule::Check() const {
  if (type == TreeRuleType::kNone) return Status::InvalidArgument("Missing rule type");
  const std::string name(TreeRuleTypeName(type));
  if (type != TreeRuleType::kMetric && field.empty())
    return Status::InvalidArgument("Missing field name required for " + name + " rule");
  const bool custom = type != TreeRuleType::kMetric && type != TreeRuleType::kTagk;
  if (custom && custom_field.empty())
    return Status::InvalidArgument("Missing custom field name required for " + name + " rule");
  if (regex_group < 0)
    return Status::InvalidArgument("Invalid regex group index " + std::to_string(regex_group));
  for (const std::string& pattern : {regex, separator})
    RETURN_IF_ERROR(JavaPattern::Compile(pattern).status());
  return {};
}

Bytes TreeBranchKey(int32_t tree, const std::vector<std::string>& path) {
  Bytes key;
  AppendBig(&key, static_cast<uint64_t>(tree), 2);
  for (size_t i = 1; i < path.size(); ++i) AppendBig(&key, JavaHashUtf8(path[i]), 4);
  return key;
}

}  // namespace hg::uid
