#pragma once
// Converts names of protocols other than OpenTSDB's to names that OpenTSDB's schema allows
// (docs/ingestion.md). The names of these protocols may contain any character.

#include <string>
#include <string_view>

#include "storage/model/name_text.h"

namespace hg {

/// Appends the name in legal characters. Characters that are legal by `rules` and in ISO-8859-1
/// stay unchanged. Every other character is replaced by _xHHHH_ (or _xHHHHHHHH_ beyond U+FFFF),
/// which contains its code point in upper-case hexadecimal digits. A '_' before an x and four
/// upper-case hexadecimal digits is escaped, too, so that different names stay different. Returns
/// false if the text is not UTF-8; *out is then unusable.
bool AppendEscapedName(std::string_view utf8, const NameRules& rules, std::string* out);

/// The inverse of AppendEscapedName for all rules. It replaces escapes from left to right by the
/// characters that they encode, and keeps all other text. An escape that AppendEscapedName does not
/// produce by any rules, such as "_x0041_", also stays. The reason is that clients of OpenTSDB's
/// API may write "_x0041_", which must not be confused with the name "A".
std::string UnescapedName(std::string_view name);

/// Returns a legal name that AppendEscapedName never produces: the first character of `name` is
/// escaped although it is legal. `name` must be legal and must not contain an escape.
std::string MarkedName(std::string_view name);

}  // namespace hg
