#pragma once
// PromQL's tokens. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::query::promql {

enum class TokenKind : uint8_t {
  kEnd,
  kNumber,      // digits as written; "inf" and "nan" are identifiers
  kDuration,    // digits and units as written
  kString,      // its value, escapes resolved
  kIdentifier,  // words, also those with ':'
  kSymbol,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  size_t at = 0;  // byte in the expression

  [[nodiscard]] bool Is(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
  /// Keywords are words in any case.
  [[nodiscard]] bool IsWord(std::string_view lower) const;
};

/// All tokens, the last being kEnd; comments run from '#' to the end of their line.
/// InvalidArgument, with the place: a character that begins no token, a text without end, a bad
/// escape.
Result<std::vector<Token>> Tokenize(std::string_view text);

/// InvalidArgument "1:5: parse error: MESSAGE", with line and byte of the place.
Status ParseFailure(std::string_view text, size_t at, std::string_view message);

}  // namespace hg::query::promql
