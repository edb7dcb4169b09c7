#include "storage/hbase/check_request.h"

#include <limits>

namespace hg::hbase {

size_t CellBytes(size_t row, size_t family, size_t qualifier, size_t value, bool has_ttl) {
  // Bytes of the length fields (whole cell, key, value, row, family), of the time and of the type.
  constexpr size_t kFixedBytes = 4 + 4 + 4 + 2 + 1 + 8 + 1;
  constexpr size_t kTtlTagBytes = 2 + 2 + 1 + 8;
  return kFixedBytes + row + family + qualifier + value + (has_ttl ? kTtlTagBytes : 0);
}

Status CheckKey(ByteView key) {
  if (!key.empty() && key.size() <= kKeyBytesMax) return {};
  return Status::InvalidArgument("a row key of " + std::to_string(key.size()) +
                                 " bytes: 1 to 32767 are allowed");
}

Status CheckMutation(const RowMutation& row) {
  RETURN_IF_ERROR(CheckKey(row.key));
  for (const CellChange& change : row.changes) {
    const size_t bytes = CellBytes(row.key.size(), change.family.size(), change.qualifier.size(),
                                   change.value.size(), change.ttl_ms.has_value());
    if (bytes > kCellBytesMax) {
      return Status::InvalidArgument("a cell has " + std::to_string(bytes) + " bytes, of which " +
                                     std::to_string(change.value.size()) +
                                     " are the value; the maximum of HBase is 10 MiB");
    }
    // 2^63 - 1 means "now" to HBase. Writes with a time before 1970 are retried by HBase until they
    // time out.
    if (change.timestamp_ms &&
        (*change.timestamp_ms < 0 || *change.timestamp_ms == std::numeric_limits<int64_t>::max())) {
      return Status::InvalidArgument(
          "invalid timestamp of a cell: " + std::to_string(*change.timestamp_ms) +
          " ms (expected 0 to 9223372036854775806)");
    }
    if (change.kind == CellChange::Kind::kDeleteFamilyVersion && !change.timestamp_ms) {
      return Status::InvalidArgument("the delete of a version of a family needs a timestamp");
    }
  }
  return {};
}

}  // namespace hg::hbase
