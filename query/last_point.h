#pragma once
// Finds the newest points of series (opentsdb-queries.md §10.2; OpenTSDB class TSUIDQuery).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/request/options.h"
#include "query/request/side_by_side.h"
#include "query/series/name_memo.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// One sub-query for newest points, as the client wrote it. All texts are UTF-8.
struct LastPointSubQuery {
  std::optional<std::string> metric;
  std::vector<std::pair<std::string, std::string>> tags;
  /// TSUIDs in hexadecimal. If the list is not empty, `metric` and `tags` are ignored.
  std::vector<std::string> tsuids;
};

struct LastPointQuery {
  std::vector<LastPointSubQuery> queries;
  bool resolve_names = false;
  /// How many hours before the current hour are searched; not negative (see FindLastPoints).
  int64_t back_scan_hours = 0;
};

/// The newest point of one series.
struct LastPoint {
  int64_t time_ms = 0;
  uint64_t bits = 0;
  bool is_double = false;
  Bytes tsuid;
  /// The names of the series in UTF-8.
  struct Names {
    Bytes metric;
    std::vector<std::pair<Bytes, Bytes>> tags;
  };
  /// Set only if resolve_names is set. The results for repeats of a series share the names, which
  /// may be very long.
  std::shared_ptr<const Names> names;
};

/// Returns the newest point of each requested series, in the order of the request. Series without a
/// point are left out. If query.back_scan_hours is positive, the function searches the hour of
/// `now_ms` and this number of hours before it. If back_scan_hours is 0 and the meta table tracks
/// series, the function searches only the hour in which a series was last written according to the
/// meta table. If back_scan_hours is 0 and nothing is tracked, only TSUIDs are searched, in the
/// hour of `now_ms`. Searches for many series run on several threads through `side_by_side`.
///
/// NotFound or InvalidArgument: a name, a tag or a TSUID is unknown or invalid. Also returns the
/// errors of `watch`, which may be nullptr. The memory of the result stays charged to `watch`;
/// working memory is charged only until the call returns.
Result<std::vector<LastPoint>> FindLastPoints(const LastPointQuery& query, const Options& options,
                                              int64_t now_ms, Points* points, Store* cells,
                                              NameMemo* names, const SideBySide& side_by_side,
                                              RequestContext* watch);

}  // namespace hg::query
