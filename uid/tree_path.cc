#include "uid/tree_path.h"

#include <optional>

#include "uid/java_pattern.h"

namespace hg::uid {
namespace {

void ReplaceAll(std::string_view token, std::string_view by, std::string* text) {
  for (size_t at = text->find(token); at != std::string::npos; at = text->find(token, at)) {
    text->replace(at, token.size(), by);
    at += by.size();
  }
}

class PathFinder {
 public:
  PathFinder(const Tree& tree, const TsMeta& meta)
      : tree_(tree), meta_(meta), tsuid_(ToHexUpper(meta.tsuid)) {}

  Result<TreePath> Run() {
    for (const auto& [level, rules] : tree_.rules) {
      std::vector<std::string> names;
      for (const auto& [order, rule] : rules) {
        ASSIGN_OR_RETURN(names, Apply(rule));
        if (!names.empty()) break;
      }
      if (names.empty()) {
        path_.matched_all = false;
        names.emplace_back();
      }
      for (std::string& name : names) steps_.push_back(std::move(name));
    }
    for (const std::string& name : steps_)
      if (!name.empty()) path_.names.push_back(name);
    Explain();
    return std::move(path_);
  }

 private:
  void Say(std::string message) { path_.messages.push_back(std::move(message)); }

  /// The display names that a rule gives; none: it does not match.
  Result<std::vector<std::string>> Apply(const TreeRule& rule) {
    Say("Processing rule: " + rule.Label());
    const std::optional<std::string> value = ValueFor(rule);
    if (!value || value->empty()) return std::vector<std::string>();
    if (!rule.regex.empty()) {
      ASSIGN_OR_RETURN(const auto pattern, JavaPattern::Compile(rule.regex));
      const std::optional<std::string> group = pattern->Group(*value, rule.regex_group);
      if (!group || group->empty()) return std::vector<std::string>();
      return std::vector<std::string>{DisplayName(rule, *value, *group)};
    }
    if (rule.separator.empty()) return std::vector<std::string>{DisplayName(rule, *value, *value)};
    ASSIGN_OR_RETURN(const auto pattern, JavaPattern::Compile(rule.separator));
    std::vector<std::string> names;
    for (const std::string& piece : pattern->Split(*value)) {
      // Each piece is a step of its own.
      if (!names.empty()) Say("Processing rule: " + rule.Label());
      names.push_back(DisplayName(rule, *value, piece));
    }
    return names;
  }

  std::optional<std::string> ValueFor(const TreeRule& rule) {
    const bool by_key = rule.type == TreeRuleType::kTagk || rule.type == TreeRuleType::kTagkCustom;
    switch (rule.type) {
      case TreeRuleType::kMetric:
        return meta_.metric.name;
      case TreeRuleType::kMetricCustom:
        return Custom(rule, meta_.metric);
      default:
        break;
    }
    const std::string what =
        std::string(by_key ? "tagk" : "tagv") + " [" + rule.field + "] for rule: " + rule.Label();
    for (size_t i = 0; i + 1 < meta_.tags.size(); i += 2) {
      const UidMeta& tag = meta_.tags[by_key ? i : i + 1];
      if (tag.name != rule.field) continue;
      Say("Matched " + what);
      if (rule.type == TreeRuleType::kTagk) return meta_.tags[i + 1].name;
      return Custom(rule, tag);
    }
    Say("No match on " + what);
    return {};
  }

  std::optional<std::string> Custom(const TreeRule& rule, const UidMeta& meta) {
    const std::string what = "custom tag [" + rule.custom_field + "] for rule: " + rule.Label();
    if (meta.custom)
      for (const auto& [key, value] : *meta.custom)
        if (key == rule.custom_field) {
          Say("Matched " + what);
          return value;
        }
    Say("No match on " + what);
    return {};
  }

  std::string DisplayName(const TreeRule& rule, const std::string& original,
                          const std::string& value) {
    if (rule.display_format.empty()) return value;
    std::string name = rule.display_format;
    ReplaceAll("{ovalue}", original, &name);
    ReplaceAll("{value}", value, &name);
    ReplaceAll("{tsuid}", tsuid_, &name);
    if (name.find("{tag_name}") == std::string::npos) return name;
    std::string tag_name;
    if (rule.type == TreeRuleType::kTagk) {
      tag_name = rule.field;
    } else if (rule.type != TreeRuleType::kMetric) {
      tag_name = rule.custom_field;
    } else {
      Say("Display rule " + rule.Label() + " was of the wrong type to match on {tag_name}");
    }
    ReplaceAll("{tag_name}", tag_name, &name);
    return name;
  }

  [[nodiscard]] std::string Parent(size_t step) const {
    if (step == 0) {
      Bytes id;
      AppendBig(&id, static_cast<uint64_t>(tree_.id), 2);
      return "ID: [" + ToHexUpper(id) + "] Name: [ROOT]";
    }
    return "Name: [" + steps_[step - 1] + "]";
  }

  /// From the leaf up, as OpenTSDB's recursion returns; a step's depth is its number from 2.
  void Explain() {
    if (path_.names.empty()) return;
    size_t step = steps_.size() - 1;
    while (steps_[step].empty()) --step;
    const auto depth = [&] { return "Depth [" + std::to_string(step + 2) + "] "; };
    for (; step > 0 && steps_[step - 1].empty(); --step)
      Say(depth() + "Parent branch was empty, rolling back");
    Say(depth() + "Adding leaf [name: " + path_.names.back() + " tsuid: " + tsuid_ +
        "] to parent branch [" + Parent(step) + "]");
    std::string branch;
    while (step-- > 1) {
      if (!steps_[step].empty()) branch = "Name: [" + steps_[step] + "]";
      if (steps_[step - 1].empty()) {
        Say(depth() + "Skipping a non-matched branch, returning: " + branch);
      } else {
        Say(depth() + "Adding branch: " + branch + " to parent: " + Parent(step));
      }
    }
    if (tree_.strict_match && !path_.matched_all)
      Say("TSUID failed to match one or more rule levels, will not add: " + tsuid_);
  }

  const Tree& tree_;
  const TsMeta& meta_;
  const std::string tsuid_;
  TreePath path_;
  std::vector<std::string> steps_;  // of all levels; "" = nothing matched there
};

}  // namespace

Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta) {
  return PathFinder(tree, meta).Run();
}

}  // namespace hg::uid
