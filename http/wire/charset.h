#pragma once
// Bodies in charsets other than UTF-8 (opentsdb-http-api.md §4: `charset=` of Content-Type
// applies).

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// The charset of a Content-Type, without quotes; "" if there is none or it is UTF-8.
std::string ForeignCharset(std::string_view content_type);

/// Converts `text` of that charset to UTF-8. Bytes that the charset does not define become U+FFFD,
/// as in Java. InvalidArgument: the charset is unknown or not supported. The memory is first taken
/// from `memory`; if it refuses, the result is its refusal. May load tables from disk, so do not
/// call it on an event loop.
Result<std::string> ToUtf8(std::string_view charset, std::string_view text,
                           RequestMemory::Share* memory);

}  // namespace hg::http
