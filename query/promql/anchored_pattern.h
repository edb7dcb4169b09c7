#pragma once
// Regular expressions of matchers and label_replace: RE2's dialect, which is that of Prometheus,
// anchored at both ends. Matching takes time in proportion to the text, whatever the pattern is.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace re2 {
class RE2;
}

namespace hg::query::promql {

/// Memory of one compiled pattern, states that matching remembers included. Patterns are compiled
/// while an expression is read, before anything is charged to a query.
inline constexpr int64_t kPatternMemoryMax = 1024 * 1024;

/// Patterns that list more texts are left to RE2, which bounds what it holds.
inline constexpr size_t kLiteralChoicesMax = 4096;

/// The texts that a pattern matches, sorted, each once, where it says nothing but which these are:
/// "a|b", "(a|b)", "10\\.0\\.0\\.1". Empty: it is another pattern, or none, or lists too many.
std::vector<std::string> LiteralChoices(std::string_view pattern);

/// Immutable and thread-safe. Texts are UTF-8.
class AnchoredPattern {
 public:
  /// InvalidArgument: what is wrong, such as that it would be too large. It takes its time: not on
  /// a loop (storage/base/no_wait.h).
  static Result<std::shared_ptr<const AnchoredPattern>> Compile(std::string_view pattern);
  ~AnchoredPattern();
  AnchoredPattern(const AnchoredPattern&) = delete;
  AnchoredPattern& operator=(const AnchoredPattern&) = delete;

  /// True if the pattern matches the whole text.
  [[nodiscard]] bool Matches(std::string_view text) const;
  /// `form` with the groups of the match in it: $1, ${1}, $name, ${name}; $$ is a dollar, a group
  /// that there is not is nothing. None: the text does not match. InvalidArgument: the outcome
  /// would be longer than `bytes_max`; no more than that is ever held.
  [[nodiscard]] Result<std::optional<std::string>> Expand(std::string_view text,
                                                          std::string_view form,
                                                          size_t bytes_max) const;

 private:
  explicit AnchoredPattern(std::unique_ptr<re2::RE2> pattern);
  std::unique_ptr<re2::RE2> pattern_;
};

}  // namespace hg::query::promql
