#pragma once
// What the gateway answers with 'Internal error', or never: refused before it is sent (spec
// hbase-backend.md §6). Pure.

#include <cstddef>

#include "storage/store.h"

namespace hg::hbase {

inline constexpr size_t kKeyBytesMax = 32767;
inline constexpr size_t kValueBytesMax = 10 << 20;  // hbase.client.keyvalue.maxsize

Status CheckKey(ByteView key);
Status CheckMutation(const RowMutation& row);

}  // namespace hg::hbase
