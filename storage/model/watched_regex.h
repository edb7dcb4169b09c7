#pragma once
// Regular expressions in the dialect of PCRE2. The work of one match is bounded, whatever the
// pattern and the text are.

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

  /// May be combined with `|`.
  enum Option : uint32_t {
    kUtf8 = 1,            // pattern and texts are UTF-8, not bytes
    kUnicodeClasses = 2,  // \w, \d and so on follow Unicode
    kWholeText = 4,       // a match must begin and end where the text does
  };

  /// Compiles a pattern. `shown` is the pattern in error messages. InvalidArgument: the pattern is
  /// invalid; the message is PCRE2's.
  static Result<std::unique_ptr<const WatchedRegex>> Compile(std::string pattern, uint32_t options,
                                                             std::string shown);
  ~WatchedRegex();
  WatchedRegex(const WatchedRegex&) = delete;
  WatchedRegex& operator=(const WatchedRegex&) = delete;

  /// Returns whether the pattern is found in `text`. Reports its work to `context`, also during the
  /// match, and ends with errors of `context`. LimitExceeded: the match needs more work than the
  /// limit for one match (some ten milliseconds); the message names the pattern.
  Result<bool> Search(std::string_view text, RequestContext& context) const;

  /// A part of a text.
  struct Span {
    size_t begin, end;
  };
  /// The groups of a match; [0] is the whole match. Empty: there is no match.
  using Groups = std::vector<std::optional<Span>>;

  /// Finds matches in one text. All matches together share the limit of one match. Not thread-safe.
  /// Regex, text and context must outlive it.
  class Finder {
   public:
    /// Next is called at most `calls_max` times.
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
  /// Returns the bytes of memory that the compiled pattern takes. A match may add a second and a
  /// third compiled form, which are charged to the context of that match.
  [[nodiscard]] size_t bytes() const;

 private:
  struct Impl;
  explicit WatchedRegex(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hg
