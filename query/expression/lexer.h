#pragma once
// Splits the expressions of /api/query/exp into tokens (opentsdb-queries.md §11.3).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::query {

enum class TokenKind : uint8_t { kEnd, kInteger, kDecimal, kText, kName, kKeyword, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  /// For kText, `text` is the text without its quotes; escapes are not resolved. For kSymbol,
  /// `text` is the sign of the operator ("&&" for the word "and"). The view refers to the
  /// expression or to static data.
  std::string_view text;
  size_t at = 0;  // byte offset of the token in the expression

  [[nodiscard]] bool Is(std::string_view symbol) const {
    return (kind == TokenKind::kSymbol || kind == TokenKind::kKeyword) && text == symbol;
  }
};

/// Returns all tokens of the text; the last token is kEnd. `text` must outlive the tokens.
/// InvalidArgument: the text has an invalid character, or a string or comment has no end.
Result<std::vector<Token>> Tokenize(std::string_view text);

/// Returns the place of the byte offset `at` as a text for error messages, such as "at byte 4 of 'a
/// ** 2'".
std::string Place(std::string_view expression, size_t at);

}  // namespace hg::query
