#pragma once
// Hashes of passwords and tokens. The user file contains only hashes, so reading this file does not
// give access to the server. Passwords can be guessed, so they get a slow hash: yescrypt of the
// system's libcrypt, which takes about 10 ms of CPU time and 16 MiB of memory. A token is 256
// random bits, so the fast hash SHA-256 is sufficient for it.

#include <array>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

using Digest = std::array<unsigned char, 32>;

/// Maximum length of a password in bytes. libcrypt does not accept longer passwords.
inline constexpr size_t kPasswordBytesMax = 511;

/// Returns a crypt(5) hash of the password with a new salt. The text of the hash contains the
/// algorithm, the cost and the salt. InvalidArgument: the password is empty, is too long, or
/// contains a zero byte. Unsupported: libcrypt of the system does not support the hash.
Result<std::string> HashPassword(std::string_view password);

/// Returns whether the password has this hash, which may be of any kind that libcrypt of the system
/// supports. The function is slow on purpose, and compares the hashes in constant time. Returns
/// false for a hash that cannot be parsed.
bool PasswordMatches(std::string_view password, const std::string& hash);

/// Returns whether `hash` is a password hash whose algorithm libcrypt of the system supports and
/// considers strong enough for new passwords. The cost of the hash may be low.
bool IsPasswordHash(const std::string& hash);

/// Returns a new random token: the text "hg_" followed by 64 hexadecimal digits.
std::string MakeToken();

Digest Sha256(std::string_view text);
/// Computes HMAC-SHA-256 of the text. A reader of the digest who does not have the key learns
/// nothing about the text.
Digest HmacSha256(const Digest& key, std::string_view text);
Digest RandomDigest();

/// Returns whether the texts are equal. The time of the comparison depends only on the lengths of
/// the texts.
bool EqualInConstantTime(std::string_view a, std::string_view b);

/// Overwrites the text in memory and makes it empty, so that the secret does not stay in memory.
void Wipe(std::string* secret);

}  // namespace hg::http
