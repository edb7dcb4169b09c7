#pragma once
// Newest points (spec query.md §10.2; OpenTSDB class TSUIDQuery).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/name_memo.h"
#include "query/options.h"
#include "query/side_by_side.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// Texts as the client wrote them, UTF-8.
struct LastPointSubQuery {
  std::optional<std::string> metric;
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<std::string> tsuids;  // hex; not empty: metric and tags are not looked at
};

struct LastPointQuery {
  std::vector<LastPointSubQuery> queries;
  bool resolve_names = false;
  int64_t back_scan_hours = 0;  // ≥ 0
};

/// One series' newest point.
struct LastPoint {
  int64_t time_ms = 0;
  uint64_t bits = 0;
  bool is_double = false;
  Bytes tsuid;
  // With resolve_names; names are UTF-8.
  std::optional<Bytes> metric;
  std::vector<std::pair<Bytes, Bytes>> tags;
};

/// Newest point of each series asked for, in the order of the request; series without one are left
/// out. `now_ms` decides the hour where the meta table does not. NotFound, InvalidArgument: names,
/// tags or TSUIDs that cannot be. Metrics and hours of many series are looked through
/// `side_by_side`. Else what `watch` says, if there is one; memory is charged to it
/// until the call returns.
Result<std::vector<LastPoint>> FindLastPoints(const LastPointQuery& query, const Options& options,
                                              int64_t now_ms, Points* points, Store* cells,
                                              NameMemo* names, const SideBySide& side_by_side,
                                              WorkWatch* watch);

}  // namespace hg::query
