#pragma once
// Regular expressions in the dialect of PCRE2. The work of a match is limited, whatever the pattern
// and the text are.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg {

/// A compiled regular expression. Immutable and thread-safe.
class WatchedRegex {
 public:
  /// The longest pattern that filters accept, in bytes.
  static constexpr size_t kPatternBytesMax = 64 << 10;

  /// Options for Compile. Several options may be combined with `|`.
  enum Option : uint32_t {
    kUtf8 = 1,            // the pattern and the texts are UTF-8, not bytes
    kUnicodeClasses = 2,  // \w, \d and so on follow Unicode
    kWholeText = 4,       // a match must comprise the whole text
  };

  /// Compiles a pattern. `shown` is the pattern for error messages. Returns InvalidArgument with
  /// the message of PCRE2 if the pattern is invalid.
  static Result<std::unique_ptr<const WatchedRegex>> Compile(std::string pattern, uint32_t options,
                                                             std::string shown);
  ~WatchedRegex();
  WatchedRegex(const WatchedRegex&) = delete;
  WatchedRegex& operator=(const WatchedRegex&) = delete;

  /// Returns whether the pattern is found in `text`. Reports its work to `context`, even during the
  /// match, and returns the errors that `context` reports. Returns LimitExceeded if the match needs
  /// more work than one match may take (about ten milliseconds); the message contains the pattern.
  Result<bool> Search(std::string_view text, RequestContext& context) const;

  /// A part of a text, given by its start and end positions.
  struct Span {
    size_t begin, end;
  };
  /// The groups of a match. Element 0 is the whole match. An empty list means that there is no
  /// match.
  using Groups = std::vector<std::optional<Span>>;

  /// Finds matches in one text. All matches together share the work limit of one match. Not
  /// thread-safe. The regular expression, the text and the context must outlive the object.
  class Finder {
   public:
    /// `calls_max` is the maximum number of calls of Next for this Finder.
    Finder(const WatchedRegex& regex, std::string_view text, size_t calls_max,
           RequestContext& context);
    ~Finder();
    Finder(const Finder&) = delete;
    Finder& operator=(const Finder&) = delete;
    /// Returns the first match at or after the position `from`. Returns the same errors as
    /// WatchedRegex::Search.
    Result<Groups> Next(size_t from);

   private:
    struct State;
    const std::unique_ptr<State> state_;
  };

  /// Returns the number of groups in parentheses in the pattern.
  [[nodiscard]] size_t group_count() const;
  /// Returns the memory of the compiled pattern in bytes. A match may compile the pattern in two
  /// more ways. This additional memory is charged to the context of the match.
  [[nodiscard]] size_t bytes() const;

 private:
  struct Impl;
  explicit WatchedRegex(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hg
