#pragma once
// Regular expressions of label matchers and label_replace. They have RE2's syntax, as in
// Prometheus, and must match the whole text. RE2 does not backtrack; Matches limits its work.

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

/// The memory limit of a compiled pattern, including the states that RE2 caches during matches.
inline constexpr int64_t kPatternMemoryMax = 1024 * 1024;

/// Maximum size of a pattern in bytes. Each copy that a counted repetition such as {1000} makes
/// counts as a byte, and each class such as \pL as 96 bytes.
inline constexpr size_t kPatternNodesMax = 64 * 1024;

/// Maximum number of alternatives that are compared as literal texts. A pattern with more
/// alternatives is compiled with RE2, which limits its memory.
inline constexpr size_t kLiteralChoicesMax = 4096;

/// If a pattern only lists literal texts ("a|b", "(a|b)", "10\\.0\\.0\\.1"), returns these texts,
/// sorted and without repeats. Returns an empty vector for other patterns, and for lists of more
/// than kLiteralChoicesMax texts.
std::vector<std::string> LiteralChoices(std::string_view pattern);

/// Immutable and thread-safe. Texts are UTF-8.
class AnchoredPattern {
 public:
  /// Compiles a pattern. InvalidArgument: the pattern is invalid or too large. Compiling takes
  /// long, so it fails with Busy if `context` may not wait. The pattern is charged to `context`
  /// until the request ends. Also fails with errors of `context`.
  static Result<std::shared_ptr<const AnchoredPattern>> Compile(
      std::string_view pattern, RequestContext& context = RequestContext::Unlimited());
  ~AnchoredPattern();
  AnchoredPattern(const AnchoredPattern&) = delete;
  AnchoredPattern& operator=(const AnchoredPattern&) = delete;

  /// Returns whether the pattern matches the whole text. Reports the work to `context`.
  /// LimitExceeded: the text is too long for a pattern of this size, so the match could take more
  /// than about ten milliseconds. Also fails with errors of `context`.
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
  /// Replaces $1, ${1}, $name and ${name} in `form` by the groups of the match, and $$ by a dollar.
  /// A group that does not exist becomes empty text. Returns nullopt if the text does not match.
  /// InvalidArgument: the result would be longer than `bytes_max`; it never takes more memory than
  /// that. Also fails like Matches.
  Result<std::optional<std::string>> Expand(std::string_view text, std::string_view form,
                                            size_t bytes_max, RequestContext& context) const;

 private:
  explicit AnchoredPattern(std::unique_ptr<re2::RE2> pattern);
  /// Matches the whole text and sets `groups` to the first `count` groups of the match.
  Result<bool> Match(std::string_view text, re2::StringPiece* groups, size_t count,
                     RequestContext& context) const;

  std::unique_ptr<re2::RE2> pattern_;
};

}  // namespace hg::query::promql
