#pragma once
// What the gateway answers with 'Internal error', or never: refused before it is sent (spec
// hbase-backend.md §6). Pure.

#include <cstddef>

#include "storage/store.h"

namespace hg::hbase {

inline constexpr size_t kKeyBytesMax = 32767;
// hbase.client.keyvalue.maxsize and hbase.server.keyvalue.maxsize; of a cell as CellBytes counts
// it.
inline constexpr size_t kCellBytesMax = 10 << 20;

/// A cell's size as a region server counts it: all of its key, its value, and what stands between.
size_t CellBytes(size_t row, size_t family, size_t qualifier, size_t value, bool has_ttl);

Status CheckKey(ByteView key);
Status CheckMutation(const RowMutation& row);

}  // namespace hg::hbase
