#pragma once
// Parses Java properties files, the format of OpenTSDB's settings (java.util.Properties, "load").

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::tsd {

/// Returns a key and a value for each entry of the text, in its order. A repeated key is in the
/// result several times, and callers use its last value. Bytes are ISO-8859-1. \uXXXX above U+00FF
/// becomes '?', because no setting can hold it. Parsing cannot fail: every text is valid.
std::vector<std::pair<std::string, std::string>> ParseProperties(std::string_view text);

}  // namespace hg::tsd
