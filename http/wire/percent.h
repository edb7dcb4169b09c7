#pragma once
// Query strings (spec http-api.md §4): pairs split at '&' or ';', '+' is a blank, %XX bytes of
// UTF-8.

#include <string>
#include <string_view>

#include "http/request.h"

namespace hg::http {

/// Decodes '+' and %XX. False at an escape that is not two hexadecimal digits; *out then holds what
/// came before.
bool DecodePercent(std::string_view text, std::string* out);

/// Adds the pairs of `query` (without '?') to *parameters. A pair without '=' has an empty value;
/// empty names are left out; bytes that are no UTF-8 become U+FFFD. False at a bad escape, and
/// where the share of the request's memory refuses more (request_memory.h).
bool ParseQueryString(std::string_view query, Parameters* parameters);

}  // namespace hg::http
