#pragma once
// Regular expressions of tree rules: a group taken out of a text, or a text cut at each match (spec
// schema.md §15). Matching is bounded, so that no rule can hold a writer.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::uid {

/// Immutable and thread-safe.
class TreePattern {
 public:
  /// `pattern` is UTF-8. InvalidArgument: what is wrong and where.
  static Result<std::shared_ptr<const TreePattern>> Compile(std::string_view pattern);
  ~TreePattern();
  TreePattern(const TreePattern&) = delete;
  TreePattern& operator=(const TreePattern&) = delete;

  /// The group (0 = the first in parentheses) of the first match in `text`; none: no match, no such
  /// group, or too many steps.
  [[nodiscard]] std::optional<std::string> Group(std::string_view text, int group) const;
  /// The pieces of `text` between matches, empty ones at the end dropped; the whole text if there
  /// is no match.
  [[nodiscard]] std::vector<std::string> Split(std::string_view text) const;

 private:
  struct Impl;
  explicit TreePattern(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::uid
