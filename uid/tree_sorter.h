#pragma once
// Adds series to the trees when their TSMeta objects are stored for the first time
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

/// The default maximum memory of the rules of all enabled trees, in bytes. A rule of usual length
/// takes less than 1 KiB, so this memory is enough for more than ten thousand rules.
inline constexpr int64_t kTreesBytesMax = 16 << 20;

/// The enabled trees that a TreeSorter does not use, because their rules need too much memory.
struct LeftOutTrees {
  int32_t first_id = 0;  // lowest id of these trees
  size_t count = 0;
};

struct TreeSorterOptions {
  /// The maximum memory of the rules that the TreeSorter keeps, in bytes. Reading one tree may need
  /// up to twice this memory for a short time.
  int64_t bytes_max = kTreesBytesMax;
  /// If trees are left out, this function is called after each time that the list of trees was
  /// read. The function may be empty.
  std::function<void(const LeftOutTrees&)> warn = {};
};

/// Adds new series to the trees. Thread-safe. Calls block on the store.
class TreeSorter {
 public:
  /// `store`, `metadata` and `clock` must outlive the object.
  TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table,
             TreeSorterOptions options = {});

  /// Adds a series to all enabled trees. Call this function after the TSMeta object of the series
  /// was stored.
  ///
  /// The list of trees is read at most once in five minutes, so a new tree may get no series for up
  /// to five minutes. The request that reads the list reads it for all requests, and the limits of
  /// this request apply. A tree is left out of the list if its rules, together with the rules of
  /// the trees before it, need more than TreeSorterOptions::bytes_max.
  ///
  /// If the rules of a tree fail for the series, or if they take too much work, the tree is skipped
  /// without an error. If the request ends, Sort returns the error of the request and does not add
  /// the series to the remaining trees; `tsdb uid treesync` adds the series later.
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
  std::mutex mutex_;                 // guards all following members
  std::condition_variable changed_;  // notified when reading_ becomes false
  bool reading_ = false;  // whether a thread is reading the list; it does not hold mutex_
  std::shared_ptr<const EnabledTrees> trees_;
  int64_t read_ms_ = 0;
};

}  // namespace hg::uid
