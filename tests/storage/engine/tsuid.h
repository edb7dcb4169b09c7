#pragma once
// Creates TSUIDs for tests of the embedded store.

#include <cstdint>

#include "storage/base/bytes.h"

namespace hg {

/// Returns the TSUID of a series with one tag. Each id has three bytes, and the id of the tag key
/// is 1.
inline Bytes Tsuid(uint64_t host = 1, uint64_t metric = 1) {
  Bytes tsuid;
  for (const uint64_t id : {metric, uint64_t{1}, host}) AppendBig(&tsuid, id, 3);
  return tsuid;
}

}  // namespace hg
