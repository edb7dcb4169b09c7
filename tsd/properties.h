#pragma once
// Java's properties files, as OpenTSDB's settings are written (java.util.Properties, "load").

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::tsd {

/// Keys and values in order of appearance; a key may occur again, the last one counts. Bytes are
/// ISO-8859-1 as they stand in the file; \uXXXX beyond U+00FF becomes '?', as no setting can hold
/// it. Every text is a properties file, so nothing can fail.
std::vector<std::pair<std::string, std::string>> ParseProperties(std::string_view text);

}  // namespace hg::tsd
