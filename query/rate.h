#pragma once
// Rate of one series, per second (spec query.md §8). Pure.

#include "query/answer.h"
#include "query/request.h"
#include "storage/base/status.h"

namespace hg::query {

/// Replaces the points by their rates. The first element is the pseudo-rate against time zero and
/// value zero, which merging needs (quirk Q13) and never shows. InvalidArgument: times do not
/// ascend (a point at time 0 included).
Status ApplyRate(const RateOptions& options, PointColumns* points);

}  // namespace hg::query
