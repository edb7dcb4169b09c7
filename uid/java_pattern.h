#pragma once
// Regular expressions of filters and tree rules: Java's dialect (uid/java_dialect.h) at work.
// Matching is bounded, so that no pattern of a client can hold a thread.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::uid {

/// Immutable and thread-safe.
class JavaPattern {
 public:
  /// `pattern` is UTF-8. InvalidArgument: what is wrong and where.
  static Result<std::shared_ptr<const JavaPattern>> Compile(std::string_view pattern);
  ~JavaPattern();
  JavaPattern(const JavaPattern&) = delete;
  JavaPattern& operator=(const JavaPattern&) = delete;

  // A match that takes too many steps, or too much memory, counts as none. Texts are UTF-8.

  /// True if the pattern is found anywhere in `text`.
  [[nodiscard]] bool Search(std::string_view text) const;
  /// The group (0 = the first in parentheses) of the first match in `text`; none: no match, or no
  /// such group.
  [[nodiscard]] std::optional<std::string> Group(std::string_view text, int group) const;
  /// Groups in parentheses that the pattern has.
  [[nodiscard]] int group_count() const;
  /// The pieces of `text` between matches, empty ones at the end dropped; the whole text if there
  /// is no match.
  [[nodiscard]] std::vector<std::string> Split(std::string_view text) const;

 private:
  struct Impl;
  explicit JavaPattern(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::uid
