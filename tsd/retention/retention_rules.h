#pragma once
// Retention rules: a JSON document (tsd.retention.config, docs/retention.md) with an array of
//   {"metric": "sys.*", "tags": {"host": "wildcard(test*)"}, "keep": "30d"}

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// One rule. If several rules match a series, the shortest time applies.
struct RetentionRule {
  std::string metric;  // the metric, or its prefix if `begins` is set
  bool begins = false;
  std::vector<query::FilterSpec>
      filters;  // query filters that a series must pass; empty: the rule applies to all series
  int64_t keep_ms = 0;  // at least one hour
};

/// Parses the rules. The message of InvalidArgument has the number of the rule (counted from 1) and
/// its error.
Result<std::vector<RetentionRule>> ParseRetentionRules(std::string_view json);
/// Reads the rules from the file `source`, or from `source` itself if it begins with '['. "" = no
/// rules.
Result<std::vector<RetentionRule>> ReadRetentionRules(const std::string& source);

}  // namespace hg::tsd
