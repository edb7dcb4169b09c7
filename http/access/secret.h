#pragma once
// Passwords and tokens as they are kept: what stands in a file must not let anybody in. Passwords
// are few and guessable, so they are hashed slowly (yescrypt of the system's libcrypt, some 10 ms
// and 16 MiB each time); a token is 256 random bits and SHA-256 will do.

#include <array>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

using Digest = std::array<unsigned char, 32>;

/// Longer ones are refused: libcrypt would.
inline constexpr size_t kPasswordBytesMax = 511;

/// A setting and hash of crypt(5), with a salt of its own. InvalidArgument: empty, or too long.
Result<std::string> HashPassword(std::string_view password);

/// Whether the password has this hash, of whatever kind crypt(5) knows. Slow on purpose; compares
/// in constant time. False for a hash that cannot be read.
bool PasswordMatches(std::string_view password, const std::string& hash);

/// Whether the text is a hash that PasswordMatches can work with.
bool IsPasswordHash(const std::string& hash);

/// A new token: "hg_" and 64 hexadecimal digits.
std::string MakeToken();

Digest Sha256(std::string_view text);
/// Keyed, so that whoever cannot read the key learns nothing from a digest.
Digest HmacSha256(const Digest& key, std::string_view text);
Digest RandomDigest();

/// In a time that tells nothing but the lengths.
bool EqualInConstantTime(std::string_view a, std::string_view b);

/// Overwrites it, so that it does not stay in memory.
void Wipe(std::string* secret);

}  // namespace hg::http
