#pragma once
// Regular expressions of label matchers and of label_replace. They have the syntax of RE2, as in
// Prometheus, and a match must cover the whole text. RE2 does not backtrack, and Matches limits the
// work of a match.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace re2 {
class RE2;
class StringPiece;
}  // namespace re2

namespace hg::query::promql {

/// The memory limit of one compiled pattern, in bytes. The memory includes the states that RE2
/// caches during matches.
inline constexpr int64_t kPatternMemoryMax = 1024 * 1024;

/// The maximum size of a pattern in bytes. Each copy that a repetition such as a{1000} makes counts
/// as one byte. A character class such as \pL counts as 96 bytes.
inline constexpr size_t kPatternNodesMax = 64 * 1024;

/// The maximum number of alternatives that are compared as literal texts. RE2 compiles patterns
/// with more alternatives and limits the memory of the compiled pattern.
inline constexpr size_t kLiteralChoicesMax = 4096;

/// If a pattern only lists literal texts ("a|b", "(a|b)", "10\\.0\\.0\\.1"), returns these texts,
/// sorted and without repeats. For other patterns, and for patterns with more than
/// kLiteralChoicesMax texts, returns an empty vector.
std::vector<std::string> LiteralChoices(std::string_view pattern);

/// A compiled pattern. It is immutable and thread-safe. All texts are UTF-8.
class AnchoredPattern {
 public:
  /// Compiles a pattern. The memory of the pattern stays charged to `context` until the request
  /// ends. InvalidArgument: the pattern is invalid or too large. Busy: `context` may not wait, and
  /// compiling takes long. Also fails if `context` reports an error.
  static Result<std::shared_ptr<const AnchoredPattern>> Compile(
      std::string_view pattern, RequestContext& context = RequestContext::Unlimited());
  ~AnchoredPattern();
  AnchoredPattern(const AnchoredPattern&) = delete;
  AnchoredPattern& operator=(const AnchoredPattern&) = delete;

  /// Returns whether the pattern matches the whole text. Charges the work to `context`.
  /// LimitExceeded: the text is too long for a pattern of this size, so the match could take more
  /// than about ten milliseconds. Also fails if `context` reports an error.
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
  /// Matches the whole text, and replaces $1, ${1}, $name and ${name} in `form` by the groups of
  /// the match, and $$ by a dollar sign. A reference to a group that does not exist is replaced by
  /// an empty text. Returns nullopt if the text does not match. InvalidArgument: the result would
  /// be longer than `bytes_max`; the function never uses more memory than `bytes_max` for the
  /// result. Also returns the errors of Matches.
  Result<std::optional<std::string>> Expand(std::string_view text, std::string_view form,
                                            size_t bytes_max, RequestContext& context) const;

 private:
  explicit AnchoredPattern(std::unique_ptr<re2::RE2> pattern);
  /// Matches the whole text against the pattern and sets `groups` to the first `count` groups of
  /// the match.
  Result<bool> Match(std::string_view text, re2::StringPiece* groups, size_t count,
                     RequestContext& context) const;

  std::unique_ptr<re2::RE2> pattern_;
};

}  // namespace hg::query::promql
