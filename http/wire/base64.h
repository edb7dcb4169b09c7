#pragma once
// Encodes and decodes base64 (RFC 4648 §4).

#include <string>

#include "storage/base/bytes.h"

namespace hg::http {

/// Encodes bytes as groups of four characters, padded with '='.
std::string ToBase64(ByteView bytes);
/// Decodes as Java's DatatypeConverter does: skips characters that are neither base64 digits nor
/// '=', and drops an incomplete last group. Credentials have a stricter decoder
/// (http/access/credentials.h).
Bytes FromBase64(std::string_view text);

}  // namespace hg::http
