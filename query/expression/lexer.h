#pragma once
// Splits expressions into tokens (opentsdb-queries.md §11.3).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::query {

enum class TokenKind : uint8_t { kEnd, kInteger, kDecimal, kText, kName, kKeyword, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  /// For kText, the text without quotes, with its escapes unresolved. For kSymbol, the sign of the
  /// operator ("&&" for the word "and"). The view is of the expression or of static data.
  std::string_view text;
  size_t at = 0;  // byte offset in the expression

  [[nodiscard]] bool Is(std::string_view symbol) const {
    return (kind == TokenKind::kSymbol || kind == TokenKind::kKeyword) && text == symbol;
  }
};

/// Returns all tokens; the last one is kEnd. `text` must outlive them. InvalidArgument: an invalid
/// character, or an unterminated string or comment.
Result<std::vector<Token>> Tokenize(std::string_view text);

/// Returns text such as "at byte 4 of 'a ** 2'", for messages.
std::string Place(std::string_view expression, size_t at);

}  // namespace hg::query
