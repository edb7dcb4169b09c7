#pragma once
// Converts conditions of a scan to serialized filters for HBase's gateway (hbase-backend.md §7). A
// filter may pass rows and cells that do not match, so the client checks them again. Pure
// functions.

#include <optional>

#include "storage/store.h"

namespace hg::hbase {

/// Returns the filter of a scan or get, or "" if none is needed. Unless `filter` has a condition on
/// values, the gateway may leave out the values of cells. `reversed` means a descending scan. For
/// such a scan, no fuzzy filter is used, because HBase's fuzzy filter then skips rows that match.
Bytes FilterBytes(const CellSelection& wanted, const RowFilter& filter, bool reversed = false);

/// Returns a filter on row keys that passes at least the rows that `filter` passes. Returns nullopt
/// if HBase has no such filter.
std::optional<Bytes> KeyFilterBytes(const RowFilter& filter, bool reversed = false);

// The following functions return one filter each.

/// Passes row keys in which the regular expression is found. The pattern is in ISO-8859-1.
Bytes RegexKeyFilter(ByteView pattern);
/// Passes row keys that begin with `key`, compared at the positions where `mask` is zero.
Bytes FuzzyKeyFilter(ByteView key, ByteView mask);

/// Returns a regular expression (ASCII) for whole row keys that stands for a series matcher.
/// Returns nullopt if it would be longer than kPatternBytesMax or would match every key.
std::optional<std::string> SeriesPattern(const SeriesMatcher& matcher, const KeyLayout& layout);

/// Maximum length of a pattern in bytes. Each region compiles the pattern for each scan. For longer
/// patterns this costs more than reading the rows that the pattern excludes.
inline constexpr size_t kPatternBytesMax = 64 << 10;

}  // namespace hg::hbase
