#pragma once
// Rollups that were made of a store's points once, and are not by this process: what they tell of
// points that are deleted for their age meanwhile stays, and is final, as if they went on.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "storage/base/status.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// One thread.
class EndedRollups {
 public:
  /// Of the table of their RollupState, which exists. The store outlives it.
  static Result<std::unique_ptr<EndedRollups>> Open(Store& store, const std::string& table);

  /// As RollupState::KeepBefore, but whole days of points go whatever was made of them. Only days
  /// that were rolled up are kept; of others later rollups are made of what is left.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);

 private:
  EndedRollups(Store& store, const std::string& table) : table_(store, table) {}

  RollupStateRows table_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  uint32_t whole_ = 0;         // whole days in all levels that were made last; 0: in none
  std::vector<Bytes> places_;  // theirs
  bool complete_ = false;
  std::set<Bytes, std::less<>> filled_;  // else of these metrics
};

}  // namespace hg::tsd
