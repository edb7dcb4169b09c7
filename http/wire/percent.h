#pragma once
// Query strings (opentsdb-http-api.md §4): pairs separated by '&' or ';'; '+' is a blank; %XX is a
// byte of UTF-8.

#include <string>
#include <string_view>

#include "http/request.h"

namespace hg::http {

/// The largest form that a request body may hold, as in Go's net/http and so in Prometheus.
/// Decoding that much takes about 0.1 s and cannot be ended.
inline constexpr size_t kFormBytesMax = 10 << 20;

/// Decodes '+' and %XX. False: an escape without two hexadecimal digits; *out then holds the text
/// before it.
bool DecodePercent(std::string_view text, std::string* out);

/// Adds the pairs of `query` (without '?') to *parameters. A pair without '=' has an empty value;
/// empty names are skipped; bytes that are not UTF-8 become U+FFFD. False: a bad escape, or
/// `memory` refused the memory.
bool ParseQueryString(std::string_view query, Parameters* parameters, RequestMemory::Share* memory);

}  // namespace hg::http
