#pragma once
// Names of metrics and tags: the legal characters, and the ISO-8859-1 bytes in which names are
// stored (opentsdb-schema.md §3.1, §5; opentsdb-http-api.md §8.5).

#include <bitset>
#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg {

/// Decides which characters are legal in names: a–z A–Z 0–9 - _ . /, every Unicode letter of the
/// basic plane, and the characters of tsd.core.tag.allow_specialchars. Immutable and thread-safe.
class NameRules {
 public:
  /// `extra` has additional legal characters in UTF-8.
  explicit NameRules(std::string_view extra = {});

  /// Returns ok for a legal name of at least one character (UTF-8). Otherwise returns
  /// InvalidArgument with OpenTSDB's message. `what` describes the name in the message: "metric
  /// name", "tag name with value [b1]", "tag value with key [site]".
  Status Check(std::string_view what, std::string_view name) const;
  /// Returns whether names may contain the character `c`.
  [[nodiscard]] bool IsLegal(char32_t c) const;

 private:
  std::bitset<128> ascii_;
  std::u32string extra_;  // additional characters beyond ASCII, sorted
};

/// Returns whether the character is a letter (categories Lu Ll Lt Lm Lo) of the basic plane.
/// Characters beyond the basic plane are not letters, because Java tests single UTF-16 units.
bool IsUnicodeLetter(char32_t c);

/// Returns the bytes in which a UTF-8 name is stored. Every character above U+00FF, and every byte
/// that is not UTF-8, is replaced by '?'.
Bytes ToLatin1(std::string_view utf8);
/// Returns whether ToLatin1 keeps all characters of the name. If it does, different names have
/// different stored bytes.
bool FitsLatin1(std::string_view utf8);
/// Converts stored bytes (ISO-8859-1) to UTF-8.
std::string FromLatin1(ByteView latin1);

}  // namespace hg
