#pragma once
// Writes strings to JSON as OpenTSDB does (opentsdb-http-api.md §5): only characters that must be
// escaped are escaped.

#include <string>
#include <string_view>

namespace hg::http {

/// Appends `text` in double quotes. `text` must be UTF-8; the function does not validate it.
void AppendJsonString(std::string* out, std::string_view text);

/// Appends `text` with the characters & < > " ' replaced by HTML entities, for messages in HTML
/// pages.
void AppendHtmlEscaped(std::string* out, std::string_view text);

}  // namespace hg::http
