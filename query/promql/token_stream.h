#pragma once
// A stream from which the parser takes the tokens of an expression one by one.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/promql/lexer.h"

namespace hg::query::promql {

/// The tokens of one expression that the parser has not taken yet. Not thread-safe.
class TokenStream {
 public:
  /// The last element of `tokens` must be kEnd. `text` and `context` must outlive the stream. The
  /// parser charges the syntax tree that it creates to `context`.
  TokenStream(std::string_view text, std::vector<Token> tokens, RequestContext& context)
      : text_(text), tokens_(std::move(tokens)), context_(context) {}

  [[nodiscard]] RequestContext& context() const { return context_; }
  /// Returns the number of tokens that were taken so far. The parser uses this number to check that
  /// each pass of a loop takes at least one token.
  [[nodiscard]] size_t place() const { return next_; }

  [[nodiscard]] const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() {
    const Token& token = Peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  /// If the next token is this symbol, Take removes the token and returns true; otherwise it
  /// returns false. TakeWord does the same for the keyword `lower`; the token may be in any case.
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
  /// Counts one more regular expression. Returns the number of regular expressions counted so far.
  int CountPattern() { return ++patterns_; }
  /// Removes the next token if it is this symbol; otherwise returns InvalidArgument. `where`
  /// describes the place in the error message, for example "in aggregation".
  Status Expect(std::string_view symbol, std::string_view where) {
    if (Take(symbol)) return {};
    return Unexpected(where, "\"" + std::string(symbol) + "\"");
  }

  /// Returns the error that the next token is not expected at this place. `where` describes the
  /// place, and `expected` describes the expected token; both may be empty.
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
  /// Returns InvalidArgument whose message is the place `at`, followed by the message of `status`.
  /// `status` is an error of Matcher::Make or ParseDurationMs.
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
