#pragma once
// Newest points (spec query.md §10.2; OpenTSDB class TSUIDQuery).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"

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
  // With resolve_names; names are stored bytes.
  std::optional<Bytes> metric;
  std::vector<std::pair<Bytes, Bytes>> tags;
};

}  // namespace hg::query
