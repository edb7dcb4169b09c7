#pragma once
// Finds the newest points of series (opentsdb-queries.md §10.2; OpenTSDB class TSUIDQuery).

#include <cstdint>
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

/// One sub-query as the client wrote it. All texts are UTF-8.
struct LastPointSubQuery {
  std::optional<std::string> metric;
  std::vector<std::pair<std::string, std::string>> tags;
  /// TSUIDs in hexadecimal; if there are any, metric and tags are ignored.
  std::vector<std::string> tsuids;
};

struct LastPointQuery {
  std::vector<LastPointSubQuery> queries;
  bool resolve_names = false;
  int64_t back_scan_hours = 0;  // number of hours to search for a point; not negative
};

/// The newest point of one series.
struct LastPoint {
  int64_t time_ms = 0;
  uint64_t bits = 0;
  bool is_double = false;
  Bytes tsuid;
  // The names of the series in UTF-8. They are set only if resolve_names is set.
  std::optional<Bytes> metric;
  std::vector<std::pair<Bytes, Bytes>> tags;
};

/// Returns the newest point of each requested series, in the order of the request. Series without a
/// point are left out. If the meta table does not have the time of a series' newest point, the
/// function searches the hours before `now_ms`. It searches on several threads through
/// `side_by_side` if there are many metrics and hours.
///
/// NotFound or InvalidArgument: a name, a tag or a TSUID is unknown or invalid. Also fails if
/// `watch` reports an error. `watch` may be nullptr. The memory of the result stays charged to
/// `watch`; working memory is charged only until the call returns.
Result<std::vector<LastPoint>> FindLastPoints(const LastPointQuery& query, const Options& options,
                                              int64_t now_ms, Points* points, Store* cells,
                                              NameMemo* names, const SideBySide& side_by_side,
                                              RequestContext* watch);

}  // namespace hg::query
