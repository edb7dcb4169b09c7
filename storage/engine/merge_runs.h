#pragma once
// Merges parts into new parts that contain each row once.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "storage/engine/run_set.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/version.h"

namespace hg::points {

/// A part and the key range of the region that uses it.
struct MergeInput {
  std::shared_ptr<const Run> run;
  Bytes start;
  Bytes stop;  // "" = no end
};

struct MergeTask {
  const Table* table = nullptr;
  std::vector<MergeInput> inputs;  // newest first, or parts of regions that have no row in common
  bool bottom = false;             // no older part has any of these rows
  int64_t now_ms = 0;
  /// Called between rows; an error ends the merge. It may block.
  std::function<Status()> between;
};

/// Input regions of a points table must belong to one salt bucket.
Status MergeRuns(const KeyLayout& layout, const MergeTask& task, RunSet* writer);

}  // namespace hg::points
