#include "http/access/secret.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <cstring>
#include <memory>

#include "storage/base/bytes.h"
#include "storage/base/invariant.h"

namespace hg::http {
namespace {

static_assert(kPasswordBytesMax < CRYPT_MAX_PASSPHRASE_SIZE);

/// Returns libcrypt's hash of a password with a setting (algorithm, cost and salt), or "" if
/// libcrypt refuses it.
std::string Crypt(std::string_view password, const std::string& setting) {
  if (password.empty() || password.size() > kPasswordBytesMax) return {};
  std::string text(password);  // a copy that ends with NUL
  auto data = std::make_unique<crypt_data>();
  const char* hash = crypt_rn(text.c_str(), setting.c_str(), data.get(), sizeof(crypt_data));
  std::string result = hash == nullptr ? "" : hash;
  OPENSSL_cleanse(data.get(), sizeof(crypt_data));
  Wipe(&text);
  return result;
}

}  // namespace

Result<std::string> HashPassword(std::string_view password) {
  if (password.empty()) return Status::InvalidArgument("the password is empty");
  if (password.size() > kPasswordBytesMax || password.find('\0') != std::string_view::npos) {
    return Status::InvalidArgument("the password has more than " +
                                   std::to_string(kPasswordBytesMax) + " bytes, or a zero byte");
  }
  char setting[CRYPT_GENSALT_OUTPUT_SIZE];
  if (crypt_gensalt_rn("$y$", 0, nullptr, 0, setting, sizeof setting) == nullptr)
    return Status::Unsupported("libcrypt of this system does not know yescrypt");
  std::string hash = Crypt(password, setting);
  if (hash.empty()) return Status::Unsupported("libcrypt does not hash this password");
  return hash;
}

bool PasswordMatches(std::string_view password, const std::string& hash) {
  if (password.find('\0') != std::string_view::npos) return false;
  const std::string again = Crypt(password, hash);
  return !again.empty() && EqualInConstantTime(again, hash);
}

bool IsPasswordHash(const std::string& hash) {
  const int verdict = crypt_checksalt(hash.c_str());
  return verdict == CRYPT_SALT_OK || verdict == CRYPT_SALT_TOO_CHEAP;
}

std::string MakeToken() {
  const Digest random = RandomDigest();
  return "hg_" + ToHex({reinterpret_cast<const char*>(random.data()), random.size()});
}

Digest Sha256(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

Digest HmacSha256(const Digest& key, std::string_view text) {
  Digest digest;
  unsigned int size = digest.size();
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return digest;
}

Digest RandomDigest() {
  Digest digest;
  // RAND_bytes fails only if the system has no source of random numbers. Without the check, the
  // digest would then be all zeros, which attackers could guess.
  INVARIANT(RAND_bytes(digest.data(), static_cast<int>(digest.size())) == 1);
  return digest;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void Wipe(std::string* secret) {
  OPENSSL_cleanse(secret->data(), secret->size());
  secret->clear();
}

}  // namespace hg::http
