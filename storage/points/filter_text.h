#pragma once
// Parses filters of scans in HBase's filter language. An example of a filter is "PrefixFilter('r')
// AND (SingleColumnValueFilter('f', 'q', =, 'binary:v') OR PageFilter(10))".

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/store.h"

namespace hg::points {

/// The condition of a filter on whole rows. Copyable. Callers must evaluate the condition for rows
/// in the order of the scan, because a PageFilter counts rows.
struct RowCondition {
  enum class Kind : uint8_t { kRow, kPage, kAnd, kOr };
  Kind kind = Kind::kAnd;
  RowFilter row;           // only for kRow
  uint64_t rows_left = 0;  // only for kPage: number of rows that may still pass
  /// Only for kAnd and kOr. Children that contain a kPage come last. A PageFilter then counts only
  /// rows for which the other children have not decided the result.
  std::vector<RowCondition> children;

  /// Returns that part of the condition that the store can evaluate. In the returned condition,
  /// every PageFilter is replaced by true.
  [[nodiscard]] RowFilter ForStore() const;
  /// Returns whether a row passes all conditions, including PageFilters. The row must have passed
  /// ForStore(). `cells` are the selected cells of the row with their values.
  bool Passes(ByteView key, const std::vector<Cell>& cells);
};

/// A filter that was parsed by ApplyFilterText.
struct TextFilter {
  RowCondition rows;
  /// Whether a PageFilter is inside OR. If true, the reader of the scan must call rows.Passes for
  /// each row. If false, ForStore() is the whole condition.
  bool counts_rows = false;
};

/// Parses a filter and changes *spec so that the scan applies the filter. Conditions on columns are
/// evaluated before conditions on values. KeyOnlyFilter and FirstKeyOnlyFilter are evaluated after
/// conditions on values. Conditions on columns, KeyOnlyFilter and FirstKeyOnlyFilter are allowed
/// only outside of OR. In a quoted text, \xHH is a byte, \\ is a backslash, and '' is a quotation
/// mark.
///
/// Returns InvalidArgument if `text` is not a valid filter. The message of a syntax error contains
/// its position. Returns LimitExceeded if the text is too long or nested too deeply. Returns
/// Unsupported if a filter, or its use in this text, is not supported. The message names the
/// unsupported part.
Result<TextFilter> ApplyFilterText(std::string_view text, ScanSpec* spec);

}  // namespace hg::points
