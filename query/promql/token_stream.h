#pragma once
// Delivers tokens to the parser one by one.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/promql/lexer.h"

namespace hg::query::promql {

/// Not thread-safe.
class TokenStream {
 public:
  /// `text` and `context` must outlive the stream. The parser charges the tree that it creates to
  /// `context`. The last token must be kEnd.
  TokenStream(std::string_view text, std::vector<Token> tokens, RequestContext& context)
      : text_(text), tokens_(std::move(tokens)), context_(context) {}

  [[nodiscard]] RequestContext& context() const { return context_; }
  /// Returns the number of tokens taken so far. With this number, the parser checks that each pass
  /// of a loop takes at least one token.
  [[nodiscard]] size_t place() const { return next_; }

  [[nodiscard]] const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() {
    const Token& token = Peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  /// Take: if the next token is this symbol, removes it and returns true; otherwise returns false.
  /// TakeWord does the same for a word in any case.
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
  /// Counts one more regular expression. Returns the number of regular expressions so far.
  int CountPattern() { return ++patterns_; }
  /// Removes the next token, which must be this symbol; otherwise fails. `where` is the context for
  /// the error message, for example "in aggregation".
  Status Expect(std::string_view symbol, std::string_view where) {
    if (Take(symbol)) return {};
    return Unexpected(where, "\"" + std::string(symbol) + "\"");
  }

  /// Returns the error for a next token that is not expected at this place.
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
  /// Returns an error with the message of `status` and the place `at` in front of it. `status`
  /// comes from Matcher::Make or ParseDurationMs.
  [[nodiscard]] Status Fail(size_t at, const Status& status) const {
    return Fail(at, status.message());
  }

 private:
  const std::string_view text_;
  const std::vector<Token> tokens_;
  RequestContext& context_;
  size_t next_ = 0;
  int patterns_ = 0;
};

}  // namespace hg::query::promql
