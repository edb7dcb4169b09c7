#pragma once

#include <doctest/doctest.h>

#include "storage/points/embedded.h"

namespace hg {

/// The points of the metric 1 that a scan gives.
inline size_t CountPoints(Embedded& store) {
  PointScanSpec spec;
  spec.metric = Bytes("\0\0\1", 3);
  auto scan = store.points().Scan(spec, {});
  REQUIRE(scan.ok());
  size_t count = 0;
  for (RowHour row;;) {
    auto more = (*scan)->Next(&row);
    REQUIRE(more.ok());
    if (!*more) return count;
    count += row.value.size();
  }
}

}  // namespace hg
