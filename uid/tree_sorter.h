#pragma once
// Adds series to the trees when the TSMeta objects of the series are first stored
// (opentsdb-schema.md §14.3, §15).

#include <condition_variable>
#include <functional>
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

/// Default maximum memory of the rules of all enabled trees, in bytes. A rule of usual length takes
/// less than 1 KiB, so this is enough for more than ten thousand rules.
inline constexpr int64_t kTreesBytesMax = 16 << 20;

/// The enabled trees that a TreeSorter does not use, because they need too much memory.
struct LeftOutTrees {
  int32_t first_id = 0;  // lowest id of these trees
  size_t count = 0;
};

struct TreeSorterOptions {
  /// Maximum memory of the rules that the sorter keeps. Reading one tree may need twice as much.
  int64_t bytes_max = kTreesBytesMax;
  /// If trees are left out, this function is called after each time that the list of trees was
  /// read. It may be empty.
  std::function<void(const LeftOutTrees&)> warn = {};
};

/// Adds new series to the trees. Thread-safe. Calls block on the store.
class TreeSorter {
 public:
  /// `store`, `metadata` and `clock` must outlive the object.
  TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table,
             TreeSorterOptions options = {});

  /// Adds a series to all trees. Call this function after the TSMeta object of the series was
  /// stored. The list of trees is read at most once in five minutes, so a new tree may get no
  /// series for up to five minutes. One request reads the list for all requests, and its limits
  /// apply. A tree is left out if its rules, together with the rules of the trees before it, need
  /// more than TreeSorterOptions::bytes_max. A tree is skipped without an error if its rules fail
  /// for the series, or if its rules take too much work. If the request ends, its error is
  /// returned, and the series is not added to the remaining trees; `tsdb uid treesync` adds the
  /// series later.
  Status Sort(const Bytes& tsuid, RequestContext& context);

 private:
  struct EnabledTrees {
    std::vector<Tree> trees;
    IdDetail detail = IdDetail::kNames;  // the metadata that the rules of the trees need
  };
  Result<std::shared_ptr<const EnabledTrees>> Enabled(RequestContext& context);
  Result<std::shared_ptr<const EnabledTrees>> Read(RequestContext& context);

  Metadata& metadata_;
  const Clock& clock_;
  TreeStore store_;
  const TreeSorterOptions options_;
  std::mutex mutex_;                 // guards the following members
  std::condition_variable changed_;  // `reading_` became false
  bool reading_ = false;             // a thread reads the list without holding the mutex
  std::shared_ptr<const EnabledTrees> trees_;
  int64_t read_ms_ = 0;
};

}  // namespace hg::uid
