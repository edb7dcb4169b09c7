#include "tsd/properties.h"

#include "storage/base/hex_digit.h"

namespace hg::tsd {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  return text;
}

/// Takes the first natural line from `text`. Its end may be LF, CR or CRLF.
std::string_view NextLine(std::string_view* text) {
  const size_t end = text->find_first_of("\r\n");
  std::string_view line = text->substr(0, end);
  if (end == std::string_view::npos) {
    *text = {};
  } else {
    const bool both = text->substr(end, 2) == "\r\n";
    text->remove_prefix(end + (both ? 2 : 1));
  }
  return line;
}

bool EndsInOddBackslashes(std::string_view line) {
  size_t count = 0;
  while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
  return count % 2 == 1;
}

/// Returns the character of the four digits after "\u", or -1 if they are not valid.
int UnicodeEscape(std::string_view digits) {
  if (digits.size() < 4) return -1;
  int value = 0;
  for (char c : digits.substr(0, 4)) {
    if (HexDigit(c) < 0) return -1;
    value = value * 16 + HexDigit(c);
  }
  return value;
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) break;
    switch (text[i]) {
      case 't':
        out += '\t';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        if (int c = UnicodeEscape(text.substr(i + 1)); c >= 0) {
          out += c <= 0xff ? static_cast<char>(c) : '?';
          i += 4;
        } else {
          out += 'u';
        }
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

/// Returns the end of the key: the first separator without a backslash before it.
size_t KeyEnd(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '=' || line[i] == ':' || IsBlank(line[i])) {
      return i;
    }
  }
  return line.size();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ParseProperties(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!text.empty()) {
    std::string_view first = TrimLeft(NextLine(&text));
    if (first.empty() || first[0] == '#' || first[0] == '!') continue;
    std::string line(first);
    while (EndsInOddBackslashes(line)) {
      line.pop_back();
      line += TrimLeft(NextLine(&text));
    }
    const size_t key_end = KeyEnd(line);
    std::string_view rest = TrimLeft(std::string_view(line).substr(key_end));
    if (!rest.empty() && (rest[0] == '=' || rest[0] == ':')) rest = TrimLeft(rest.substr(1));
    out.emplace_back(Unescape(std::string_view(line).substr(0, key_end)), Unescape(rest));
  }
  return out;
}

}  // namespace hg::tsd
