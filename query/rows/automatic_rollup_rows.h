#pragma once
// Reads a sub-query from automatic rollups (docs/rollups.md) and, for hours without rollups, from
// raw points. The result is the same as from raw points only.

#include <cstdint>
#include <memory>
#include <optional>

#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/status.h"

namespace hg::query {

/// Remembers the state of automatic rollups and retention at the time when a sub-query was planned.
/// Not thread-safe.
class AutomaticRollups {
 public:
  explicit AutomaticRollups(SubQueryPlan* plan) : plan_(*plan) {}

  /// Stores the current state. Returns nullptr if no hour can be read from rollups. The Read of the
  /// result returns Conflict if the buckets do not start at rollup intervals.
  Result<std::unique_ptr<RowSource>> Open();
  /// Returns whether rows that the sub-query planned to read at Open may be missing now, because
  /// retention has deleted raw points and kept only their rollups, or because all rollups are being
  /// computed again. If true, the caller must discard the rows that it has read.
  [[nodiscard]] bool Changed() const;

 private:
  SubQueryPlan& plan_;
  // RolledHours::kept_before_s at Open; nullopt: the sub-query cannot use rollups.
  std::optional<uint32_t> kept_before_s_;
  uint64_t times_forgotten_ = 0;  // RolledHours::times_forgotten at Open
};

}  // namespace hg::query
