#pragma once
// Reason phrases of HTTP status codes.

#include <string_view>

namespace hg::http {

/// "Bad Request" for 400, and so on.
std::string_view ReasonPhrase(int status);

}  // namespace hg::http
