#pragma once
// Converts conditions of a scan to serialized filters of HBase's gateway (hbase-backend.md §7).
// Each filter passes at least the matching rows and cells, and the client checks again. Pure
// functions.

#include <optional>

#include "storage/store.h"

namespace hg::hbase {

/// Returns the filter of a scan or get, or "" if none is needed. If `filter` has a condition on
/// values, the filter also passes the values of cells. `reversed` means a descending scan. Such a
/// scan gets no fuzzy filter, because HBase's fuzzy filter then skips rows that match.
Bytes FilterBytes(const CellSelection& wanted, const RowFilter& filter, bool reversed = false);

/// Returns a filter on row keys that passes at least the rows that `filter` passes. Returns none if
/// HBase has no such filter.
std::optional<Bytes> KeyFilterBytes(const RowFilter& filter, bool reversed = false);

// The single filters.

/// Passes keys in which the regular expression is found. The pattern is in ISO-8859-1.
Bytes RegexKeyFilter(ByteView pattern);
/// Passes keys that begin with `key` at the positions where mask is zero.
Bytes FuzzyKeyFilter(ByteView key, ByteView mask);
/// Passes columns in [min, max). An empty max means no end.
Bytes ColumnRangeFilter(ByteView min, ByteView max);

/// Returns the regular expression (ASCII) of a series matcher for whole row keys. Returns none if
/// it would be longer than kPatternBytesMax or would match everything.
std::optional<std::string> SeriesPattern(const SeriesMatcher& matcher, const KeyLayout& layout);

/// Each region compiles the pattern for each scan. Longer patterns cost more than the rows that
/// they filter out.
inline constexpr size_t kPatternBytesMax = 64 << 10;

}  // namespace hg::hbase
