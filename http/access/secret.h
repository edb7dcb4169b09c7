#pragma once
// Hashes of passwords and tokens. The user file contains only hashes, so it grants no access by
// itself. Passwords can be guessed, so a slow hash is used (yescrypt of the system's libcrypt,
// about 10 ms and 16 MiB). A token is 256 random bits, for which SHA-256 suffices.

#include <array>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

using Digest = std::array<unsigned char, 32>;

/// Maximum length of a password in bytes. libcrypt does not accept longer ones.
inline constexpr size_t kPasswordBytesMax = 511;

/// Returns a crypt(5) hash of the password with a new salt. The hash contains the algorithm, its
/// cost and the salt. InvalidArgument: the password is empty or too long.
Result<std::string> HashPassword(std::string_view password);

/// Returns whether the password has this hash, of any kind that crypt(5) supports. Slow on purpose;
/// compares in constant time. Returns false for a hash that cannot be parsed.
bool PasswordMatches(std::string_view password, const std::string& hash);

/// Returns whether PasswordMatches supports the hash.
bool IsPasswordHash(const std::string& hash);

/// Returns a new random token: "hg_" and 64 hexadecimal digits.
std::string MakeToken();

Digest Sha256(std::string_view text);
/// Computes HMAC-SHA-256. Without the key, the digest reveals nothing about the text.
Digest HmacSha256(const Digest& key, std::string_view text);
Digest RandomDigest();

/// Returns whether the texts are equal, in a time that depends only on their lengths.
bool EqualInConstantTime(std::string_view a, std::string_view b);

/// Overwrites and clears the text, so that the secret does not stay in memory.
void Wipe(std::string* secret);

}  // namespace hg::http
