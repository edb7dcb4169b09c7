#pragma once
// Functions that access single points in PointColumns (query/request/answer.h).

#include <bit>
#include <cstdint>

#include "query/request/answer.h"

namespace hg::query {

/// Memory of one point in PointColumns, in bytes: its time and its value. The byte that the point
/// may have in PointColumns::kinds is not included.
inline constexpr int64_t kPointBytes = sizeof(int64_t) + sizeof(uint64_t);

inline double DoubleAt(const PointColumns& points, size_t i) {
  return points.double_at(i) ? std::bit_cast<double>(points.bits[i])
                             : static_cast<double>(static_cast<int64_t>(points.bits[i]));
}

}  // namespace hg::query
