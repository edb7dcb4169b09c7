#pragma once
// Bodies in other encodings than UTF-8 (spec http-api.md §4: `charset=` of Content-Type counts).

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

/// The charset that a Content-Type names, without quotes; "" if it names none, or UTF-8.
std::string_view ForeignCharset(std::string_view content_type);

/// `text` of that charset as UTF-8; what it does not know becomes U+FFFD, as in Java.
/// InvalidArgument: no such charset.
Result<std::string> ToUtf8(std::string_view charset, std::string_view text);

}  // namespace hg::http
