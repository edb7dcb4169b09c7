#include "query/expression/lexer.h"

#include <string>
#include <utility>

#include "storage/base/hex_digit.h"
#include "storage/base/status.h"

namespace hg::query {
namespace {

// Longer symbols come before their prefixes, because the first matching symbol is used.
constexpr std::string_view kSymbols[] = {
    "&&", "||", "==", "!=", "<=", ">=", "=~", "!~", "?:", "<", ">", "+", "-", "*", "/", "%", "&",
    "|",  "^",  "~",  "!",  "?",  ":",  "(",  ")",  "{",  "}", "[", "]", ";", ",", ".", "="};

constexpr std::pair<std::string_view, std::string_view> kWordOperators[] = {
    {"and", "&&"}, {"or", "||"}, {"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="},
    {"gt", ">"},   {"ge", ">="}, {"not", "!"}, {"div", "/"}, {"mod", "%"}};

constexpr std::string_view kKeywords[] = {"if",   "else", "for",  "foreach", "while",
                                          "in",   "new",  "var",  "return",  "empty",
                                          "size", "null", "true", "false"};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '@';
}
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> out;
    for (;;) {
      RETURN_IF_ERROR(SkipBlank());
      if (at_ == text_.size()) break;
      ASSIGN_OR_RETURN(Token token, Next());
      out.push_back(token);
    }
    out.push_back({TokenKind::kEnd, {}, at_});
    return out;
  }

 private:
  [[nodiscard]] char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool Starts(std::string_view s) const { return text_.substr(at_).starts_with(s); }

  Status SkipBlank() {
    while (at_ < text_.size()) {
      if (Starts("//") || Starts("##")) {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (Starts("/*")) {
        size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          return Status::InvalidArgument("A comment does not end " + Place(text_, at_));
        }
        at_ = end + 2;
      } else if (static_cast<unsigned char>(text_[at_]) <= ' ') {
        ++at_;
      } else {
        break;
      }
    }
    return {};
  }

  Result<Token> Next() {
    size_t begin = at_;
    if (IsDigit(Peek())) return Number();
    if (IsLetter(Peek())) {
      while (IsLetter(Peek()) || IsDigit(Peek())) ++at_;
      return Word(text_.substr(begin, at_ - begin), begin);
    }
    if (Peek() == '\'' || Peek() == '"') return Text();
    for (std::string_view symbol : kSymbols) {
      if (!Starts(symbol)) continue;
      at_ += symbol.size();
      return Token{TokenKind::kSymbol, symbol, begin};
    }
    return Status::InvalidArgument("No token begins with '" + std::string(1, Peek()) + "' " +
                                   Place(text_, at_));
  }

  Token Word(std::string_view word, size_t begin) const {
    for (auto [name, symbol] : kWordOperators) {
      if (word == name) return {TokenKind::kSymbol, symbol, begin};
    }
    for (std::string_view keyword : kKeywords) {
      if (word == keyword) return {TokenKind::kKeyword, keyword, begin};
    }
    return {TokenKind::kName, word, begin};
  }

  // Parses "1.5", "1.5e3", "1.5d"; or "0x1F", "017", "12", each with an optional suffix. "1e3" is
  // two tokens.
  Token Number() {
    size_t begin = at_;
    size_t digits = at_;
    while (digits < text_.size() && IsDigit(text_[digits])) ++digits;
    if (digits + 1 < text_.size() && text_[digits] == '.' && IsDigit(text_[digits + 1])) {
      at_ = digits + 1;
      while (IsDigit(Peek())) ++at_;
      size_t exponent = Peek(1) == '+' || Peek(1) == '-' ? 2 : 1;
      if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(exponent))) {
        at_ += exponent;
        while (IsDigit(Peek())) ++at_;
      }
      if (std::string_view("fFdDbB").find(Peek()) != std::string_view::npos && Peek() != '\0')
        ++at_;
      return {TokenKind::kDecimal, text_.substr(begin, at_ - begin), begin};
    }
    if (Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X') && IsHex(Peek(2))) {
      at_ += 2;
      while (IsHex(Peek())) ++at_;
    } else if (Peek() == '0') {
      while (Peek() >= '0' && Peek() <= '7') ++at_;
    } else {
      at_ = digits;
    }
    if (Peek() == 'l' || Peek() == 'L' || Peek() == 'h' || Peek() == 'H') ++at_;
    return {TokenKind::kInteger, text_.substr(begin, at_ - begin), begin};
  }

  Result<Token> Text() {
    size_t begin = at_;
    char quote = text_[at_++];
    size_t first = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        return Token{TokenKind::kText, text_.substr(first, at_++ - first), begin};
      }
    }
    at_ = text_.size();
    return Status::InvalidArgument("A text does not end " + Place(text_, begin));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view text) { return Lexer(text).Run(); }

std::string Place(std::string_view expression, size_t at) {
  constexpr size_t kShownMax = 200;
  return "at byte " + std::to_string(at) + " of '" + Shortened(expression, kShownMax) + "'";
}

}  // namespace hg::query
