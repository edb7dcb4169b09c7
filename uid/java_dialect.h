#pragma once
// Java's regular expressions (java.util.regex.Pattern of Java 17) written in PCRE2's syntax:
// classes in classes and their intersections, Java's escapes, property names and flags. What only
// PCRE2 knows (recursion, conditions, verbs) is refused as Java refuses it. Pure.
//
// Not the same as in Java: (?i) also finds letters beyond ASCII in either case, look-behind takes
// alternatives of a fixed length each, of Unicode's blocks only four have names.

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::uid {

struct PcrePattern {
  std::string text;
  bool unicode_classes = false;  // (?U): \w, \d, \s and the POSIX names know all of Unicode
};

/// `pattern` is UTF-8. InvalidArgument: what is wrong, and at which byte.
Result<PcrePattern> FromJava(std::string_view pattern);

}  // namespace hg::uid
