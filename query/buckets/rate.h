#pragma once
// Rate of one series, per second (opentsdb-queries.md §8). Free of I/O.

#include "query/request/answer.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::query {

/// Replaces the points by their rates. The first element is the rate of change from value 0 at time
/// 0. The merge of series needs this element (opentsdb-queries.md, quirk Q13) but never returns it.
/// InvalidArgument: times do not ascend, or a point is at time 0.
Status ApplyRate(const RateOptions& options, PointColumns* points);

}  // namespace hg::query
