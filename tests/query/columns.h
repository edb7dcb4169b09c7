#pragma once
// Creates points from a short notation, and prints points as text, for use in tests.

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "query/request/answer.h"
#include "storage/model/number_text.h"
#include "storage/points/points.h"

namespace hg::query {

using Ints = std::vector<std::pair<int64_t, int64_t>>;
using Doubles = std::vector<std::pair<int64_t, double>>;

/// Returns points that have integer values. The times of `points` are in seconds.
inline PointColumns OfInts(const Ints& points) {
  PointColumns out;
  for (const auto& [t, v] : points) {
    out.time_ms.push_back(t * 1000);
    out.bits.push_back(static_cast<uint64_t>(v));
  }
  return out;
}

inline PointColumns OfDoubles(const Doubles& points) {
  PointColumns out;
  out.all_double = true;
  for (const auto& [t, v] : points) {
    out.time_ms.push_back(t * 1000);
    out.bits.push_back(std::bit_cast<uint64_t>(v));
  }
  return out;
}

/// Returns points as text such as "0:1 10:2.5". Times are in seconds. Values are printed as in
/// responses, so integers and doubles look different.
inline std::string Text(const PointColumns& points) {
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i > 0) out += ' ';
    out += std::to_string(points.time_ms[i] / 1000);
    if (points.time_ms[i] % 1000 != 0) out += '.' + std::to_string(points.time_ms[i] % 1000);
    out += ':';
    if (points.double_at(i)) {
      AppendJavaDouble(&out, std::bit_cast<double>(points.bits[i]));
    } else {
      out += std::to_string(static_cast<int64_t>(points.bits[i]));
    }
  }
  return out;
}

/// Returns the statistics of a row whose smallest value is `least` and whose largest value is
/// `most`.
inline RowStatistics StatisticsFrom(double least, double most, bool doubles = false) {
  RowStatistics row;
  row.least = least;
  row.most = most;
  row.all_double = doubles;
  return row;
}

}  // namespace hg::query
