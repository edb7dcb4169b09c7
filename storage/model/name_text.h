#pragma once
// Text of names: which characters are legal, and the ISO-8859-1 bytes under which they are stored
// (spec schema.md §3.1, §5; http-api.md §8.5).

#include <bitset>
#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg {

/// Legal characters: a–z A–Z 0–9 - _ . /, every Unicode letter of the basic plane, and the extra
/// ones of tsd.core.tag.allow_specialchars. Immutable, thread-safe.
class NameRules {
 public:
  /// `extra`: UTF-8.
  explicit NameRules(std::string_view extra = {});

  /// Ok for a legal name of ≥ 1 characters (UTF-8). InvalidArgument otherwise, with OpenTSDB's
  /// message, in which `what` says what it is a name of: "metric name", "tag name with value [b1]",
  /// "tag value with key [site]".
  Status Check(std::string_view what, std::string_view name) const;

 private:
  [[nodiscard]] bool IsLegal(char32_t c) const;

  std::bitset<128> ascii_;
  std::u32string extra_;  // beyond ASCII, sorted
};

/// True for a letter (categories Lu Ll Lt Lm Lo) of the basic plane; Java asks per UTF-16 unit, so
/// no others are.
bool IsUnicodeLetter(char32_t c);

/// Stored bytes of a name in UTF-8; every character above U+00FF, and every byte that is not UTF-8,
/// becomes '?'.
Bytes ToLatin1(std::string_view utf8);
/// True if ToLatin1 loses nothing: different such names have different bytes.
bool FitsLatin1(std::string_view utf8);
/// UTF-8 of stored bytes.
std::string FromLatin1(ByteView latin1);

}  // namespace hg
