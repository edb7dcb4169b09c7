#pragma once
// Rollups that were made of a store's points once, and are not by this process: what they tell of
// points that are deleted for their age meanwhile stays, and is final, as if they went on.

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/base/status.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// One thread.
class EndedRollups {
 public:
  /// Of the table of their RollupState, which exists. The store outlives it.
  static Result<std::unique_ptr<EndedRollups>> Open(Store& store, const std::string& table);

  /// As RollupState::KeepBefore, whatever was made: of points that no rollups were made of nothing
  /// is left.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);

 private:
  EndedRollups(Store& store, const std::string& table) : table_(store, table) {}

  RollupStateRows table_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  std::vector<Bytes> places_;  // of the levels that were made last
};

}  // namespace hg::tsd
