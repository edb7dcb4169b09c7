#pragma once
// Encodes HBase's filters and comparators as the protobuf messages of filterBytes (hbase-backend.md
// §7). Pure functions.

#include <cstdint>
#include <vector>

#include "storage/row_filter.h"

namespace hg::hbase {

/// Appends a protobuf field: its number and wire type, followed by a varint or by a length and
/// bytes.
void AddNumber(Bytes* out, int field, uint64_t v);
void AddBytes(Bytes* out, int field, ByteView bytes);

/// Returns a filter or comparator. `name` is its class without the package.
Bytes Named(ByteView name, ByteView content);

/// Returns a RowFilter, FamilyFilter, QualifierFilter or ValueFilter.
Bytes CompareFilter(ByteView name, RowFilter::Op op, ByteView comparator);
/// `name`: BinaryComparator or BinaryPrefixComparator.
Bytes BytesComparator(ByteView name, ByteView value);
/// The pattern is UTF-8. `java_flags` are those of java.util.regex.Pattern.
Bytes RegexComparator(ByteView pattern, uint64_t java_flags, ByteView charset);

enum class Join : uint8_t { kAll = 1, kOne = 2 };
/// Returns a FilterList. If `filters` has only one element, returns that filter.
Bytes FilterList(Join join, const std::vector<Bytes>& filters);

Bytes PrefixesFilter(std::vector<Bytes> prefixes);
/// An empty `max` means no end.
Bytes ColumnRangeFilter(ByteView min, bool with_min, ByteView max, bool with_max);
/// `lengths`: whether cells have the lengths of their values as values.
Bytes KeyOnlyFilter(bool lengths);

}  // namespace hg::hbase
