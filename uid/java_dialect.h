#pragma once
// Translates Java's regular expressions (java.util.regex.Pattern of Java 17) to PCRE2's syntax:
// nested character classes and their intersections, Java's escapes, property names and flags.
// Syntax that only PCRE2 knows (recursion, conditions, verbs) is rejected, as in Java.
//
// There are three differences from Java. The flag (?i) also ignores the case of non-ASCII letters.
// In a look-behind, each alternative must have a fixed length. Only four of Unicode's blocks can be
// named.

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::uid {

struct PcrePattern {
  std::string text;
  /// Whether (?U) is set: \w, \d, \s and POSIX names then cover all of Unicode.
  bool unicode_classes = false;
};

/// Translates a pattern, which is UTF-8. The message of InvalidArgument describes the error and
/// contains its byte position.
Result<PcrePattern> FromJava(std::string_view pattern);

}  // namespace hg::uid
