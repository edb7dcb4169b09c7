#pragma once
// Encodes HBase's filters and comparators as the protobuf messages of the Thrift field filterBytes
// (hbase-backend.md §7). All functions are pure.

#include <cstdint>
#include <vector>

#include "storage/row_filter.h"

namespace hg::hbase {

/// AddNumber and AddBytes append a protobuf field: the field number and the wire type, followed by
/// a varint or by a length and bytes.
void AddNumber(Bytes* out, int field, uint64_t v);
void AddBytes(Bytes* out, int field, ByteView bytes);

/// Returns an encoded filter or comparator. `name` is its Java class without the package.
Bytes Named(ByteView name, ByteView content);

/// Returns an encoded filter that compares with `comparator`, which is an encoded comparator.
/// `name` is RowFilter, FamilyFilter, QualifierFilter or ValueFilter.
Bytes CompareFilter(ByteView name, RowFilter::Op op, ByteView comparator);
/// Returns a comparator. `name` is BinaryComparator or BinaryPrefixComparator.
Bytes BytesComparator(ByteView name, ByteView value);
/// Returns a RegexStringComparator. The pattern is in UTF-8. `java_flags` are flags of
/// java.util.regex.Pattern.
Bytes RegexComparator(ByteView pattern, uint64_t java_flags, ByteView charset);

enum class Join : uint8_t { kAll = 1, kOne = 2 };
/// Returns a FilterList. If `filters` has only one element, returns this element.
Bytes FilterList(Join join, const std::vector<Bytes>& filters);

Bytes PrefixesFilter(std::vector<Bytes> prefixes);
/// Returns a ColumnRangeFilter. An empty `max` means that the range has no end.
Bytes ColumnRangeFilter(ByteView min, bool with_min, ByteView max, bool with_max);
/// Returns a KeyOnlyFilter, which removes the values of cells. If `lengths` is true, the filter
/// replaces each value by its length.
Bytes KeyOnlyFilter(bool lengths);

}  // namespace hg::hbase
