#pragma once
// Parses filters of scans in HBase's filter language, such as
// "PrefixFilter('r') AND (SingleColumnValueFilter('f', 'q', =, 'binary:v') OR PageFilter(10))".

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/store.h"

namespace hg::points {

/// The condition that a filter has for whole rows. Copyable. Callers must evaluate the condition
/// for rows in the order of the scan, because a PageFilter counts rows.
struct RowCondition {
  enum class Kind : uint8_t { kRow, kPage, kAnd, kOr };
  Kind kind = Kind::kAnd;
  RowFilter row;           // kRow
  uint64_t rows_left = 0;  // kPage: number of rows that still pass
  /// For kAnd and kOr. Children with a kPage come last, so that a PageFilter counts only rows for
  /// which the other children have not decided the result.
  std::vector<RowCondition> children;

  /// Returns the condition that the store can evaluate. In this condition, every PageFilter is
  /// true.
  [[nodiscard]] RowFilter ForStore() const;
  /// Returns whether a row passes all conditions, including PageFilters. The row must have passed
  /// ForStore(). `cells` are the selected cells with their values.
  bool Passes(ByteView key, const std::vector<Cell>& cells);
};

/// A parsed filter.
struct TextFilter {
  RowCondition rows;
  /// Whether a PageFilter is inside OR. If so, the reader of the scan must call rows.Passes for
  /// each row. Otherwise ForStore() is the whole condition.
  bool counts_rows = false;
};

/// Parses a filter and restricts the scan to it: columns, range of rows, number of rows, values,
/// and spec->filter. Filters of columns, KeyOnlyFilter and FirstKeyOnlyFilter select cells before
/// conditions on values are evaluated; they are allowed outside of OR only. In a text, \xHH is a
/// byte, \\ is a backslash, and '' is a quotation mark.
///
/// InvalidArgument: the text is not a filter; the message has the position. LimitExceeded: the text
/// is too long or nested too deeply. Unsupported: the store does not have the filter or the
/// comparator; the message has its name and lists the supported ones.
Result<TextFilter> ApplyFilterText(std::string_view text, ScanSpec* spec);

}  // namespace hg::points
