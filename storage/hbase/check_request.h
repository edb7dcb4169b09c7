#pragma once
// Checks requests before they are sent to the gateway. The functions reject requests to which the
// gateway would reply with 'Internal error' or not at all (hbase-backend.md §6). All functions are
// pure.

#include <cstddef>

#include "storage/store.h"

namespace hg::hbase {

inline constexpr size_t kKeyBytesMax = 32767;
// The maximum size of a cell in bytes, as computed by CellBytes. This is the default value of
// hbase.client.keyvalue.maxsize and hbase.server.keyvalue.maxsize.
inline constexpr size_t kCellBytesMax = 10 << 20;

/// Returns the size of a cell, in bytes, as a region server computes it: the whole key, the value
/// and the fields between them.
size_t CellBytes(size_t row, size_t family, size_t qualifier, size_t value, bool has_ttl);

Status CheckKey(ByteView key);
Status CheckMutation(const RowMutation& row);

}  // namespace hg::hbase
