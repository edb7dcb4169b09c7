#pragma once
// Finds the series of a metric that meet conditions on tags, in Hourglass's own index. Lookups and
// tag counts use it (opentsdb-queries.md §10.3).

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

/// Cost of looking up a name, in steps. A look-up may need a request to another machine, so the
/// limits of the HTTP request must be checked after few look-ups.
inline constexpr uint64_t kStepsPerName = 1 << 10;

/// The condition of a series search, with names resolved to ids.
struct SeriesWanted {
  Bytes metric;  // "" = any metric
  SeriesMatcher matcher;
  // A series must have each of these tag values, with any key. Sorted; empty = no such condition.
  std::vector<Bytes> values;
};

/// Resolves the names of a metric and its tags to ids. `metric`: nullopt or "*" = any metric.
/// NotFound: an unknown name. InvalidArgument: an empty name, or a tag without key and value.
Result<SeriesWanted> ResolveSeries(const std::optional<std::string>& metric,
                                   const std::vector<TagWish>& tags, uid::Names& names,
                                   RequestContext& context);

/// Calls `visit` with the TSUID of each series, in the order of TSUID bytes, until `visit` returns
/// false or an error.
Status VisitSeries(const SeriesWanted& wanted, Points& points,
                   const std::function<Result<bool>(ByteView tsuid)>& visit,
                   RequestContext& context);

}  // namespace hg::http
