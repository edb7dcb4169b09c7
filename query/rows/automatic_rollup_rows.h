#pragma once
// Reads the rows of a sub-query from automatic rollups (docs/rollups.md), and hours without rollups
// from raw points. The result is the same as if only raw points were read.

#include <cstdint>
#include <memory>
#include <optional>

#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/status.h"

namespace hg::query {

/// The state of automatic rollups and of retention at the time when a sub-query was planned. Not
/// thread-safe.
class AutomaticRollups {
 public:
  explicit AutomaticRollups(SubQueryPlan* plan) : plan_(*plan) {}

  /// Stores the current state of the rollups, and opens a source of rows. Returns nullptr if no
  /// hour can be read from rollups, or if rollups and raw points would alternate too often. The
  /// source must not outlive `plan`, which was passed to the constructor. Read of the returned
  /// source fails with Conflict if the buckets do not start at rollup intervals.
  Result<std::unique_ptr<RowSource>> Open();
  /// Returns true if retention or rollups have changed since Open so that the rows that were read
  /// may be incomplete. This is so in two cases. Either retention has deleted raw points and kept
  /// only their rollups, or all rollups are being computed again. In both cases, the caller must
  /// discard the rows that it has read.
  [[nodiscard]] bool Changed() const;

 private:
  SubQueryPlan& plan_;
  // The value of RolledHours::kept_before_s at the last call of Open; nullopt: the sub-query cannot
  // use rollups.
  std::optional<uint32_t> kept_before_s_;
  uint64_t times_forgotten_ = 0;  // value of RolledHours::times_forgotten at the last call of Open
};

}  // namespace hg::query
