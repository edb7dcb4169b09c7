#pragma once
// Merges several parts into new parts that contain each row once.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "storage/engine/part_set.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/version.h"

namespace hg::engine {

/// An input part of a merge, and the key range of the region that uses the part.
struct MergeInput {
  std::shared_ptr<const Part> part;
  Bytes start;
  Bytes stop;  // "" = no end of the key range
};

struct MergeTask {
  const Table* table = nullptr;
  // The inputs, newest first. Parts of different regions that have no row in common may be in any
  // order.
  std::vector<MergeInput> inputs;
  // Whether no part older than the inputs has any of their rows, so that the merge can drop
  // tombstones.
  bool bottom = false;
  int64_t now_ms = 0;  // the time that decides which data has expired
  /// A function that the merge calls at least once per row. It must be set, and may block. If it
  /// returns an error, the merge ends with this error.
  std::function<Status()> between;
};

/// Writes the merged rows of all inputs to `writer`, without PartSet::Finish. In a points table,
/// all input regions must belong to one salt bucket. Returns Corruption if an input is damaged.
Status MergeParts(const KeyLayout& layout, const MergeTask& task, PartSet* writer);

}  // namespace hg::engine
