#pragma once
// Sorts series into the trees as their TSMeta objects are first stored (spec schema.md §14.3, §15).

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "uid/metadata.h"
#include "uid/tree_store.h"

namespace hg::uid {

/// Thread-safe. Blocks on the store.
class TreeSorter {
 public:
  /// All outlive the object.
  TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table);

  /// The object of this series was stored. The list of trees is read at most every five minutes: a
  /// tree made later takes no series meanwhile.
  Status Sort(const Bytes& tsuid);

 private:
  using Trees = std::shared_ptr<const std::vector<Tree>>;
  Result<Trees> EnabledTrees();

  Metadata& metadata_;
  const Clock& clock_;
  TreeStore store_;
  std::mutex mutex_;  // guards what follows
  Trees trees_;
  int64_t read_ms_ = 0;
};

}  // namespace hg::uid
