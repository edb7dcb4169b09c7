#pragma once
// What of a scan HBase can decide itself, as the serialized filters of its gateway (spec
// hbase-backend.md §7). Pure. Each lets pass at least what it stands for; the client looks again.

#include <optional>

#include "storage/store.h"

namespace hg::hbase {

/// The filter of a scan or get; "" = none is needed. With a condition on values the cells come
/// with them. `reversed`: of a scan that descends, where HBase's fuzzy filter seeks past rows.
Bytes FilterBytes(const CellSelection& wanted, const RowFilter& filter, bool reversed = false);

/// A filter on row keys that every row passes which passes `filter`; none = there is no such one
/// that HBase knows.
std::optional<Bytes> KeyFilterBytes(const RowFilter& filter, bool reversed = false);

// The single messages.

/// Keys that the regular expression finds, its bytes being ISO-8859-1.
Bytes RegexKeyFilter(ByteView pattern);
/// Keys that begin like `key` wherever mask has a zero byte.
Bytes FuzzyKeyFilter(ByteView key, ByteView mask);
/// Columns in [min, max); max "" = no end.
Bytes ColumnRangeFilter(ByteView min, ByteView max);

/// The regular expression of a series matcher over whole row keys, in ASCII; none = it would be
/// longer than kPatternBytesMax, or everything would match.
std::optional<std::string> SeriesPattern(const SeriesMatcher& matcher, const KeyLayout& layout);

/// A pattern is compiled by each region for each scan: longer ones cost more than the rows that
/// they keep off the wire.
inline constexpr size_t kPatternBytesMax = 64 << 10;

}  // namespace hg::hbase
