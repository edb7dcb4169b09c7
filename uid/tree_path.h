#pragma once
// Computes the path at which the rules of a tree place a series (opentsdb-schema.md §15).

#include <string>
#include <vector>

#include "storage/base/request_context.h"
#include "uid/metadata.h"
#include "uid/tree.h"

namespace hg::uid {

// OpenTSDB does not have the following limits: it recurses for each piece of a split value until
// its stack overflows.

/// The maximum number of levels in the path of one series. Each level of rules and each piece of a
/// split value counts as one level. The limit is needed because each branch stores the names of all
/// branches above it, so the stored data grows with the square of the depth.
inline constexpr size_t kTreeDepthMax = 256;
/// The maximum length of a value that a rule processes, in bytes. It is also the maximum length of
/// all names in a path together, in bytes.
inline constexpr size_t kTreeTextBytesMax = 64 << 10;

struct TreePath {
  /// The display names of the branches below the root, and of the leaf, which is last. If the list
  /// is empty, no rule has matched.
  std::vector<std::string> names;
  /// Whether at least one rule matched at each level.
  bool matched_all = true;
  /// The messages that the response of /api/tree/test contains.
  std::vector<std::string> messages;
};

/// Returns the path of the series `meta` in `tree`. If `with_messages` is true, TreePath::messages
/// describe how the rules were applied. Work is charged to `context`, and the memory of messages
/// stays charged to `context`. Returns InvalidArgument if the regular expression of a stored rule
/// is invalid. Returns LimitExceeded if the path would be too deep or too long. Also returns the
/// errors of `context`.
Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta, bool with_messages,
                              RequestContext& context);

}  // namespace hg::uid
