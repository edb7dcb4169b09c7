#include "uid/tree_path.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "uid/java_pattern.h"

namespace hg::uid {
namespace {

// The cost of a rule in addition to one step per byte of the value.
constexpr uint64_t kStepsPerRule = 256;

// Returns false if the text would become longer than kTreeTextBytesMax.
bool ReplaceAll(std::string_view token, std::string_view by, std::string* text) {
  std::string replaced;
  size_t from = 0;
  for (;;) {
    const size_t at = text->find(token, from);
    replaced.append(*text, from, at == std::string::npos ? at : at - from);
    if (at == std::string::npos) break;
    replaced.append(by);
    if (replaced.size() > kTreeTextBytesMax) return false;
    from = at + token.size();
  }
  *text = std::move(replaced);
  return text->size() <= kTreeTextBytesMax;
}

/// A branch that does not exist yet, in the form that OpenTSDB's TreeBuilder uses before it stores
/// the branch.
struct Step {
  std::string name;  // "" = no rule of the level matched
  Step* child = nullptr;
  std::optional<std::string> leaf;
};

// Finds the path of one series. The messages and the order of the work follow
// TreeBuilder.processRuleset.
class PathFinder {
 public:
  PathFinder(const Tree& tree, const TsMeta& meta, bool with_messages, RequestContext& context)
      : tree_(tree),
        meta_(meta),
        with_messages_(with_messages),
        context_(context),
        tsuid_(ToHexUpper(meta.tsuid)),
        level_(tree.rules.begin()) {}

  Result<TreePath> Run() {
    RETURN_IF_ERROR(Descend());
    bool ended = true;  // no more rules or matched branches follow
    for (size_t i = turns_.size(); i > 0; --i) ended = Join(turns_[i - 1], i + 1, ended);
    RETURN_IF_ERROR(Charge());
    if (tree_.strict_match && !path_.matched_all)
      Say("TSUID failed to match one or more rule levels, will not add: ", tsuid_);
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
  /// One step of the work: one level of rules, or one piece of a split value.
  struct Turn {
    Step* parent;    // the step of the previous turn
    Step* previous;  // the current step of the previous turn
  };

  template <typename... Parts>
  void Say(const Parts&... parts) {
    if (!with_messages_) return;
    std::string& message = path_.messages.emplace_back();
    (message.append(parts), ...);
    message_bytes_ += sizeof message + message.size();
  }

  /// Charges the messages since the last call, and reports the custom fields that were compared.
  Status Charge() {
    const size_t bytes = message_bytes_ - charged_bytes_;
    charged_bytes_ = message_bytes_;
    constexpr uint64_t kStepsPerField = 8;
    RETURN_IF_ERROR(context_.Step(bytes + custom_fields_ * kStepsPerField));
    custom_fields_ = 0;
    return context_.Charge(static_cast<int64_t>(bytes));
  }

  /// Applies the rules from the first level to the last.
  Status Descend() {
    Step* parent = &root_;
    size_t name_bytes = 0;
    while (level_ != tree_.rules.end()) {
      if (turns_.size() >= kTreeDepthMax) {
        return Status::LimitExceeded("Tree " + std::to_string(tree_.id) + " puts TSUID " + tsuid_ +
                                     " deeper than " + std::to_string(kTreeDepthMax) +
                                     " levels: use fewer levels of rules or split fewer values");
      }
      turns_.push_back({parent, current_});
      current_ = &steps_.emplace_back();
      for (const auto& [order, rule] : level_->second) {
        RETURN_IF_ERROR(context_.Step(kStepsPerRule));
        Say("Processing rule: ", Label(rule));
        RETURN_IF_ERROR(Apply(rule));
        RETURN_IF_ERROR(Charge());
        if (!current_->name.empty()) break;
      }
      if (current_->name.empty()) path_.matched_all = false;
      name_bytes += current_->name.size();
      if (name_bytes > kTreeTextBytesMax) return TooLong("names", name_bytes);
      if (!splits_ || next_split_ >= splits_->size()) {
        splits_.reset();
        ++level_;
      }
      parent = current_;
    }
    return {};
  }

  [[nodiscard]] Status TooLong(const std::string& what, size_t bytes) const {
    return Status::LimitExceeded("Tree " + std::to_string(tree_.id) + ": " + what + " of TSUID " +
                                 tsuid_ + " have " + std::to_string(bytes) + " bytes, at most " +
                                 std::to_string(kTreeTextBytesMax) + " are sorted into trees");
  }

  /// Makes the step of a turn a branch or the leaf. Must be called for the last turn first. Returns
  /// true if the previous turn gets the leaf.
  bool Join(const Turn& turn, size_t depth, bool ended) {
    Step* const parent = turn.parent;
    Step* const previous = turn.previous;
    const std::string at = "Depth [" + std::to_string(depth) + "] ";
    const bool empty = current_ == nullptr || current_->name.empty();
    if (ended && empty) {
      current_ = previous;
      return true;
    }
    if (ended && parent->name.empty()) {
      Say(at, "Parent branch was empty, rolling back");
      return true;
    }
    if (ended) {
      parent->leaf = current_->name;
      Say(at, "Adding leaf [name: ", current_->name, " tsuid: ", tsuid_, "] to parent branch [",
          Label(parent), "]");
      current_ = previous;
      return false;
    }
    if ((previous == nullptr || previous->name.empty()) && !empty) {
      if (depth > 2) Say(at, "Skipping a non-matched branch, returning: ", Label(current_));
      return false;
    }
    if (empty) {
      Say(at, "Branch was empty");
      current_ = previous;
      return false;
    }
    if (current_->name == previous->name) {
      Say(at, "Current was the same as previous");
      return false;
    }
    parent->child = current_;
    Say(at, "Adding branch: ", Label(current_), " to parent: ", Label(parent));
    current_ = previous;
    return false;
  }

  [[nodiscard]] std::string Label(const Step* step) const {
    if (!with_messages_) return {};
    if (step != &root_) return "Name: [" + step->name + "]";
    Bytes id;
    AppendBig(&id, static_cast<uint64_t>(tree_.id), 2);
    return "ID: [" + ToHexUpper(id) + "] Name: [ROOT]";
  }

  [[nodiscard]] std::string Label(const TreeRule& rule) const {
    return with_messages_ ? rule.Label() : std::string();
  }

  /// Sets the name of the current step if the rule matches.
  Status Apply(const TreeRule& rule) {
    const std::string* const value = ValueFor(rule);
    if (value != nullptr && value->size() > kTreeTextBytesMax)
      return TooLong("values", value->size());
    if (value != nullptr) RETURN_IF_ERROR(context_.Step(value->size()));
    if (value != nullptr) RETURN_IF_ERROR(Take(rule, *value));
    if (value && rule.type != TreeRuleType::kMetric && rule.type != TreeRuleType::kTagk)
      Say("Matched ", CustomLabel(rule));
    return {};
  }

  Status Take(const TreeRule& rule, const std::string& value) {
    if (!rule.regex.empty()) {
      ASSIGN_OR_RETURN(const auto pattern, JavaPattern::Compile(rule.regex, context_));
      const Result<bool> found = pattern->Search(value, context_);
      // A match that takes too much work counts as no match, unless the context has ended.
      if (found.status().code() == StatusCode::kLimitExceeded) return context_.Check();
      RETURN_IF_ERROR(found.status());
      if (!*found) return {};
      const std::string group = pattern->Group(value, rule.regex_group).value_or("");
      if (rule.regex_group >= pattern->group_count()) {
        Say("Regex group index [", std::to_string(rule.regex_group), "] for rule ", Label(rule),
            " was out of bounds [", std::to_string(pattern->group_count()), "]");
      } else if (group.empty()) {
        Say("Extracted value for rule ", Label(rule), " was null or empty");
      } else {
        return SetName(rule, value, group);
      }
      return {};
    }
    if (rule.separator.empty()) return SetName(rule, value, value);
    if (!splits_) {
      if (value.empty())
        return Status::Unsupported("An empty value cannot be split: " + rule.Label());
      ASSIGN_OR_RETURN(const auto pattern, JavaPattern::Compile(rule.separator, context_));
      ASSIGN_OR_RETURN(splits_, pattern->Split(value, context_));
      next_split_ = 0;
      if (splits_->empty()) {  // the value has only separators: the rule does not match
        Say("Separator did not match, created an empty list on rule: ", Label(rule));
        return {};
      }
    }
    if (next_split_ >= splits_->size())
      return Status::Unsupported(
          "The split value has fewer parts than there are split rules; no part for rule: " +
          rule.Label());
    return SetName(rule, value, (*splits_)[next_split_++]);
  }

  [[nodiscard]] std::string CustomLabel(const TreeRule& rule) const {
    if (!with_messages_) return {};
    return "custom tag [" + rule.custom_field + "] for rule: " + rule.Label();
  }

  /// Returns the value that the rule refers to, or nullptr if the series has no such value.
  const std::string* ValueFor(const TreeRule& rule) {
    const bool by_key = rule.type == TreeRuleType::kTagk || rule.type == TreeRuleType::kTagkCustom;
    switch (rule.type) {
      case TreeRuleType::kMetric:
        return &meta_.metric.name;
      case TreeRuleType::kMetricCustom:
        return Custom(rule, meta_.metric);
      default:
        break;
    }
    std::string what;
    if (with_messages_)
      what =
          std::string(by_key ? "tagk" : "tagv") + " [" + rule.field + "] for rule: " + rule.Label();
    for (size_t i = 0; i + 1 < meta_.tags.size(); i += 2) {
      const UidMeta& tag = meta_.tags[by_key ? i : i + 1];
      if (tag.name != rule.field) continue;
      Say("Matched ", what);
      if (rule.type == TreeRuleType::kTagk) return &meta_.tags[i + 1].name;
      return Custom(rule, tag);
    }
    Say("No match on ", what);
    return nullptr;
  }

  const std::string* Custom(const TreeRule& rule, const UidMeta& meta) {
    if (meta.custom) {
      custom_fields_ += meta.custom->size();
      for (const auto& [key, value] : *meta.custom)
        if (key == rule.custom_field) return &value;
    }
    Say("No match on ", CustomLabel(rule));
    return nullptr;
  }

  Status SetName(const TreeRule& rule, const std::string& original, const std::string& value) {
    if (rule.display_format.empty()) {
      current_->name = value;
      return {};
    }
    std::string name = rule.display_format;
    bool fits = ReplaceAll("{ovalue}", original, &name) && ReplaceAll("{value}", value, &name) &&
                ReplaceAll("{tsuid}", tsuid_, &name);
    fits = fits && ReplaceAll("{tag_name}", TagName(rule, name), &name);
    if (!fits) return TooLong("display names", kTreeTextBytesMax + 1);
    RETURN_IF_ERROR(context_.Step(4 * name.size()));
    current_->name = std::move(name);
    return {};
  }

  /// Returns the replacement for {tag_name}.
  std::string TagName(const TreeRule& rule, const std::string& name) {
    if (name.find("{tag_name}") == std::string::npos) return {};
    std::string tag_name;
    if (rule.type == TreeRuleType::kTagk) {
      tag_name = rule.field;
    } else if (rule.type != TreeRuleType::kMetric) {
      tag_name = rule.custom_field;
    } else {
      Say("Display rule ", Label(rule), " was of the wrong type to match on {tag_name}");
    }
    return tag_name;
  }

  const Tree& tree_;
  const TsMeta& meta_;
  const bool with_messages_;
  RequestContext& context_;
  const std::string tsuid_;
  TreePath path_;
  size_t message_bytes_ = 0, charged_bytes_ = 0;
  uint64_t custom_fields_ = 0;  // number of custom fields that were compared and not reported yet
  std::vector<Turn> turns_;
  std::deque<Step> steps_;
  Step root_{"ROOT", nullptr, {}};
  Step* current_ = nullptr;
  TreeRules::const_iterator level_;
  std::optional<std::vector<std::string>> splits_;  // remaining pieces of the level's value
  size_t next_split_ = 0;
};

}  // namespace

Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta, bool with_messages,
                              RequestContext& context) {
  return PathFinder(tree, meta, with_messages, context).Run();
}

}  // namespace hg::uid
