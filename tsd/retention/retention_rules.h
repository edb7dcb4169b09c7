#pragma once
// Retention rules (tsd.retention.config, docs/retention.md). The rules are a JSON array; an example
// of a rule is
//   {"metric": "sys.*", "tags": {"host": "wildcard(test*)"}, "keep": "30d"}

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// One retention rule. If several rules match a series, the rule with the shortest time applies.
struct RetentionRule {
  std::string metric;  // name of the metric; if `begins` is set, the start of the name
  bool begins = false;
  std::vector<query::FilterSpec>
      filters;  // query filters that must accept the series; empty: the rule applies to all series
  int64_t keep_ms = 0;  // time for which points are kept; at least one hour
};

/// Parses the rules. The message of InvalidArgument contains the number of the invalid rule
/// (counted from 1) and describes the error.
Result<std::vector<RetentionRule>> ParseRetentionRules(std::string_view json);
/// Reads the rules from the file with the path `source`. If `source` begins with '[', `source` is
/// not a path but the text of the rules. If `source` is "", there are no rules.
Result<std::vector<RetentionRule>> ReadRetentionRules(const std::string& source);

}  // namespace hg::tsd
