#pragma once
// The series that a metric and words about tags mean, from our own index: what lookup and tag
// counts have in common (spec query.md §10.3).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "http/wire/series_expression.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "uid/names.h"

namespace hg::http {

/// Names resolved.
struct SeriesWanted {
  Bytes metric;  // "" = any
  SeriesMatcher matcher;
  // One of them must occur under some key; sorted; empty = no such condition.
  std::vector<Bytes> values;
};

/// metric: none or "*" = any. NotFound: an unknown name. InvalidArgument: an empty one, or a
/// condition that says nothing.
Result<SeriesWanted> ResolveSeries(const std::optional<std::string>& metric,
                                   const std::vector<TagWish>& tags, uid::Names& names);

/// Calls visit with the TSUID of each, until it returns false. Order: TSUID bytes.
Status VisitSeries(const SeriesWanted& wanted, Points& points,
                   const std::function<bool(ByteView tsuid)>& visit);

}  // namespace hg::http
