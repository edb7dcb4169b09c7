#pragma once
// The configured rollups and their tables (opentsdb-schema.md §13.1), as read from
// tsd.rollups.config. The values are already validated.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/codec/rollup.h"

namespace hg::codec {

/// One configured rollup interval and its tables.
struct RollupLevel {
  std::string name;  // as configured, such as "1h"
  std::string table;
  std::string pre_aggregate_table;
  RollupInterval interval;
  bool is_default = false;  // whether the level is the interval of raw data
  // The number of seconds for which the newest rollups may be missing. 0 means that rollups are
  // never missing.
  int64_t delay_s = 0;
};

struct RollupTables {
  std::map<std::string, uint8_t, std::less<>> aggregator_ids;  // key: aggregator name in lower case
  std::vector<RollupLevel> levels;                             // exactly one level is the default

  /// Returns the rollup level with that name, or nullptr if there is none.
  [[nodiscard]] const RollupLevel* Find(std::string_view name) const {
    for (const RollupLevel& level : levels)
      if (level.name == name) return &level;
    return nullptr;
  }
  [[nodiscard]] const RollupLevel& Default() const {
    for (const RollupLevel& level : levels)
      if (level.is_default) return level;
    return levels.front();
  }
};

}  // namespace hg::codec
