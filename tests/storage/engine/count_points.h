#pragma once

#include <doctest/doctest.h>

#include "storage/engine/embedded.h"

namespace hg {

/// Returns the number of points of a metric that a scan returns.
inline size_t CountPoints(Points& points, uint64_t metric) {
  PointScanSpec spec;
  AppendBig(&spec.metric, metric, 3);
  auto scan = points.Scan(spec, {});
  REQUIRE(scan.ok());
  size_t count = 0;
  for (RowHour row;;) {
    auto more = (*scan)->Next(&row);
    REQUIRE(more.ok());
    if (!*more) return count;
    count += row.value.size();
  }
}

inline size_t CountPoints(Embedded& store) { return CountPoints(store.points(), 1); }

}  // namespace hg
