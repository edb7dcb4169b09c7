#pragma once
// Encodes and decodes base64 (RFC 4648 §4).

#include <string>

#include "storage/base/bytes.h"

namespace hg::http {

/// Encodes bytes as groups of four characters. The last group is padded with '='.
std::string ToBase64(ByteView bytes);
/// Decodes base64 as Java's DatatypeConverter does: skips characters that are neither base64 digits
/// nor '=', and drops an incomplete last group. http/access/credentials.h uses a stricter decoder
/// for credentials.
Bytes FromBase64(std::string_view text);

}  // namespace hg::http
