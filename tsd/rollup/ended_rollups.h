#pragma once
// Automatic rollups that an earlier process computed and this process does not continue. When
// retention deletes points, the rollups of these points are kept and become final. The same happens
// while automatic rollups are on.

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
  /// Opens the table with the state of these rollups (RollupState). The table must exist, and the
  /// store must outlive the object.
  static Result<std::unique_ptr<EndedRollups>> Open(Store& store, const std::string& table);

  /// Like RollupState::KeepBefore, but allows the caller to delete whole days of points even if
  /// they have no rollups. Existing rollups of these days are kept. For days without rollups,
  /// rollups may later be computed from the points that were not deleted.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);

 private:
  EndedRollups(Store& store, const std::string& table) : table_(store, table) {}

  RollupStateRows table_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  uint32_t whole_ = 0;         // all levels are complete before this day; 0: no day is complete
  std::vector<Bytes> places_;  // places of the levels (PlaceOf)
  bool complete_ = false;
  // The metrics whose rollups are complete. Used if complete_ is false.
  std::set<Bytes, std::less<>> filled_;
};

}  // namespace hg::tsd
