#pragma once
// Regular expressions in the dialect of PCRE2. The work of one match is limited for every pattern
// and text.

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

/// Immutable and thread-safe.
class WatchedRegex {
 public:
  /// The longest pattern that filters accept, in bytes.
  static constexpr size_t kPatternBytesMax = 64 << 10;

  /// Options for Compile. They may be combined with `|`.
  enum Option : uint32_t {
    kUtf8 = 1,            // pattern and texts are UTF-8, not bytes
    kUnicodeClasses = 2,  // \w, \d and so on follow Unicode
    kWholeText = 4,       // a match must begin and end where the text begins and ends
  };

  /// Compiles a pattern. `shown` is the pattern for error messages. InvalidArgument: the pattern is
  /// invalid; the message is that of PCRE2.
  static Result<std::unique_ptr<const WatchedRegex>> Compile(std::string pattern, uint32_t options,
                                                             std::string shown);
  ~WatchedRegex();
  WatchedRegex(const WatchedRegex&) = delete;
  WatchedRegex& operator=(const WatchedRegex&) = delete;

  /// Returns whether the pattern is found in `text`. Reports its work to `context`, even during the
  /// match, and fails with errors of `context`. LimitExceeded: the match needs more work than one
  /// match may take (about ten milliseconds); the message contains the pattern.
  Result<bool> Search(std::string_view text, RequestContext& context) const;

  /// A part of a text, by positions.
  struct Span {
    size_t begin, end;
  };
  /// The groups of a match; [0] is the whole match. An empty list means that there is no match.
  using Groups = std::vector<std::optional<Span>>;

  /// Finds matches in one text. All matches together share the limit of one match. Not thread-safe.
  /// Regex, text and context must outlive the object.
  class Finder {
   public:
    /// `calls_max` is the maximum number of calls of Next.
    Finder(const WatchedRegex& regex, std::string_view text, size_t calls_max,
           RequestContext& context);
    ~Finder();
    Finder(const Finder&) = delete;
    Finder& operator=(const Finder&) = delete;
    /// Returns the first match at or after the position `from`. Fails like Search.
    Result<Groups> Next(size_t from);

   private:
    struct State;
    const std::unique_ptr<State> state_;
  };

  /// Returns the number of groups in parentheses.
  [[nodiscard]] size_t group_count() const;
  /// Returns the memory of the compiled pattern in bytes. A match may add a second and a third
  /// compiled form, which are charged to the context of that match.
  [[nodiscard]] size_t bytes() const;

 private:
  struct Impl;
  explicit WatchedRegex(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hg
