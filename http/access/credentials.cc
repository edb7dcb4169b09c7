#include "http/access/credentials.h"

#include <openssl/evp.h>

#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

constexpr std::string_view kAuth = "auth";

const Credentials kUnreadable{Credentials::Kind::kUnreadable, {}, {}};

/// Removes the word before the first blank and the blanks after it from *text. Returns it in lower
/// case.
std::string TakeScheme(std::string_view* text) {
  const size_t end = std::min(text->find(' '), text->size());
  std::string scheme = LowerCase(std::string(text->substr(0, end)));
  text->remove_prefix(std::min(text->find_first_not_of(' ', end), text->size()));
  return scheme;
}

/// Decodes base64 of RFC 4648 §4 in groups of four characters. Returns false for any other text.
bool DecodeBase64(std::string_view text, std::string* bytes) {
  if (text.empty() || text.size() % 4 != 0) return false;
  bytes->resize(text.size() / 4 * 3);
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes->data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return false;
  // EVP_DecodeBlock decodes padding as zero bytes.
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes->resize(static_cast<size_t>(size) - padding);
  return true;
}

Credentials Password(std::string name, std::string_view password) {
  return {Credentials::Kind::kPassword, std::move(name), std::string(password)};
}

Credentials Token(std::string_view token) {
  return {Credentials::Kind::kToken, {}, std::string(token)};
}

}  // namespace

Credentials ReadAuthorization(std::string_view field) {
  if (field.empty()) return {};
  const std::string scheme = TakeScheme(&field);
  if (scheme == "bearer" && !field.empty()) return Token(field);
  if (scheme == "token" && !field.empty()) {
    const size_t colon = field.find(':');
    if (colon == std::string_view::npos) return Token(field);
    return Password(std::string(field.substr(0, colon)), field.substr(colon + 1));
  }
  std::string text;
  if (scheme != "basic" || !DecodeBase64(field, &text)) return kUnreadable;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return kUnreadable;
  return Password(text.substr(0, colon), std::string_view(text).substr(colon + 1));
}

bool IsAuthLine(std::string_view line) {
  return line.starts_with(kAuth) && (line.size() == kAuth.size() || line[kAuth.size()] == ' ');
}

Credentials ReadAuthLine(std::string_view line) {
  line.remove_prefix(std::min(kAuth.size() + 1, line.size()));
  const std::string scheme = TakeScheme(&line);
  if (scheme == "bearer" && !line.empty()) return Token(line);
  const size_t blank = line.find(' ');
  if (scheme != "basic" || blank == std::string_view::npos) return kUnreadable;
  return Password(std::string(line.substr(0, blank)), line.substr(blank + 1));
}

}  // namespace hg::http
