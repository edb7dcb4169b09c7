#pragma once
// Parses the texts of HBase's filter language, for example "PrefixFilter('a') AND (PageFilter(3) OR
// ValueFilter(=, 'binary:x'))". The parser does not know which filters exist.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/row_filter.h"

namespace hg::points {

/// The maximum size of the text of a filter in bytes.
inline constexpr size_t kFilterTextBytesMax = 64 << 10;
/// The maximum depth of nested parentheses.
inline constexpr int kFilterParenthesesMax = 32;

struct FilterArgument {
  enum class Kind : uint8_t { kText, kOperator, kNumber, kBool };
  Kind kind = Kind::kText;
  Bytes text;
  RowFilter::Op op = RowFilter::Op::kEqual;
  int64_t number = 0;  // for kBool: 0 or 1
};

/// A node of a parsed filter. The node is either one filter with its arguments, or an operator
/// (AND, OR) with several nodes as children.
struct FilterNode {
  enum class Kind : uint8_t { kFilter, kAnd, kOr };
  Kind kind = Kind::kFilter;
  std::string name;
  std::vector<FilterArgument> arguments;
  std::vector<FilterNode> children;
};

/// The meaning of a backslash in a quoted text. In both modes, '' is a quotation mark.
enum class FilterEscapes : uint8_t {
  kNone,       // as in HBase: a backslash is a normal byte
  kBackslash,  // \xHH is a byte, and \\ is a backslash
};

/// Parses a filter. AND binds more tightly than OR. Returns InvalidArgument if `text` is not a
/// filter; the message has the position of the error. Returns LimitExceeded if the text is too long
/// or nested too deeply. Returns Unsupported if the text contains SKIP or WHILE.
Result<FilterNode> ParseFilterText(std::string_view text, FilterEscapes escapes);

}  // namespace hg::points
