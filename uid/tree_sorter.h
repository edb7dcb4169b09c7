#pragma once
// Adds series to the trees when their TSMeta objects are first stored (opentsdb-schema.md §14.3,
// §15).

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/clock.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/metadata.h"
#include "uid/tree_store.h"

namespace hg::uid {

/// Thread-safe. Calls block on the store.
class TreeSorter {
 public:
  /// All references must outlive the object.
  TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table);

  /// Call this function after the object of a series was stored. The list of trees is read at most
  /// once in five minutes, so a new tree gets series only after that. A tree is skipped without an
  /// error if its rules fail for the series or take more than its share of the work that one series
  /// may cause. If the request ends, its error is returned and the remaining trees do not get the
  /// series (`tsdb uid treesync` adds it later).
  Status Sort(const Bytes& tsuid, RequestContext& context);

 private:
  struct EnabledTrees {
    std::vector<Tree> trees;
    IdDetail detail = IdDetail::kNames;  // what the rules of these trees read
  };
  Result<std::shared_ptr<const EnabledTrees>> Enabled();

  Metadata& metadata_;
  const Clock& clock_;
  TreeStore store_;
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<const EnabledTrees> trees_;
  int64_t read_ms_ = 0;
};

}  // namespace hg::uid
