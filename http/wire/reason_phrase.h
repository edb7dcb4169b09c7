#pragma once
// The reason phrases of HTTP status codes, such as "Not Found" for 404.

#include <string_view>

namespace hg::http {

/// Returns the reason phrase of an HTTP status, such as "Bad Request" for 400.
std::string_view ReasonPhrase(int status);

}  // namespace hg::http
