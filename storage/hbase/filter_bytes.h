#pragma once
// Converts conditions of a scan to serialized filters of HBase's gateway (hbase-backend.md §7). A
// filter may let rows and cells pass that do not match, so the client checks them again. Pure
// functions.

#include <optional>

#include "storage/store.h"

namespace hg::hbase {

/// Returns the filter of a scan or get, or "" if none is needed. Without a condition on values in
/// `filter`, the gateway may leave out the values of cells. `reversed` means a descending scan.
/// Such a scan gets no fuzzy filter, because HBase's fuzzy filter then skips rows that match.
Bytes FilterBytes(const CellSelection& wanted, const RowFilter& filter, bool reversed = false);

/// Returns a filter on row keys that passes at least the rows that `filter` passes. Returns none if
/// HBase has no such filter.
std::optional<Bytes> KeyFilterBytes(const RowFilter& filter, bool reversed = false);

// The following functions return one filter each.

/// Lets row keys pass in which the regular expression is found. The pattern is in ISO-8859-1.
Bytes RegexKeyFilter(ByteView pattern);
/// Lets row keys pass that begin with `key`, compared at the positions where `mask` is zero.
Bytes FuzzyKeyFilter(ByteView key, ByteView mask);
/// Lets columns in [min, max) pass. An empty max means no end.
Bytes ColumnRangeFilter(ByteView min, ByteView max);

/// Returns the regular expression (ASCII) of a series matcher for whole row keys. Returns none if
/// it would be longer than kPatternBytesMax or would match every key.
std::optional<std::string> SeriesPattern(const SeriesMatcher& matcher, const KeyLayout& layout);

/// Maximum length of a pattern in bytes. Each region compiles the pattern for each scan, which for
/// longer patterns costs more than reading the rows that they filter out.
inline constexpr size_t kPatternBytesMax = 64 << 10;

}  // namespace hg::hbase
