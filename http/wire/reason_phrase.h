#pragma once
// Reason phrases of HTTP status codes.

#include <string_view>

namespace hg::http {

/// Returns the reason phrase of an HTTP status, such as "Bad Request" for 400.
std::string_view ReasonPhrase(int status);

}  // namespace hg::http
