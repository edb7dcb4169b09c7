#pragma once
// The words of an HTTP status.

#include <string_view>

namespace hg::http {

/// "Bad Request" for 400, …
std::string_view ReasonPhrase(int status);

}  // namespace hg::http
