#pragma once
// Trees in the table tsdb-tree (opentsdb-schema.md §15): definitions, rules, branches, leaves, and
// series that could not be placed.

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

/// Key: the TSUID of a series that was not placed. Value: the reason, which is the TSUID of the
/// series that already has the same leaf, or why no rule matched.
using TreeFailures = std::map<Bytes, std::string>;

enum class TreeFailure { kCollision, kNotMatched };

/// Thread-safe. The object has no state, so it can be created for each use. Calls block on the
/// store. Each call reports its work to `context` and fails with errors of `context`. Results stay
/// charged to `context`. LimitExceeded: a new definition or rule is larger than kObjectBytesMax.
class TreeStore {
 public:
  /// `store` must outlive the object.
  TreeStore(Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  /// Returns the tree with its rules. NotFound: "Unable to locate tree: 9".
  Result<Tree> Find(int32_t id, RequestContext& context);
  /// Returns all trees with their rules, ordered by id.
  Result<std::vector<Tree>> List(RequestContext& context);
  /// Stores the definition with the next free id. InvalidArgument: all ids are used.
  Result<Tree> Create(Tree tree, RequestContext& context);
  // The following functions change objects by compare-and-set. If another writer has changed the
  // object, they read the object again and retry. Conflict: other writers changed the object during
  // each of many attempts.

  /// Reads the definition of a tree, changes it with `edit`, and stores it without rules. `edit`
  /// may be called several times, each time with a newly read definition. NotFound: the tree does
  /// not exist.
  Result<Tree> Update(int32_t id, const std::function<void(Tree*)>& edit, RequestContext& context);
  /// Deletes the branches, leaves and failures of a tree. With `definition`, also deletes the tree
  /// and its rules, after all else, so that an interrupted purge can be repeated.
  Status Purge(int32_t id, bool definition, RequestContext& context);

  /// Changes the rule at the level and order of `place`. `edit` gets the stored rule (nullptr if
  /// there is none), and returns the rule to store, or nullopt to change nothing. `edit` may be
  /// called several times. If `edit` fails, its error is returned.
  Result<std::optional<TreeRule>> UpdateRule(
      const TreeRule& place,
      const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit,
      RequestContext& context);
  /// Replaces all rules of `tree` by `rules`, which must have different places, in one write. Rules
  /// that others have added after `tree` was read stay.
  Status ReplaceRules(const Tree& tree, const std::vector<TreeRule>& rules,
                      RequestContext& context);
  Status DeleteRule(const TreeRule& rule, RequestContext& context);

  /// Returns the branch with this row key, with its leaves and with the branches one level below.
  /// These branches have no leaves in the result. Returns nullopt if there is no such branch.
  Result<std::optional<TreeBranch>> FindBranch(const Bytes& key, RequestContext& context);
  /// Returns the stored failures of a tree: all, or only those of the series in `tsuids`.
  Result<TreeFailures> Failures(int32_t id, TreeFailure kind, const std::vector<Bytes>& tsuids,
                                RequestContext& context);

  /// Places a series in a tree: stores missing branches and the leaf. If the leaf already belongs
  /// to another series, it stays unchanged. This collision is stored if `store_collisions` is set
  /// and the tree is configured to store failures. If the rules fail, errors are those of
  /// FindTreePath, and only the root is stored.
  Status Sort(const Tree& tree, const TsMeta& meta, bool store_collisions, RequestContext& context);

 private:
  Status AddChildren(const Bytes& key, TreeBranch* branch, RequestContext& context);

  Store& store_;
  const std::string table_;
};

}  // namespace hg::uid
