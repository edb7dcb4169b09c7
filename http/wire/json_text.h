#pragma once
// Writes JSON strings as OpenTSDB does (opentsdb-http-api.md §5): only characters that must be
// escaped are escaped.

#include <string>
#include <string_view>

namespace hg::http {

/// Appends `text` in double quotes. `text` is UTF-8 and is not validated.
void AppendJsonString(std::string* out, std::string_view text);

/// Appends `text` with & < > " ' as entities, for messages in HTML pages.
void AppendHtmlEscaped(std::string* out, std::string_view text);

}  // namespace hg::http
