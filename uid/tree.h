#pragma once
// The parts of a tree: its definition, its rules, and the branches and leaves that are made from
// series (opentsdb-schema.md §15; OpenTSDB package tree).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::uid {

enum class TreeRuleType : uint8_t {
  kNone,  // the request has no type
  kMetric,
  kMetricCustom,
  kTagk,
  kTagkCustom,
  kTagvCustom,
};

/// Returns the name of a rule type, such as "METRIC". Returns "null" for kNone.
std::string_view TreeRuleTypeName(TreeRuleType type);
/// Parses the name of a rule type in upper or lower case. Returns kNone if no type has this name.
TreeRuleType ParseTreeRuleType(std::string_view word);

/// One rule of a tree. `level` and `order` are its position among the rules. In a request, a field
/// with its default value means that the client did not give this field.
struct TreeRule {
  TreeRuleType type = TreeRuleType::kNone;
  std::string field, regex, separator, description, notes;
  int32_t level = 0, order = 0;
  int32_t tree_id = 0;
  std::string custom_field;
  int32_t regex_group = 0;
  std::string display_format;

  bool operator==(const TreeRule&) const = default;
  /// Returns a text with the tree, level, order and type of the rule, such as "[1:0:2:TAGK]".
  [[nodiscard]] std::string Label() const;
  /// Checks whether the rule is complete. Returns InvalidArgument if the type is missing, if a
  /// field that the type needs is missing, or if a regular expression is invalid.
  [[nodiscard]] Status Check() const;
};

/// The rules of a tree. The outer key is the level, and the inner key is the order within the
/// level.
using TreeRules = std::map<int32_t, std::map<int32_t, TreeRule>>;

inline constexpr int32_t kTreeIdMax = 65535;

struct Tree {
  int32_t id = 0;  // 1 … kTreeIdMax; the row key, not part of the stored object
  std::string name, description, notes;
  bool strict_match = false;
  int64_t created = 0;  // seconds since the epoch; 0 = unknown
  bool enabled = false;
  bool store_failures = false;
  TreeRules rules;  // stored in separate cells
};

/// A leaf of a tree, which is the series at the end of a path.
struct TreeLeaf {
  std::string display_name;
  Bytes tsuid;
};

/// A branch of a tree. `path` has the display names from "ROOT" to this branch. The last name in
/// `path` is the name of the branch.
struct TreeBranch {
  std::vector<std::string> path;
  std::vector<TreeLeaf> leaves;
  std::vector<TreeBranch> branches;  // the branches that are directly below this branch
  bool branches_known = false;  // whether responses print `branches` as a list even if it is empty
};

/// Returns the row key of a branch. `path` has the display names from "ROOT" to the branch. The key
/// consists of the tree id and a hash of each name after "ROOT".
Bytes TreeBranchKey(int32_t tree, const std::vector<std::string>& path);

// The following functions convert objects to and from the stored JSON, which has a fixed order of
// fields. Decoding functions return Corruption if the stored object is invalid. They do not change
// fields that the stored object does not have.
std::string EncodeTree(const Tree& tree);
Status DecodeTree(ByteView json, Tree* tree);
std::string EncodeTreeRule(const TreeRule& rule);
Status DecodeTreeRule(ByteView json, TreeRule* rule);
std::string EncodeTreeBranch(const std::vector<std::string>& path);
Status DecodeTreeBranch(ByteView json, std::vector<std::string>* path);
std::string EncodeTreeLeaf(const TreeLeaf& leaf);
Status DecodeTreeLeaf(ByteView json, TreeLeaf* leaf);

}  // namespace hg::uid
