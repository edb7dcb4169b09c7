#pragma once
// Reads a sub-query from automatic rollups (docs/rollups.md). Hours without rollups are read from
// raw points. The result is the same as if only raw points were read.

#include <cstdint>
#include <memory>
#include <optional>

#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/status.h"

namespace hg::query {

/// Remembers the state of automatic rollups and of retention at the time when a sub-query was
/// planned. The object is not thread-safe.
class AutomaticRollups {
 public:
  explicit AutomaticRollups(SubQueryPlan* plan) : plan_(*plan) {}

  /// Stores the current state of the rollups, and opens a source of rows. Returns nullptr if no
  /// hour can be read from rollups. Read of the returned source fails with Conflict if the buckets
  /// do not start at rollup intervals.
  Result<std::unique_ptr<RowSource>> Open();
  /// Returns true if rows that the sub-query planned to read at Open may be missing now. The reason
  /// is either that retention has deleted raw points and kept only their rollups, or that all
  /// rollups are being computed again. In these cases the caller must discard the rows that it has
  /// read.
  [[nodiscard]] bool Changed() const;

 private:
  SubQueryPlan& plan_;
  // The value of RolledHours::kept_before_s at Open; nullopt: the sub-query cannot use rollups.
  std::optional<uint32_t> kept_before_s_;
  uint64_t times_forgotten_ = 0;  // value of RolledHours::times_forgotten at Open
};

}  // namespace hg::query
