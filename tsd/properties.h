#pragma once
// Parses Java properties files (java.util.Properties, "load"). The settings files of OpenTSDB have
// this format.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::tsd {

/// Returns a key and a value for each entry of the text, in the order of the text. If a key is
/// repeated, each of its entries is in the result; callers use the last value. The bytes of the
/// text are ISO-8859-1. An escape \uXXXX above U+00FF becomes '?', because no setting can have such
/// a character. Parsing cannot fail, because every text is valid.
std::vector<std::pair<std::string, std::string>> ParseProperties(std::string_view text);

}  // namespace hg::tsd
