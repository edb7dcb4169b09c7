#pragma once
// The expression language's tokens (spec query.md §11.3). Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::query {

enum class TokenKind : uint8_t { kEnd, kInteger, kDecimal, kText, kName, kKeyword, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  /// kText: without its quotes, escapes as written. kSymbol: word operators appear as their signs
  /// ("and" as "&&"). Borrowed from the expression or static.
  std::string_view text;
  size_t at = 0;  // byte in the expression

  [[nodiscard]] bool Is(std::string_view symbol) const {
    return (kind == TokenKind::kSymbol || kind == TokenKind::kKeyword) && text == symbol;
  }
};

/// All tokens, the last being kEnd. `text` outlives them. InvalidArgument: a character that begins
/// no token, a text or comment without end.
Result<std::vector<Token>> Tokenize(std::string_view text);

/// "at byte 4 of 'a ** 2'": for messages.
std::string Place(std::string_view expression, size_t at);

}  // namespace hg::query
