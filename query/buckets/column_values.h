#pragma once
// Access to single points in columns.

#include <bit>
#include <cstdint>

#include "query/request/answer.h"

namespace hg::query {

/// Memory in bytes of a point in columns, without its entry in PointColumns::kinds.
inline constexpr int64_t kPointBytes = sizeof(int64_t) + sizeof(uint64_t);

inline double DoubleAt(const PointColumns& points, size_t i) {
  return points.double_at(i) ? std::bit_cast<double>(points.bits[i])
                             : static_cast<double>(static_cast<int64_t>(points.bits[i]));
}

}  // namespace hg::query
