#include "storage/hbase/filter_messages.h"

#include <algorithm>

#include "storage/base/varint.h"

namespace hg::hbase {

void AddNumber(Bytes* out, int field, uint64_t v) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3);
  AppendVarint(out, v);
}

void AddBytes(Bytes* out, int field, ByteView bytes) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3 | 2);
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

Bytes Named(ByteView name, ByteView content) {
  Bytes out;
  AddBytes(&out, 1, "org.apache.hadoop.hbase.filter." + Bytes(name));
  AddBytes(&out, 2, content);
  return out;
}

// The filter has the form {1: {1: operation, 2: comparator}}.
Bytes CompareFilter(ByteView name, RowFilter::Op op, ByteView comparator) {
  Bytes compare;
  AddNumber(&compare, 1, static_cast<uint64_t>(op));
  AddBytes(&compare, 2, comparator);
  Bytes content;
  AddBytes(&content, 1, compare);
  return Named(name, content);
}

Bytes BytesComparator(ByteView name, ByteView value) {
  Bytes inner;
  AddBytes(&inner, 1, value);
  Bytes content;
  AddBytes(&content, 1, inner);
  return Named(name, content);
}

Bytes RegexComparator(ByteView pattern, uint64_t java_flags, ByteView charset) {
  Bytes content;
  AddBytes(&content, 1, pattern);
  AddNumber(&content, 2, java_flags);
  AddBytes(&content, 3, charset);
  return Named("RegexStringComparator", content);
}

Bytes FilterList(Join join, const std::vector<Bytes>& filters) {
  if (filters.size() == 1) return filters[0];
  Bytes content;
  AddNumber(&content, 1, static_cast<uint64_t>(join));
  for (const Bytes& filter : filters) AddBytes(&content, 2, filter);
  return Named("FilterList", content);
}

Bytes PrefixesFilter(std::vector<Bytes> prefixes) {
  std::sort(prefixes.begin(), prefixes.end());
  Bytes content;
  for (const Bytes& prefix : prefixes) AddBytes(&content, 1, prefix);
  return Named("MultipleColumnPrefixFilter", content);
}

Bytes ColumnRangeFilter(ByteView min, bool with_min, ByteView max, bool with_max) {
  Bytes content;
  AddBytes(&content, 1, min);
  AddNumber(&content, 2, with_min ? 1 : 0);
  if (!max.empty()) {
    AddBytes(&content, 3, max);
    AddNumber(&content, 4, with_max ? 1 : 0);
  }
  return Named("ColumnRangeFilter", content);
}

Bytes KeyOnlyFilter(bool lengths) {
  Bytes content;
  AddNumber(&content, 1, lengths ? 1 : 0);  // HBase rejects the message without this field
  return Named("KeyOnlyFilter", content);
}

}  // namespace hg::hbase
