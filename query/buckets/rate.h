#pragma once
// Computes the rate of one series, per second (opentsdb-queries.md §8). Does no I/O.

#include "query/request/answer.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::query {

/// Replaces each point by the rate of change per second since the previous point. The first rate is
/// the change from value 0 at time 0 to the first point. The merge of series needs this first rate
/// (opentsdb-queries.md, quirk Q13) but never returns it to the client. InvalidArgument: times do
/// not ascend, or a point is at time 0.
Status ApplyRate(const RateOptions& options, PointColumns* points);

}  // namespace hg::query
