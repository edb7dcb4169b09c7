#pragma once
// How long points are kept: a JSON document (tsd.retention.config, docs/retention.md), an array of
//   {"metric": "sys.*", "tags": {"host": "wildcard(test*)"}, "keep": "30d"}

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// Where several match a series, the shortest counts.
struct RetentionRule {
  std::string metric;  // what its names are, or what they begin with
  bool begins = false;
  std::vector<query::FilterSpec> filters;  // that it must pass, as those of a query; none: all do
  int64_t keep_ms = 0;                     // at least an hour
};

/// InvalidArgument says which rule, counted from 1, is wrong in what.
Result<std::vector<RetentionRule>> ParseRetentionRules(std::string_view json);
/// Of the file `source`, or of `source` itself if it begins with '['. "" = none.
Result<std::vector<RetentionRule>> ReadRetentionRules(const std::string& source);

}  // namespace hg::tsd
