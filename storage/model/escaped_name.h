#pragma once
// Names of other products' languages, which may have any character, as names that OpenTSDB's schema
// allows (docs/languages.md).

#include <string>
#include <string_view>

#include "storage/model/name_text.h"

namespace hg {

/// Appends the name in legal characters. Those of `rules` that ISO-8859-1 has stay; every other one
/// becomes _xHHHH_, or _xHHHHHHHH_ beyond U+FFFF, its code point in upper-case hexadecimal digits;
/// and so does a '_' behind which the text has an x and four such digits. So different names stay
/// different. False: not UTF-8, *out is then meaningless.
bool AppendEscapedName(std::string_view utf8, const NameRules& rules, std::string* out);

/// The name of which AppendEscapedName makes `name`: escapes are read from the left, whatever
/// character they stand for; what is none stays.
std::string UnescapedName(std::string_view name);

/// A legal name that UnescapedName reads as `name`, which is legal and holds no escape, and that
/// AppendEscapedName makes of nothing: its first character is escaped though it need not be.
std::string MarkedName(std::string_view name);

}  // namespace hg
