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

/// One rule. If several rules match a series, the one with the shortest time applies.
struct RetentionRule {
  std::string metric;  // the metric, or its prefix if `begins` is set
  bool begins = false;
  std::vector<query::FilterSpec>
      filters;  // query filters that a series must pass; empty: the rule applies to all series
  int64_t keep_ms = 0;  // at least one hour
};

/// Parses the rules. The message of InvalidArgument has the number of the wrong rule (counted from
/// 1) and describes the error.
Result<std::vector<RetentionRule>> ParseRetentionRules(std::string_view json);
/// Reads the rules from the file with the path `source`. If `source` begins with '[', it is not a
/// path but contains the rules. "" = no rules.
Result<std::vector<RetentionRule>> ReadRetentionRules(const std::string& source);

}  // namespace hg::tsd
