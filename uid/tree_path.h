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

/// The maximum number of levels for one series. Levels of rules and pieces of split values count.
/// Each branch stores the names of all branches above it, so the stored data grows with the square
/// of the depth.
inline constexpr size_t kTreeDepthMax = 256;
/// The maximum number of bytes of a value that a rule processes. Also the maximum number of bytes
/// of all names in a path together.
inline constexpr size_t kTreeTextBytesMax = 64 << 10;

struct TreePath {
  /// The display names of the branches below the root. The last name is the name of the leaf. If
  /// the list is empty, no rule has matched.
  std::vector<std::string> names;
  /// Whether a rule matched at each level.
  bool matched_all = true;
  /// The messages for the response of /api/tree/test.
  std::vector<std::string> messages;
};

/// Returns the path of a series. If `with_messages` is true, TreePath::messages describe how the
/// rules were applied. Work is reported to `context`, and the memory of messages stays charged to
/// `context`. Returns InvalidArgument if the pattern of a stored rule is invalid. Returns
/// LimitExceeded if the path would be too deep or too long. Also returns the errors that `context`
/// reports.
Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta, bool with_messages,
                              RequestContext& context);

}  // namespace hg::uid
