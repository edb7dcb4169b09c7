#pragma once
// Automatic rollups that an earlier process computed and that this process does not continue. When
// retention deletes points, it keeps the rollups of these points, which then become final.
// Retention also does so while automatic rollups are on.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "storage/base/status.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// The rollups of an earlier process. The object is not thread-safe.
class EndedRollups {
 public:
  /// Opens the table with the state of the rollups (RollupState). The table must exist, and the
  /// store must outlive the object.
  static Result<std::unique_ptr<EndedRollups>> Open(Store& store, const std::string& table);

  /// Returns the hour, at most `wanted`, before which the raw points of the metric may be deleted.
  /// Existing rollups of the deleted points are kept. Unlike RollupState::KeepBefore, this function
  /// also allows the deletion of whole days that have no rollups. The rollups of these days may
  /// later be computed, but only from points that were not deleted.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);

 private:
  EndedRollups(Store& store, const std::string& table) : table_(store, table) {}

  RollupStateRows table_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  /// Start of the day before which all levels are complete; 0: no day is complete.
  uint32_t whole_ = 0;
  std::vector<Bytes> places_;  // the result of PlaceOf for each level
  bool complete_ = false;
  // The metrics whose rollups are complete. This set is used only if complete_ is false.
  std::set<Bytes, std::less<>> filled_;
};

}  // namespace hg::tsd
