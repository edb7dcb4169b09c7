#pragma once
// Computes the path at which the rules of a tree place a series (opentsdb-schema.md §15).

#include <string>
#include <vector>

#include "storage/base/request_context.h"
#include "uid/metadata.h"
#include "uid/tree.h"

namespace hg::uid {

// The following limits do not exist in OpenTSDB, which recurses for each piece of a split value
// until its stack overflows.

/// The maximum number of levels for one series: levels of rules, and pieces of split values. Each
/// branch stores the names of all branches above it, so the stored data grows with the square of
/// the depth.
inline constexpr size_t kTreeDepthMax = 256;
/// The maximum bytes of a value that a rule processes, and of all names in a path together.
inline constexpr size_t kTreeTextBytesMax = 64 << 10;

struct TreePath {
  /// The display names of the branches below the root. The last one is the name of the leaf. If the
  /// list is empty, no rule matched.
  std::vector<std::string> names;
  /// Whether a rule matched at each level.
  bool matched_all = true;
  /// The messages for the response of /api/tree/test.
  std::vector<std::string> messages;
};

/// Returns the path of a series. With `with_messages`, TreePath::messages describe how the rules
/// were applied. Work is reported to `context`, and messages stay charged to `context`.
/// InvalidArgument: the pattern of a stored rule is invalid. LimitExceeded: the path would be too
/// deep or too long. Also fails with errors of `context`.
Result<TreePath> FindTreePath(const Tree& tree, const TsMeta& meta, bool with_messages,
                              RequestContext& context);

}  // namespace hg::uid
