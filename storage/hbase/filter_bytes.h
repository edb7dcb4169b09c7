#pragma once
// Converts conditions of a scan to serialized filters for HBase's gateway (hbase-backend.md §7). A
// filter may pass rows and cells that do not match the conditions, so the client checks rows and
// cells again. All functions are pure.

#include <optional>

#include "storage/store.h"

namespace hg::hbase {

/// Returns the filter of a scan or get, or "" if no filter is needed. Unless `filter` has a
/// condition on values, the returned filter may leave out the values of cells. `reversed` means a
/// descending scan. For a descending scan, no fuzzy filter is used, because HBase's fuzzy filter
/// then skips rows that match.
Bytes FilterBytes(const CellSelection& wanted, const RowFilter& filter, bool reversed = false);

/// Returns a filter on row keys for a scan, which is descending if `reversed` is true. The returned
/// filter passes at least the rows that `filter` passes. Returns nullopt if HBase has no such
/// filter.
std::optional<Bytes> KeyFilterBytes(const RowFilter& filter, bool reversed = false);

// Each of the following functions returns one filter.

/// Returns a filter that passes row keys in which the regular expression is found. `pattern` is in
/// ISO-8859-1.
Bytes RegexKeyFilter(ByteView pattern);
/// Returns a filter that passes row keys that begin with `key`. Keys are compared only at the
/// positions where `mask` is zero.
Bytes FuzzyKeyFilter(ByteView key, ByteView mask);

/// Returns a regular expression (ASCII) that matches the row keys of the series that the matcher
/// selects. Returns nullopt if the expression would be longer than kPatternBytesMax or would match
/// every key. Also returns nullopt if a kOneOf clause of the matcher has no values.
std::optional<std::string> SeriesPattern(const SeriesMatcher& matcher, const KeyLayout& layout);

/// Maximum length of a regular expression in bytes. Each region compiles the expression for each
/// scan. For a longer expression, compiling costs more than reading the rows that the expression
/// excludes.
inline constexpr size_t kPatternBytesMax = 64 << 10;

}  // namespace hg::hbase
