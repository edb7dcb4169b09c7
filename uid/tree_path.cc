#include "uid/tree_path.h"

#include <deque>
#include <optional>
#include <vector>

#include "uid/java_pattern.h"

namespace hg::uid {
namespace {

void ReplaceAll(std::string_view token, std::string_view by, std::string* text) {
  for (size_t at = text->find(token); at != std::string::npos; at = text->find(token, at)) {
    text->replace(at, token.size(), by);
    at += by.size();
  }
}

/// A branch to be, as OpenTSDB's TreeBuilder has it while it works.
struct Step {
  std::string name;  // "" = no rule of the level matched
  Step* child = nullptr;
  std::optional<std::string> leaf;
};

// The messages, and with them the order of work, are those of TreeBuilder.processRuleset.
class PathFinder {
 public:
  PathFinder(const Tree& tree, const TsMeta& meta)
      : tree_(tree), meta_(meta), tsuid_(ToHexUpper(meta.tsuid)), level_(tree.rules.begin()) {}

  Result<TreePath> Run() {
    RETURN_IF_ERROR(Process(&root_, 1).status());
    if (tree_.strict_match && !path_.matched_all)
      Say("TSUID failed to match one or more rule levels, will not add: " + tsuid_);
    if (root_.leaf) {
      path_.names = {*root_.leaf};
    } else {
      for (const Step* step = current_; step != nullptr; step = step->child) {
        path_.names.push_back(step->name);
        if (step->leaf) {
          path_.names.push_back(*step->leaf);
          break;
        }
      }
    }
    return std::move(path_);
  }

 private:
  void Say(std::string message) { path_.messages.push_back(std::move(message)); }

  /// One level of rules, or one piece of a split, then those behind it. True: the rules, or what
  /// they match, have come to an end, and whoever is above gets the leaf.
  Result<bool> Process(Step* parent, int depth) {
    if (level_ == tree_.rules.end()) return true;
    Step* const previous = current_;
    current_ = &steps_.emplace_back();
    for (const auto& [order, rule] : level_->second) {
      Say("Processing rule: " + rule.Label());
      RETURN_IF_ERROR(Apply(rule));
      if (!current_->name.empty()) break;
    }
    if (current_->name.empty()) path_.matched_all = false;
    if (!splits_ || next_split_ >= splits_->size()) {
      splits_.reset();
      ++level_;
    }
    ++depth;
    ASSIGN_OR_RETURN(const bool ended, Process(current_, depth));
    const std::string at = "Depth [" + std::to_string(depth) + "] ";
    const bool empty = current_ == nullptr || current_->name.empty();
    if (ended && empty) {
      current_ = previous;
      return true;
    }
    if (ended && parent->name.empty()) {
      Say(at + "Parent branch was empty, rolling back");
      return true;
    }
    if (ended) {
      parent->leaf = current_->name;
      Say(at + "Adding leaf [name: " + current_->name + " tsuid: " + tsuid_ +
          "] to parent branch [" + Label(parent) + "]");
      current_ = previous;
      return false;
    }
    if ((previous == nullptr || previous->name.empty()) && !empty) {
      if (depth > 2) Say(at + "Skipping a non-matched branch, returning: " + Label(current_));
      return false;
    }
    if (empty) {
      Say(at + "Branch was empty");
      current_ = previous;
      return false;
    }
    if (current_->name == previous->name) {
      Say(at + "Current was the same as previous");
      return false;
    }
    parent->child = current_;
    Say(at + "Adding branch: " + Label(current_) + " to parent: " + Label(parent));
    current_ = previous;
    return false;
  }

  [[nodiscard]] std::string Label(const Step* step) const {
    if (step != &root_) return "Name: [" + step->name + "]";
    Bytes id;
    AppendBig(&id, static_cast<uint64_t>(tree_.id), 2);
    return "ID: [" + ToHexUpper(id) + "] Name: [ROOT]";
  }

  /// Names the current step, if the rule matches.
  Status Apply(const TreeRule& rule) {
    const std::optional<std::string> value = ValueFor(rule);
    if (value) RETURN_IF_ERROR(Take(rule, *value));
    if (value && rule.type != TreeRuleType::kMetric && rule.type != TreeRuleType::kTagk)
      Say("Matched " + CustomLabel(rule));
    return {};
  }

  Status Take(const TreeRule& rule, const std::string& value) {
    if (!rule.regex.empty()) {
      ASSIGN_OR_RETURN(const auto pattern, JavaPattern::Compile(rule.regex));
      if (!pattern->Search(value)) return {};
      const std::string group = pattern->Group(value, rule.regex_group).value_or("");
      if (rule.regex_group >= pattern->group_count()) {
        Say("Regex group index [" + std::to_string(rule.regex_group) + "] for rule " +
            rule.Label() + " was out of bounds [" + std::to_string(pattern->group_count()) + "]");
      } else if (group.empty()) {
        Say("Extracted value for rule " + rule.Label() + " was null or empty");
      } else {
        SetName(rule, value, group);
      }
      return {};
    }
    if (rule.separator.empty()) {
      SetName(rule, value, value);
      return {};
    }
    if (!splits_) {
      if (value.empty())
        return Status::Unsupported("An empty value cannot be split: " + rule.Label());
      ASSIGN_OR_RETURN(const auto pattern, JavaPattern::Compile(rule.separator));
      splits_ = pattern->Split(value);
      next_split_ = 0;
      if (splits_->empty()) {  // a value of separators alone: the rule matches nothing
        Say("Separator did not match, created an empty list on rule: " + rule.Label());
        return {};
      }
    }
    if (next_split_ >= splits_->size())
      return Status::Unsupported("Nothing is left of the split value: " + rule.Label());
    SetName(rule, value, (*splits_)[next_split_++]);
    return {};
  }

  static std::string CustomLabel(const TreeRule& rule) {
    return "custom tag [" + rule.custom_field + "] for rule: " + rule.Label();
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
    if (meta.custom)
      for (const auto& [key, value] : *meta.custom)
        if (key == rule.custom_field) return value;
    Say("No match on " + CustomLabel(rule));
    return {};
  }

  void SetName(const TreeRule& rule, const std::string& original, const std::string& value) {
    current_->name = DisplayName(rule, original, value);
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

  const Tree& tree_;
  const TsMeta& meta_;
  const std::string tsuid_;
  TreePath path_;
  std::deque<Step> steps_;
  Step root_{"ROOT", nullptr, {}};
  Step* current_ = nullptr;
  TreeRules::const_iterator level_;
  std::optional<std::vector<std::string>> splits_;  // of the level's value, while they are used up
  size_t next_split_ = 0;
};

}  // namespace

Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta) {
  return PathFinder(tree, meta).Run();
}

}  // namespace hg::uid
