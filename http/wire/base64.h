#pragma once
// Base64 (RFC 4648 §4).

#include <string>

#include "storage/base/bytes.h"

namespace hg::http {

/// Encodes in groups of four characters, padded with '='.
std::string ToBase64(ByteView bytes);
/// Decodes as Java's DatatypeConverter does. Characters that are neither base64 digits nor '=' are
/// skipped. An incomplete last group is dropped. Credentials are decoded strictly instead
/// (http/access/credentials.h).
Bytes FromBase64(std::string_view text);

}  // namespace hg::http
