#pragma once
// Converts request bodies from other charsets to UTF-8. The parameter `charset` of the Content-Type
// contains the name of the charset (opentsdb-http-api.md §4).

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

/// Returns the name of the charset in a Content-Type, without quotes. Returns "" if the
/// Content-Type has no charset or if the charset is UTF-8.
std::string ForeignCharset(std::string_view content_type);

/// Converts `text` from the charset to UTF-8. Bytes that the charset does not define become U+FFFD,
/// as in Java. The memory is charged to `memory` before it is allocated; if charging fails, the
/// function returns the error of `memory`. The function checks `context` after each piece of the
/// text, and returns the error of `context`. It may load tables from disk, so do not call it on an
/// event loop. InvalidArgument: the charset is unknown or not supported.
Result<std::string> ToUtf8(std::string_view charset, std::string_view text,
                           RequestMemory::Share* memory, RequestContext& context);

}  // namespace hg::http
