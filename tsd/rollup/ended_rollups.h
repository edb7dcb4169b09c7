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

  /// Returns the hour before which points may be deleted, in the same way as
  /// RollupState::KeepBefore. The difference is that this function allows whole days of points to
  /// be deleted even if they have no rollups. Existing rollups of these days are kept. For days
  /// without rollups, rollups may later be computed from the points that were not deleted.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);

 private:
  EndedRollups(Store& store, const std::string& table) : table_(store, table) {}

  RollupStateRows table_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  /// Start of the day before which all levels are complete; 0: no day is complete.
  uint32_t whole_ = 0;
  std::vector<Bytes> places_;  // the places of the levels (see PlaceOf)
  bool complete_ = false;
  // The metrics whose rollups are complete. This set is used only if complete_ is false.
  std::set<Bytes, std::less<>> filled_;
};

}  // namespace hg::tsd
