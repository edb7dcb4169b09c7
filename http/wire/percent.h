#pragma once
// Decodes query strings (opentsdb-http-api.md §4). The pairs of a query string are separated by '&'
// or ';'. The character '+' stands for a blank, and %XX for a byte of UTF-8.

#include <string>
#include <string_view>

#include "http/request/request.h"

namespace hg::http {

/// The maximum size of a form in a request body, as in Go's net/http and therefore in Prometheus.
/// Decoding a form of this size takes about 0.1 s, and the decoding cannot be interrupted.
inline constexpr size_t kFormBytesMax = 10 << 20;

/// Decodes '+' and %XX in a text. Returns false if an escape does not have two hexadecimal digits;
/// *out then contains the decoded text before this escape.
bool DecodePercent(std::string_view text, std::string* out);

/// Adds the pairs of `query` (without '?') to *parameters. A pair without '=' gets an empty value.
/// A pair with an empty name is skipped. Bytes that are not UTF-8 become U+FFFD. Returns false if
/// an escape is invalid or `memory` has not enough memory.
bool ParseQueryString(std::string_view query, Parameters* parameters, RequestMemory::Share* memory);

}  // namespace hg::http
