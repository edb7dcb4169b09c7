#pragma once
// Trees in the table tsdb-tree (spec schema.md §15): definitions, rules, branches, leaves, and the
// series that went wrong.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/store.h"
#include "uid/metadata.h"
#include "uid/tree.h"

namespace hg::uid {

/// Of a series, by TSUID: the series that has its place, or why no rule took it.
using TreeFailures = std::map<Bytes, std::string>;

enum class TreeFailure { kCollision, kNotMatched };

/// Thread-safe, and made anew at no cost. Blocks on the store.
class TreeStore {
 public:
  /// `store` outlives the object.
  TreeStore(Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  /// With its rules. NotFound: "Unable to locate tree: 9".
  Result<Tree> Find(int32_t id);
  /// All, by id, with their rules.
  Result<std::vector<Tree>> List();
  /// Stores the definition under the next id. LimitExceeded: all ids are used.
  Result<Tree> Create(Tree tree);
  // Changes are compare-and-set against what was read, and made anew where another writer came
  // between. Conflict: others did so again and again.

  /// Stores the definition, not the rules, as `edit` leaves it; it is called once per try. NotFound
  /// as Find.
  Result<Tree> Update(int32_t id, const std::function<void(Tree*)>& edit);
  /// Branches, leaves and failures; with `definition` the tree and its rules, too.
  Status Purge(int32_t id, bool definition);

  /// Stores the rule that `edit` makes of the stored one (null: there is none) at the place of
  /// `place`; none: nothing is to be changed. Its error is given back.
  Result<std::optional<TreeRule>> UpdateRule(
      const TreeRule& place,
      const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit);
  Status DeleteRules(const std::vector<TreeRule>& rules);

  /// The branch of a row and those one level below it; only its own leaves. None: no such branch.
  Result<std::optional<TreeBranch>> FindBranch(const Bytes& key);
  /// Stored failures of a tree, all or those of `tsuids`.
  Result<TreeFailures> Failures(int32_t id, TreeFailure kind, const std::vector<Bytes>& tsuids);

  /// Sorts a series in: branches and leaf where they are missing. A place that another series has
  /// is kept by that series; with `store_collisions`, and if the tree wishes it, that is noted.
  Status Sort(const Tree& tree, const TsMeta& meta, bool store_collisions);

 private:
  Store& store_;
  const std::string table_;
};

}  // namespace hg::uid
