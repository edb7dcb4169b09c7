#pragma once
// Where the rules of a tree put a series (spec schema.md §15). Pure.

#include <string>
#include <vector>

#include "uid/metadata.h"
#include "uid/tree.h"

namespace hg::uid {

struct TreePath {
  /// Display names below the root; the last one is the leaf's. Empty: no rule matched.
  std::vector<std::string> names;
  /// Each level had a matching rule.
  bool matched_all = true;
  /// What /api/tree/test tells.
  std::vector<std::string> messages;
};

/// InvalidArgument: a stored rule's pattern is wrong.
Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta);

}  // namespace hg::uid
