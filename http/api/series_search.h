#pragma once
// Finds the series of a metric that fulfil conditions on their tags. The search reads Hourglass's
// own index. Lookups and tag counts use this file (opentsdb-queries.md §10.3).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "http/wire/series_expression.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "uid/names.h"

namespace hg::http {

/// The cost of looking up a name, in steps. The cost is high because a look-up may need a request
/// to another machine, so the limits of the HTTP request must be checked after few look-ups.
inline constexpr uint64_t kStepsPerName = 1 << 10;

/// The condition of a series search, in which names are resolved to ids.
struct SeriesWanted {
  Bytes metric;  // id of the metric; "" = any metric
  SeriesMatcher matcher;
  // Ids of tag values, sorted. A series must have at least one of these values, with any tag key.
  // Empty = the search has no such condition.
  std::vector<Bytes> values;
};

/// Resolves the names of a metric and of tags to ids. If `metric` is nullopt or "*", any metric
/// matches. NotFound: a name is unknown. InvalidArgument: a name is empty, or a tag has neither key
/// nor value.
Result<SeriesWanted> ResolveSeries(const std::optional<std::string>& metric,
                                   const std::vector<TagWish>& tags, uid::Names& names,
                                   RequestContext& context);

/// Calls `visit` with the TSUID of each series that fulfils the condition, in the order of TSUID
/// bytes. Stops when `visit` returns false or an error.
Status VisitSeries(const SeriesWanted& wanted, Points& points,
                   const std::function<Result<bool>(ByteView tsuid)>& visit,
                   RequestContext& context);

}  // namespace hg::http
