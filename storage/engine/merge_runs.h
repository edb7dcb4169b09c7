#pragma once
// What a merge of runs writes: each row once, the merge of its parts (engine.md §6).

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "storage/engine/run_set.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/version.h"

namespace hg::points {

/// A run and the keys of the region that has it.
struct MergeInput {
  std::shared_ptr<const Run> run;
  Bytes start;
  Bytes stop;  // "" = open
};

struct MergeTask {
  const Table* table = nullptr;
  std::vector<MergeInput> inputs;  // newest first, or of regions that have no row in common
  bool bottom = false;             // no older part of any row exists
  int64_t now_ms = 0;
  /// Called between rows; a failure ends the merge. May wait.
  std::function<Status()> between;
};

/// Regions of a points table that come together here are of one salt bucket.
Status MergeRuns(const KeyLayout& layout, const MergeTask& task, RunSet* writer);

}  // namespace hg::points
