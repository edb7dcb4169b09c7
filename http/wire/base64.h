#pragma once
// Bytes as base64 (RFC 4648 §4).

#include <string>

#include "storage/base/bytes.h"

namespace hg::http {

/// In whole groups of four letters, filled up with '='.
std::string ToBase64(ByteView bytes);
/// As Java's DatatypeConverter reads it: what is no digit is passed over, '=' stands for nothing in
/// its place, and what is left after the last four is dropped. (What clients say they are is not
/// read so generously: http/access/credentials.h.)
Bytes FromBase64(std::string_view text);

}  // namespace hg::http
