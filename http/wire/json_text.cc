#include "http/wire/json_text.h"

#include <array>

namespace hg::http {
namespace {

constexpr char kDigits[] = "0123456789ABCDEF";

/// Bytes that are written unchanged in a JSON string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < plain.size(); ++c) plain[c] = c != '"' && c != '\\' && c != 0xED;
  return plain;
}();

bool IsPlain(std::string_view text) {
  for (const char c : text) {
    if (!kPlain[static_cast<unsigned char>(c)]) return false;
  }
  return true;
}

/// Returns true if the text begins with a surrogate that is encoded as three bytes. These bytes are
/// not valid UTF-8, so the surrogate is escaped.
bool IsSurrogate(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xED' && (text[1] & 0xE0) == 0xA0 &&
         (text[2] & 0xC0) == 0x80;
}

void AppendSurrogate(std::string* out, std::string_view text) {
  const unsigned unit = 0xD000u | (static_cast<unsigned>(text[1]) & 0x3F) << 6 |
                        (static_cast<unsigned>(text[2]) & 0x3F);
  out->append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out->push_back(kDigits[unit >> shift & 15]);
}

}  // namespace

void AppendJsonString(std::string* out, std::string_view text) {
  if (IsPlain(text)) {  // the usual case
    const size_t at = out->size();
    out->append(text.size() + 2, '"');
    text.copy(out->data() + at + 1, text.size());
    return;
  }
  out->push_back('"');
  size_t clean = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (kPlain[c]) continue;
    if (c == 0xED) {
      if (!IsSurrogate(text.substr(i))) continue;
      out->append(text, clean, i - clean);
      AppendSurrogate(out, text.substr(i));
      i += 2;
      clean = i + 1;
      continue;
    }
    out->append(text, clean, i - clean);
    clean = i + 1;
    out->push_back('\\');
    switch (c) {
      case '"':
      case '\\':
        out->push_back(static_cast<char>(c));
        break;
      case '\b':
        out->push_back('b');
        break;
      case '\f':
        out->push_back('f');
        break;
      case '\n':
        out->push_back('n');
        break;
      case '\r':
        out->push_back('r');
        break;
      case '\t':
        out->push_back('t');
        break;
      default:
        out->append("u00");
        out->push_back(kDigits[c >> 4]);
        out->push_back(kDigits[c & 15]);
    }
  }
  out->append(text, clean, text.size() - clean);
  out->push_back('"');
}

void AppendHtmlEscaped(std::string* out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&':
        out->append("&amp;");
        break;
      case '<':
        out->append("&lt;");
        break;
      case '>':
        out->append("&gt;");
        break;
      case '"':
        out->append("&quot;");
        break;
      case '\'':
        out->append("&#39;");
        break;
      default:
        out->push_back(c);
    }
  }
}

}  // namespace hg::http
