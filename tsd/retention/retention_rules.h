#pragma once
// Retention rules: a JSON document (tsd.retention.config, docs/retention.md) with an array of
//   {"metric": "sys.*", "tags": {"host": "wildcard(test*)"}, "keep": "30d"}

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// If several rules match a series, the shortest time counts.
struct RetentionRule {
  std::string metric;  // the metric, or its prefix if `begins` is set
  bool begins = false;
  std::vector<query::FilterSpec>
      filters;          // query filters that a series must pass; none: all series
  int64_t keep_ms = 0;  // at least one hour
};

/// InvalidArgument says which rule (counted from 1) has which error.
Result<std::vector<RetentionRule>> ParseRetentionRules(std::string_view json);
/// Reads the rules from the file `source`, or from `source` itself if it begins with '['. "" = no
/// rules.
Result<std::vector<RetentionRule>> ReadRetentionRules(const std::string& source);

}  // namespace hg::tsd
