#pragma once
// JSON strings as OpenTSDB prints them (spec http-api.md §5): only what must be escaped is.

#include <string>
#include <string_view>

namespace hg::http {

/// Appends `text` (UTF-8, not checked) between double quotes.
void AppendJsonString(std::string* out, std::string_view text);

/// Appends `text` with & < > " ' as entities: messages inside HTML pages.
void AppendHtmlEscaped(std::string* out, std::string_view text);

}  // namespace hg::http
