#pragma once
// Regular expressions of label matchers and of label_replace. They have the syntax of RE2, as in
// Prometheus, and a match must cover the whole text. RE2 does not backtrack, and AnchoredPattern
// limits the work of each match.

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

/// The memory limit of one compiled pattern, in bytes. The states that RE2 caches during matches
/// count as well.
inline constexpr int64_t kPatternMemoryMax = 1024 * 1024;

/// The maximum size of a pattern in bytes. If a repetition such as a{1000} makes copies, each copy
/// counts as one additional byte. A character class such as \pL counts as 96 additional bytes.
inline constexpr size_t kPatternNodesMax = 64 * 1024;

/// The maximum number of alternatives in a pattern that are compared as literal texts. A pattern
/// with more alternatives is compiled by RE2, which limits the memory of the compiled pattern.
inline constexpr size_t kLiteralChoicesMax = 4096;

/// If a pattern only lists literal texts ("a|b", "(a|b)", "10\\.0\\.0\\.1"), returns these texts,
/// sorted and without repeats. For other patterns, and for patterns with more than
/// kLiteralChoicesMax texts, returns an empty vector.
std::vector<std::string> LiteralChoices(std::string_view pattern);

/// A compiled pattern. It is immutable and thread-safe. All texts are UTF-8.
class AnchoredPattern {
 public:
  /// Compiles a pattern. The memory of the pattern stays charged to `context` until the request
  /// ends. InvalidArgument: the pattern is invalid or too large. Busy: this thread is an event loop
  /// (RequestContext::MayWait); compiling takes too long for an event loop. Also returns the errors
  /// of `context`.
  static Result<std::shared_ptr<const AnchoredPattern>> Compile(
      std::string_view pattern, RequestContext& context = RequestContext::Unlimited());
  ~AnchoredPattern();
  AnchoredPattern(const AnchoredPattern&) = delete;
  AnchoredPattern& operator=(const AnchoredPattern&) = delete;

  /// Returns whether the pattern matches the whole text. Charges the work to `context`.
  /// LimitExceeded: the text is too long for a pattern of this size, so the match could take more
  /// than about ten milliseconds. Also returns the errors of `context`.
  Result<bool> Matches(std::string_view text, RequestContext& context) const;
  /// Matches the pattern against the whole text. If it matches, returns `form` with these
  /// replacements: the groups of the match replace $1, ${1}, $name and ${name}, and a dollar sign
  /// replaces $$. A reference to a group that does not exist is replaced by an empty text. Returns
  /// nullopt if the text does not match. InvalidArgument: the result would be longer than
  /// `bytes_max` bytes; the function never allocates more than `bytes_max` bytes for the result.
  /// Also returns the errors of Matches.
  Result<std::optional<std::string>> Expand(std::string_view text, std::string_view form,
                                            size_t bytes_max, RequestContext& context) const;

 private:
  explicit AnchoredPattern(std::unique_ptr<re2::RE2> pattern);
  /// Returns whether the pattern matches the whole text. If it matches, sets the first `count`
  /// elements of `groups` to the groups of the match; group 0 is the whole text.
  Result<bool> Match(std::string_view text, re2::StringPiece* groups, size_t count,
                     RequestContext& context) const;

  std::unique_ptr<re2::RE2> pattern_;
};

}  // namespace hg::query::promql
