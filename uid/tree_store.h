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

/// Maps the TSUID of a series that was not placed to the series that already has its place, or to
/// the reason why no rule matched.
using TreeFailures = std::map<Bytes, std::string>;

enum class TreeFailure { kCollision, kNotMatched };

/// Thread-safe. Creating an object costs nothing. Calls block on the store. Each call counts its
/// work in `context` and fails with its errors. Results stay charged to the context. LimitExceeded:
/// a new definition or rule is larger than kObjectBytesMax.
class TreeStore {
 public:
  /// `store` must outlive the object.
  TreeStore(Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  /// Returns the tree with its rules. NotFound: "Unable to locate tree: 9".
  Result<Tree> Find(int32_t id, RequestContext& context);
  /// Returns all trees with their rules, ordered by id.
  Result<std::vector<Tree>> List(RequestContext& context);
  /// Stores the definition under the next id. InvalidArgument: all ids are used.
  Result<Tree> Create(Tree tree, RequestContext& context);
  // Changes use compare-and-set against what was read, and are retried after a change by another
  // writer. Conflict: too many lost races.

  /// Stores the definition, without rules, as `edit` changes it. `edit` is called once per attempt.
  /// NotFound as in Find.
  Result<Tree> Update(int32_t id, const std::function<void(Tree*)>& edit, RequestContext& context);
  /// Deletes branches, leaves and failures; with `definition` also the tree and its rules.
  Status Purge(int32_t id, bool definition, RequestContext& context);

  /// Stores the rule that `edit` returns for the stored rule at the position of `place`. `edit`
  /// gets nullptr if there is no rule. It returns nullopt to change nothing. Its error is returned.
  Result<std::optional<TreeRule>> UpdateRule(
      const TreeRule& place,
      const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit,
      RequestContext& context);
  Status DeleteRules(const std::vector<TreeRule>& rules, RequestContext& context);

  /// Returns the branch of a row with its leaves, and the branches one level below it without
  /// leaves. Returns nullopt if there is no such branch.
  Result<std::optional<TreeBranch>> FindBranch(const Bytes& key, RequestContext& context);
  /// Returns the stored failures of a tree: all, or those of `tsuids`.
  Result<TreeFailures> Failures(int32_t id, TreeFailure kind, const std::vector<Bytes>& tsuids,
                                RequestContext& context);

  /// Places a series: stores missing branches and the leaf. If another series has the place, it
  /// keeps it. The collision is recorded if `store_collisions` is set and the tree is configured to
  /// store failures. If the rules fail, errors are those of FindTreePath, and only the root is
  /// stored.
  Status Sort(const Tree& tree, const TsMeta& meta, bool store_collisions, RequestContext& context);

 private:
  Status AddChildren(const Bytes& key, TreeBranch* branch, RequestContext& context);

  Store& store_;
  const std::string table_;
};

}  // namespace hg::uid
