#pragma once
// Splits a PromQL expression into tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query::promql {

enum class TokenKind : uint8_t {
  kEnd,
  kNumber,      // the digits as written in the expression; "inf" and "nan" are kIdentifier
  kDuration,    // the digits and units as written in the expression
  kString,      // the value of the string, with escapes resolved
  kIdentifier,  // a word; it may contain ':'
  kSymbol,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  size_t at = 0;  // byte offset of the token in the expression

  [[nodiscard]] bool Is(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
  /// Returns whether the token is the keyword `lower`, which must be in lower case. The token
  /// itself may be in any case.
  [[nodiscard]] bool IsWord(std::string_view lower) const;
};

/// The maximum number of tokens of one expression.
inline constexpr size_t kTokensMax = 32 * 1024;

/// Returns all tokens of the text; the last token is kEnd. Comments begin with '#' and end at the
/// end of the line. The memory of the tokens, and of the tree that a parser will build from them,
/// stays charged to `context` until the request ends.
///
/// InvalidArgument: the text has an invalid character, an unterminated string, an invalid escape,
/// or more than kTokensMax tokens; the message contains the place. Also returns the errors of
/// `context`.
Result<std::vector<Token>> Tokenize(std::string_view text,
                                    RequestContext& context = RequestContext::Unlimited());

/// Returns InvalidArgument with a message such as "1:5: parse error: MESSAGE". The numbers are the
/// line and the byte in that line of the byte offset `at` in `text`. `message` is the part after
/// "parse error: ".
Status ParseFailure(std::string_view text, size_t at, std::string_view message);

}  // namespace hg::query::promql
