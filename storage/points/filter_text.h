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

/// The condition of a filter on whole rows. Copyable. Callers must evaluate it for rows in the
/// order of the scan, because a PageFilter counts rows.
struct RowCondition {
  enum class Kind : uint8_t { kRow, kPage, kAnd, kOr };
  Kind kind = Kind::kAnd;
  RowFilter row;           // kRow
  uint64_t rows_left = 0;  // kPage: number of rows that still pass
  /// For kAnd and kOr. Children that contain a kPage come last, so that a PageFilter counts only
  /// the rows that the other children leave undecided.
  std::vector<RowCondition> children;

  /// Returns the condition that the store evaluates. It treats every PageFilter as true.
  [[nodiscard]] RowFilter ForStore() const;
  /// Returns whether a row passes all conditions, PageFilters included. The row must have passed
  /// ForStore(). `cells` are the selected cells with their values.
  bool Passes(ByteView key, const std::vector<Cell>& cells);
};

/// A parsed filter.
struct TextFilter {
  RowCondition rows;
  /// True if a PageFilter is inside OR. The reader of the scan must then call rows.Passes for each
  /// row. Otherwise ForStore() is the whole condition.
  bool counts_rows = false;
};

/// Parses a filter and restricts the scan to it: columns, range of rows, number of rows, values,
/// and spec->filter. Filters of columns, KeyOnlyFilter and FirstKeyOnlyFilter select cells before
/// conditions on values are evaluated; they are allowed outside of OR only. In a text, \xHH is a
/// byte, \\ is a backslash, and '' is a quotation mark.
///
/// InvalidArgument: the text is not a filter; the message has the position. Unsupported: the store
/// does not have the filter or the comparator; the message has its name and lists the supported
/// ones.
Result<TextFilter> ApplyFilterText(std::string_view text, ScanSpec* spec);

}  // namespace hg::points
