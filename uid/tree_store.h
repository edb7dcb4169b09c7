#pragma once
// Reads and writes the table tsdb-tree (opentsdb-schema.md §15). The table contains the
// definitions, rules, branches and leaves of trees, and the series that could not be placed in a
// tree.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/store.h"
#include "uid/metadata.h"
#include "uid/tree.h"

namespace hg::uid {

/// The series that could not be placed in a tree. The key is the TSUID of the series in bytes. The
/// value is the reason: either the TSUID of the series that already has the same leaf, or a text
/// that says why no rule matched.
using TreeFailures = std::map<Bytes, std::string>;

enum class TreeFailure { kCollision, kNotMatched };

/// Returns whether TreeStore::Sort failed because the rules of a tree do not fit a series, not
/// because the store failed. Other series can still be sorted.
inline bool RulesRefuse(const Status& sorted) {
  return sorted.code() == StatusCode::kLimitExceeded ||
         sorted.code() == StatusCode::kInvalidArgument || sorted.code() == StatusCode::kUnsupported;
}

/// Reads and writes trees. Thread-safe. The object has no state of its own, so callers may create
/// it for each use. Calls block on the store. Each call charges its work to `context`, and returns
/// the errors of `context`. The memory of results stays charged to `context`. Writes return
/// LimitExceeded if a new definition or rule is larger than kObjectBytesMax.
class TreeStore {
 public:
  /// `store` must outlive the object.
  TreeStore(Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  /// Returns the tree with this id, including its rules. Returns NotFound if the tree does not
  /// exist; the message is "Unable to locate tree: 9".
  Result<Tree> Find(int32_t id, RequestContext& context);
  /// Returns the tree with this id, including its rules, if the tree exists and is enabled.
  /// Otherwise returns nullopt, and does not read the rules.
  Result<std::optional<Tree>> FindEnabled(int32_t id, RequestContext& context);
  /// Returns all trees with their rules, ordered by id.
  Result<std::vector<Tree>> List(RequestContext& context);
  /// Calls `visit` with the id of each tree, in ascending order. If a tree was deleted but other
  /// cells are left in its row, `visit` is called for its id as well. If `visit` returns an error,
  /// VisitIds stops and returns this error.
  Status VisitIds(RequestContext& context, const std::function<Status(int32_t id)>& visit);
  /// Stores the definition of a new tree under the next free id, and returns the tree with its id.
  /// Returns InvalidArgument if all ids are used.
  Result<Tree> Create(Tree tree, RequestContext& context);
  // Update and UpdateRule change objects by compare-and-set. If another writer has changed an
  // object, they read the object again and retry. They return Conflict if other writers changed the
  // object during each of kWriteAttempts attempts.

  /// Reads the definition of a tree, changes it with `edit`, and stores it. The rules of the tree
  /// do not change. `edit` may be called several times, each time with a newly read definition.
  /// Returns NotFound if the tree does not exist.
  Result<Tree> Update(int32_t id, const std::function<void(Tree*)>& edit, RequestContext& context);
  /// Deletes the branches, leaves and failures of a tree. If `definition` is true, also deletes the
  /// definition and the rules of the tree. They are deleted last, so that an interrupted call can
  /// be repeated.
  Status Purge(int32_t id, bool definition, RequestContext& context);

  /// Changes the rule with the tree id, level and order of `place`. `edit` gets the stored rule, or
  /// nullptr if there is no rule at this position. `edit` returns the rule to store, or nullopt to
  /// change nothing. It may be called several times. If `edit` fails, UpdateRule returns its error.
  Result<std::optional<TreeRule>> UpdateRule(
      const TreeRule& place,
      const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit,
      RequestContext& context);
  /// Replaces all rules in `tree.rules` by `rules` in one write. No two elements of `rules` may
  /// have the same level and order. Rules that other writers added after `tree` was read are not
  /// deleted.
  Status ReplaceRules(const Tree& tree, const std::vector<TreeRule>& rules,
                      RequestContext& context);
  Status DeleteRule(const TreeRule& rule, RequestContext& context);

  /// Returns the branch with this row key, with its leaves and with the branches one level below.
  /// The branches one level below are returned without their leaves. Returns nullopt if no branch
  /// has this row key.
  Result<std::optional<TreeBranch>> FindBranch(const Bytes& key, RequestContext& context);
  /// Returns the stored failures of a tree. If `tsuids` is not empty, returns only the failures of
  /// the series in `tsuids`.
  Result<TreeFailures> Failures(int32_t id, TreeFailure kind, const std::vector<Bytes>& tsuids,
                                RequestContext& context);

  /// Places a series in a tree: stores the missing branches on its path, and its leaf. If the leaf
  /// already belongs to another series, the leaf stays unchanged. This collision is stored as a
  /// failure if `store_collisions` is true and the tree is configured to store failures. If the
  /// rules fail for the series, returns the errors of FindTreePath and stores only the root.
  Status Sort(const Tree& tree, const TsMeta& meta, bool store_collisions, RequestContext& context);

 private:
  Status AddChildren(const Bytes& key, TreeBranch* branch, RequestContext& context);

  Store& store_;
  const std::string table_;
};

}  // namespace hg::uid
