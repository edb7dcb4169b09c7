#pragma once
// Checks that two results of the same request are equal.

#include <doctest/doctest.h>

#include "query/request/answer.h"

namespace hg::query {

/// Checks that the points of both results are equal in all their bits. Also checks that the tags,
/// TSUIDs and annotations of the groups, and the numbers of rows and points, are equal. The request
/// must have only one sub-query.
inline void CheckSame(const Answer& a, const Answer& b) {
  REQUIRE(a.groups.size() == b.groups.size());
  for (size_t i = 0; i < a.groups.size(); ++i) {
    const Group& x = a.groups[i];
    const Group& y = b.groups[i];
    REQUIRE(x.tags == y.tags);
    REQUIRE(x.aggregate_tags == y.aggregate_tags);
    REQUIRE(x.tsuids == y.tsuids);
    REQUIRE(x.annotations == y.annotations);
    REQUIRE(x.points.time_ms == y.points.time_ms);
    REQUIRE(x.points.bits == y.points.bits);
    REQUIRE(x.points.kinds == y.points.kinds);
    REQUIRE(x.points.all_double == y.points.all_double);
  }
  const SubQueryStats& x = a.queries[0].stats;
  const SubQueryStats& y = b.queries[0].stats;
  CHECK(x.rows_before == y.rows_before);
  CHECK(x.points_before == y.points_before);
  CHECK(x.rows_after == y.rows_after);
  CHECK(x.points_after == y.points_after);
}

}  // namespace hg::query
