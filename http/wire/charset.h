#pragma once
// Converts request bodies from other charsets to UTF-8. The parameter `charset` of Content-Type
// names the charset (opentsdb-http-api.md §4).

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

/// Returns the charset of a Content-Type, without quotes. Returns "" if there is no charset or if
/// it is UTF-8.
std::string ForeignCharset(std::string_view content_type);

/// Converts `text` from the charset to UTF-8. Bytes that the charset does not define become U+FFFD,
/// as in Java. InvalidArgument: the charset is unknown or not supported. The memory is first
/// charged to `memory`; if that fails, returns its error. Checks `context` after each piece of the
/// text, and returns its error. May load tables from disk, so do not call it on an event loop.
Result<std::string> ToUtf8(std::string_view charset, std::string_view text,
                           RequestMemory::Share* memory, RequestContext& context);

}  // namespace hg::http
