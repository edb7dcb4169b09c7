#pragma once
// Rollups of a store's points that this process does not continue. When points are deleted by age,
// their rollups stay and become final, as if rollups were still made.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "storage/base/status.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// Not thread-safe.
class EndedRollups {
 public:
  /// Opens the table of their RollupState, which must exist. The store must outlive the object.
  static Result<std::unique_ptr<EndedRollups>> Open(Store& store, const std::string& table);

  /// Like RollupState::KeepBefore, but lets the caller delete whole days of points whether or not
  /// they have rollups. Existing rollups of these days are kept. For other days, later rollups are
  /// computed from the remaining points.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);

 private:
  EndedRollups(Store& store, const std::string& table) : table_(store, table) {}

  RollupStateRows table_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  uint32_t whole_ = 0;         // before this day all levels are complete; 0: none
  std::vector<Bytes> places_;  // places of the levels (PlaceOf)
  bool complete_ = false;
  std::set<Bytes, std::less<>> filled_;  // if not complete_: the metrics that are complete
};

}  // namespace hg::tsd
