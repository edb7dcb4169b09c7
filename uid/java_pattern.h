#pragma once
// Regular expressions of filters and tree rules, in the syntax of Java (uid/java_dialect.h). The
// work of each match is limited, even for hostile patterns and texts.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/watched_regex.h"

namespace hg::uid {

/// A compiled regular expression. Immutable and thread-safe.
class JavaPattern {
 public:
  /// Compiles a pattern, which is UTF-8. The memory of the pattern stays charged to `context` until
  /// the request ends. Returns InvalidArgument if the pattern is invalid or too long; the message
  /// describes the error and its place. Also returns the errors of `context`.
  static Result<std::shared_ptr<const JavaPattern>> Compile(
      std::string_view pattern, RequestContext& context = RequestContext::Unlimited());

  // All texts of the following functions are UTF-8.

  /// Returns whether the pattern is found anywhere in `text`. Charges its work to `context`, even
  /// during the match, and returns the errors of `context`. Returns LimitExceeded if the match
  /// needs more work than one match may take (about ten milliseconds); the message contains the
  /// pattern.
  Result<bool> Search(std::string_view text, RequestContext& context) const;

  // The next two functions have no context. If a match takes more work than one match may take,
  // they return the same as for a text without a match.

  /// Returns whether the pattern is found anywhere in `text`.
  [[nodiscard]] bool Search(std::string_view text) const;
  /// Returns a group of the first match in `text`; `group` is 0 for the first group in parentheses.
  /// Returns nullopt if there is no match, or if the pattern has no such group.
  [[nodiscard]] std::optional<std::string> Group(std::string_view text, int group) const;
  /// Returns the number of groups in parentheses in the pattern.
  [[nodiscard]] int group_count() const;
  /// Returns the pieces of `text` between the matches of the pattern. Empty pieces at the end are
  /// left out. If there is no match, the result is the whole text. All matches of one call together
  /// may take only as much work as one match of Search. If this limit is reached, the text after
  /// the last match that was found becomes one piece. Charges its work to `context` and returns the
  /// errors of `context`.
  [[nodiscard]] Result<std::vector<std::string>> Split(std::string_view text,
                                                       RequestContext& context) const;

 private:
  explicit JavaPattern(std::unique_ptr<const WatchedRegex> regex) : regex_(std::move(regex)) {}
  const std::unique_ptr<const WatchedRegex> regex_;
};

}  // namespace hg::uid
