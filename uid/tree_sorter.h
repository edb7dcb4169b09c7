#pragma once
// Adds series to the trees when the TSMeta objects of the series are first stored
// (opentsdb-schema.md §14.3, §15).

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

/// Adds new series to the trees. Thread-safe. Calls block on the store.
class TreeSorter {
 public:
  /// `store`, `metadata` and `clock` must outlive the object.
  TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table);

  /// Adds a series to all trees. Call this function after the TSMeta object of the series was
  /// stored. The list of trees is read at most once in five minutes, so a new tree may get no
  /// series for up to five minutes. A tree is skipped without an error if its rules fail for the
  /// series, or if its rules take too much work. If the request ends, its error is returned, and
  /// the series is not added to the remaining trees; `tsdb uid treesync` adds the series later.
  Status Sort(const Bytes& tsuid, RequestContext& context);

 private:
  struct EnabledTrees {
    std::vector<Tree> trees;
    IdDetail detail = IdDetail::kNames;  // the metadata that the rules of the trees need
  };
  Result<std::shared_ptr<const EnabledTrees>> Enabled();

  Metadata& metadata_;
  const Clock& clock_;
  TreeStore store_;
  std::mutex mutex_;  // guards the following members
  std::shared_ptr<const EnabledTrees> trees_;
  int64_t read_ms_ = 0;
};

}  // namespace hg::uid
