#pragma once
// Tokens one after the other, for the parser.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/promql/lexer.h"

namespace hg::query::promql {

/// One thread at a time.
class TokenStream {
 public:
  /// `text` outlives the stream. The last token is kEnd.
  TokenStream(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() {
    const Token& token = Peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  /// Takes the symbol, or the word in any case, if it comes next.
  bool Take(std::string_view symbol) {
    if (!Peek().Is(symbol)) return false;
    Next();
    return true;
  }
  bool TakeWord(std::string_view lower) {
    if (!Peek().IsWord(lower)) return false;
    Next();
    return true;
  }
  /// How many regular expressions there are, the one that comes next included.
  int CountPattern() { return ++patterns_; }
  /// `where`: "in aggregation".
  Status Expect(std::string_view symbol, std::string_view where) {
    if (Take(symbol)) return {};
    return Unexpected(where, "\"" + std::string(symbol) + "\"");
  }

  /// What comes next does not fit.
  [[nodiscard]] Status Unexpected(std::string_view where, std::string_view expected = {}) const {
    const Token& token = Peek();
    std::string message = "unexpected ";
    if (token.kind == TokenKind::kEnd) {
      message += "end of input";
    } else {
      message += "\"" + token.text + "\"";
    }
    if (!where.empty()) message.append(" ").append(where);
    if (!expected.empty()) message.append(", expected ").append(expected);
    return Fail(token.at, message);
  }
  [[nodiscard]] Status Fail(size_t at, std::string_view message) const {
    return ParseFailure(text_, at, message);
  }
  /// The place in front of what Matcher::Make and ParseDurationMs say.
  [[nodiscard]] Status Fail(size_t at, const Status& status) const {
    return Fail(at, status.message());
  }

 private:
  const std::string_view text_;
  const std::vector<Token> tokens_;
  size_t next_ = 0;
  int patterns_ = 0;
};

}  // namespace hg::query::promql
