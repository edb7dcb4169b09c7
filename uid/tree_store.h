#pragma once
// Trees in the table tsdb-tree (opentsdb-schema.md §15): definitions, rules, branches, leaves, and
// series that could not be placed in a tree.

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

/// The series that could not be placed in a tree. The key is the TSUID of the series. The value is
/// the reason: the TSUID of the series that already has the same leaf, or why no rule matched.
using TreeFailures = std::map<Bytes, std::string>;

enum class TreeFailure { kCollision, kNotMatched };

/// Reads and writes trees. Thread-safe. The object has no state, so it can be created for each use.
/// Calls block on the store. Each call reports its work to `context` (RequestContext), and returns
/// the errors that `context` reports. The memory of results stays charged to `context`. Writes
/// return LimitExceeded if a new definition or rule is larger than kObjectBytesMax.
class TreeStore {
 public:
  /// `store` must outlive the object.
  TreeStore(Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  /// Returns the tree with its rules. Returns NotFound ("Unable to locate tree: 9") if the tree
  /// does not exist.
  Result<Tree> Find(int32_t id, RequestContext& context);
  /// Returns the tree with its rules if the tree exists and is enabled. Otherwise returns nullopt,
  /// and does not read the rules.
  Result<std::optional<Tree>> FindEnabled(int32_t id, RequestContext& context);
  /// Returns all trees with their rules, ordered by id.
  Result<std::vector<Tree>> List(RequestContext& context);
  /// Calls `visit` for the id of each tree, in ascending order. Also visits ids whose tree was
  /// deleted, if other cells of their row are left. An error of `visit` ends the call.
  Status VisitIds(RequestContext& context, const std::function<Status(int32_t id)>& visit);
  /// Stores the definition with the next free id. Returns InvalidArgument if all ids are used.
  Result<Tree> Create(Tree tree, RequestContext& context);
  // The following functions change objects by compare-and-set. If another writer has changed an
  // object, the functions read the object again and retry. They return Conflict if other writers
  // changed the object during each of many attempts.

  /// Reads the definition of a tree, changes it with `edit`, and stores it without rules. `edit`
  /// may be called several times, each time with a newly read definition. Returns NotFound if the
  /// tree does not exist.
  Result<Tree> Update(int32_t id, const std::function<void(Tree*)>& edit, RequestContext& context);
  /// Deletes the branches, leaves and failures of a tree. If `definition` is true, also deletes the
  /// tree and its rules. The tree and its rules are deleted last, so that an interrupted purge can
  /// be repeated.
  Status Purge(int32_t id, bool definition, RequestContext& context);

  /// Changes the rule at the level and order of `place`. `edit` gets the stored rule (nullptr if
  /// there is no rule), and returns the rule to store, or nullopt to change nothing. `edit` may be
  /// called several times. If `edit` fails, UpdateRule returns its error.
  Result<std::optional<TreeRule>> UpdateRule(
      const TreeRule& place,
      const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit,
      RequestContext& context);
  /// Replaces all rules of `tree` by `rules` in one write. The elements of `rules` must have
  /// different places. Rules that other writers have added after `tree` was read stay.
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

  /// Places a series in a tree: stores missing branches and the leaf. If the leaf already belongs
  /// to another series, the leaf stays unchanged. This collision is stored if `store_collisions` is
  /// true and the tree is configured to store failures. If the rules fail, returns the errors of
  /// FindTreePath and stores only the root.
  Status Sort(const Tree& tree, const TsMeta& meta, bool store_collisions, RequestContext& context);

 private:
  Status AddChildren(const Bytes& key, TreeBranch* branch, RequestContext& context);

  Store& store_;
  const std::string table_;
};

}  // namespace hg::uid
