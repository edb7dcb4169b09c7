#pragma once
// JSON strings as OpenTSDB prints them (opentsdb-http-api.md §5): escapes only what must be
// escaped.

#include <string>
#include <string_view>

namespace hg::http {

/// Appends `text` (UTF-8, not validated) in double quotes.
void AppendJsonString(std::string* out, std::string_view text);

/// Appends `text` with & < > " ' as entities, for messages in HTML pages.
void AppendHtmlEscaped(std::string* out, std::string_view text);

}  // namespace hg::http
