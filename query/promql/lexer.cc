#include "query/promql/lexer.h"

#include <algorithm>
#include <utility>

#include "query/promql/annotations.h"
#include "query/promql/quoted_text.h"
#include "storage/base/hex_digit.h"
#include "storage/base/invariant.h"
#include "storage/model/letter_case.h"
#include "storage/model/utf8.h"

namespace hg::query::promql {
namespace {

constexpr std::string_view kSymbols[] = {"=~", "!~", "==", "!=", "<=", ">=", "(", ")",
                                         "{",  "}",  "[",  "]",  ",",  "@",  "=", "<",
                                         ">",  "+",  "-",  "*",  "/",  "%",  "^"};
constexpr std::string_view kDigits = "0123456789";

bool BeginsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool InWord(char c) { return BeginsWord(c) || IsDigit(c); }

class Lexer {
 public:
  Lexer(std::string_view text, RequestContext& context) : text_(text), context_(context) {}

  Result<std::vector<Token>> Run() {
    // Memory of a token, and of the node, matcher or label that the parser creates from it.
    constexpr int64_t kBytesPerToken = 512;
    constexpr uint64_t kStepsPerToken = 32;
    constexpr size_t kTokensAtOnce = 32;
    RETURN_IF_ERROR(context_.Charge(2 * static_cast<int64_t>(text_.size())));
    for (SkipBlanks(); at_ < text_.size(); SkipBlanks()) {
      if (tokens_.size() == kTokensMax)
        return Fail(at_, "more than " + std::to_string(kTokensMax) + " words and symbols");
      if (tokens_.size() % kTokensAtOnce == 0)
        RETURN_IF_ERROR(context_.Charge(kTokensAtOnce * kBytesPerToken));
      const size_t before = at_;
      RETURN_IF_ERROR(Take());
      INVARIANT(at_ > before);
      RETURN_IF_ERROR(context_.Step(kStepsPerToken + at_ - before));
    }
    tokens_.push_back({TokenKind::kEnd, "", at_});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (Peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\n\r").find(Peek()) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void Add(TokenKind kind, size_t end) {
    INVARIANT(end > at_);
    tokens_.push_back({kind, std::string(text_.substr(at_, end - at_)), at_});
    at_ = end;
  }

  Status Take() {
    const char c = Peek();
    if (c == '"' || c == '\'' || c == '`') return TakeString();
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return TakeNumber();
    const bool in_brackets = brackets_ > 0, in_braces = braces_ > 0;
    if (BeginsWord(c) || (c == ':' && !in_brackets && !in_braces)) {
      size_t end = at_;
      while (end < text_.size() &&
             (InWord(text_[end]) || (text_[end] == ':' && !in_brackets && !in_braces)))
        ++end;
      Add(TokenKind::kIdentifier, end);
      return {};
    }
    if (c == ':' && in_brackets) {
      Add(TokenKind::kSymbol, at_ + 1);
      return {};
    }
    for (const std::string_view symbol : kSymbols) {
      if (text_.substr(at_, symbol.size()) != symbol) continue;
      Count(symbol);
      Add(TokenKind::kSymbol, at_ + symbol.size());
      return {};
    }
    std::string_view rest = text_.substr(at_);
    bool valid = true;
    (void)TakeCodePoint(&rest, &valid);
    return Fail(at_, "unexpected character \"" +
                         std::string(text_.substr(at_, text_.size() - rest.size() - at_)) + "\"");
  }

  // Counts open brackets and braces. Inside them, ':' is not part of a word.
  void Count(std::string_view symbol) {
    if (symbol == "[") ++brackets_;
    if (symbol == "]") --brackets_;
    if (symbol == "{") ++braces_;
    if (symbol == "}") --braces_;
  }

  [[nodiscard]] size_t SkipRun(size_t from, std::string_view set) const {
    return std::min(text_.find_first_not_of(set, from), text_.size());
  }

  /// Skips digits. There may be one underscore between two digits.
  [[nodiscard]] size_t SkipDigits(size_t from, std::string_view set) const {
    size_t end = SkipRun(from, set);
    while (end > from && end + 1 < text_.size() && text_[end] == '_' &&
           set.find(text_[end + 1]) != std::string_view::npos)
      end = SkipRun(end + 1, set);
    return end;
  }

  Status TakeNumber() {
    size_t end = at_;
    if (Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X')) {
      end = SkipDigits(at_ + 2, "0123456789abcdefABCDEF");
    } else {
      end = SkipDigits(at_, kDigits);
      if (end < text_.size() && text_[end] == '.') end = SkipDigits(end + 1, kDigits);
      if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
        ++end;
        if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
        end = SkipDigits(end, kDigits);
      }
    }
    TokenKind kind = TokenKind::kNumber;
    if (end < text_.size() && InWord(text_[end])) {
      kind = TokenKind::kDuration;  // the duration may be invalid; the parser checks it
      while (end < text_.size() && InWord(text_[end])) ++end;
    }
    Add(kind, end);
    return {};
  }

  Status TakeString() {
    const size_t begin = at_;
    Token token{TokenKind::kString, "", begin};
    std::string_view rest = text_.substr(at_);
    const Status status = TakeQuotedText(&rest, &token.text);
    at_ = text_.size() - rest.size();
    if (!status.ok())
      return Fail(status.code() == StatusCode::kNotFound ? begin : at_, status.message());
    tokens_.push_back(std::move(token));
    return {};
  }

  [[nodiscard]] Status Fail(size_t at, std::string_view message) const {
    return ParseFailure(text_, at, message);
  }

  const std::string_view text_;
  RequestContext& context_;
  size_t at_ = 0;
  int brackets_ = 0, braces_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

bool Token::IsWord(std::string_view lower) const {
  return kind == TokenKind::kIdentifier && text.size() == lower.size() && LowerCase(text) == lower;
}

Result<std::vector<Token>> Tokenize(std::string_view text, RequestContext& context) {
  return Lexer(text, context).Run();
}

Status ParseFailure(std::string_view text, size_t at, std::string_view message) {
  return Status::InvalidArgument(PlaceText(text, at) + ": parse error: " + std::string(message));
}

}  // namespace hg::query::promql
