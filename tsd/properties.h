#pragma once
// Parses Java properties files, the format of OpenTSDB's settings (java.util.Properties, "load").

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::tsd {

/// Returns keys and values in order of appearance. If a key is repeated, the last value counts.
/// Bytes are ISO-8859-1 as in the file. \uXXXX above U+00FF becomes '?', because no setting can
/// hold it. Every text is a valid properties file, so parsing cannot fail.
std::vector<std::pair<std::string, std::string>> ParseProperties(std::string_view text);

}  // namespace hg::tsd
