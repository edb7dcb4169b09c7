#include "uid/tree_store.h"

#include <algorithm>

#include "storage/for_each_row.h"
#include "storage/model/java_hash.h"
#include "uid/tree_path.h"

namespace hg::uid {
namespace {

const Bytes kFamily = "t";
const Bytes kTree = "tree";
const Bytes kRule = "tree_rule:";
const Bytes kBranch = "branch";
const Bytes kLeaf = "leaf:";
const Bytes kCollision = "tree_collision:";
const Bytes kNotMatched = "tree_not_matched:";
constexpr size_t kIdWidth = 2;
constexpr int kTries = 10;  // of a change that other writers come before
constexpr size_t kHashWidth = 4;

Bytes TreeKey(int32_t id) {
  Bytes key;
  AppendBig(&key, static_cast<uint64_t>(id), kIdWidth);
  return key;
}

Bytes RuleQualifier(const TreeRule& rule) {
  return kRule + std::to_string(rule.level) + ":" + std::to_string(rule.order);
}

const Cell* FindCell(const Row& row, const Bytes& qualifier) {
  for (const Cell& cell : row.cells)
    if (cell.qualifier == qualifier) return &cell;
  return nullptr;
}

/// None: the row is no definition's.
Result<std::optional<Tree>> DecodeRow(const Row& row) {
  const Cell* definition = FindCell(row, kTree);
  if (definition == nullptr) return std::optional<Tree>();
  Tree tree;
  tree.id = ReadBig16(row.key.data());
  RETURN_IF_ERROR(DecodeTree(definition->value, &tree));
  for (const Cell& cell : row.cells) {
    if (!cell.qualifier.starts_with(kRule)) continue;
    TreeRule rule;
    RETURN_IF_ERROR(DecodeTreeRule(cell.value, &rule));
    rule.tree_id = tree.id;
    tree.rules[rule.level][rule.order] = std::move(rule);
  }
  return std::optional<Tree>(std::move(tree));
}

/// The rows of one tree from `key` on.
ScanSpec RowsOf(const std::string& table, const Bytes& key) {
  ScanSpec spec;
  spec.table = table;
  spec.start = key;
  spec.family = kFamily;
  const int32_t id = ReadBig16(key.data());
  if (id < kTreeIdMax) spec.stop = TreeKey(id + 1);
  return spec;
}

}  // namespace

Result<Tree> TreeStore::Find(int32_t id) {
  ASSIGN_OR_RETURN(const Row row, store_.Get(table_, TreeKey(id), kFamily));
  ASSIGN_OR_RETURN(std::optional<Tree> tree, DecodeRow(row));
  if (!tree) return Status::NotFound("Unable to locate tree: " + std::to_string(id));
  tree->id = id;
  return std::move(*tree);
}

Result<std::vector<Tree>> TreeStore::List() {
  std::vector<Tree> trees;
  // From row to row of two bytes: a tree's branches, which may be millions, are passed over.
  for (int32_t id = 1; id <= kTreeIdMax;) {
    ScanSpec spec;
    spec.table = table_;
    spec.start = TreeKey(id);
    spec.family = kFamily;
    spec.batch_rows = 1;
    ASSIGN_OR_RETURN(auto cursor, store_.Scan(spec));
    std::vector<Row> rows;
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) break;
    if (rows[0].key.size() < kIdWidth) return Status::Corruption("tree table: a key is too short");
    id = ReadBig16(rows[0].key.data());
    if (rows[0].key.size() == kIdWidth) {
      ASSIGN_OR_RETURN(std::optional<Tree> tree, DecodeRow(rows[0]));
      if (tree) trees.push_back(std::move(*tree));
    }
    ++id;
  }
  return trees;
}

Result<Tree> TreeStore::Create(Tree tree) {
  ASSIGN_OR_RETURN(const std::vector<Tree> trees, List());
  tree.id = trees.empty() ? 1 : trees.back().id + 1;
  // A tree made meanwhile has its id.
  for (; tree.id <= kTreeIdMax; ++tree.id) {
    const RowMutation row{TreeKey(tree.id), {PutCell(kFamily, kTree, EncodeTree(tree))}};
    ASSIGN_OR_RETURN(const bool made, store_.CompareAndMutate(kFamily, kTree, {}, table_, row));
    if (made) return tree;
  }
  return Status::InvalidArgument("All tree ids up to 65535 are used");
}

Result<Tree> TreeStore::Update(int32_t id, const std::function<void(Tree*)>& edit) {
  for (int tries = 0; tries < kTries; ++tries) {
    ASSIGN_OR_RETURN(const Row row, store_.Get(table_, TreeKey(id), kFamily));
    ASSIGN_OR_RETURN(std::optional<Tree> tree, DecodeRow(row));
    if (!tree) return Status::NotFound("Unable to locate tree: " + std::to_string(id));
    edit(&*tree);
    ASSIGN_OR_RETURN(
        const bool written,
        store_.CompareAndMutate(kFamily, kTree, FindCell(row, kTree)->value, table_,
                                {TreeKey(id), {PutCell(kFamily, kTree, EncodeTree(*tree))}}));
    if (written) return std::move(*tree);
  }
  return Status::Conflict("Tree " + std::to_string(id) + " was changed by others again and again");
}

Status TreeStore::Purge(int32_t id, bool definition) {
  return ForEachRow(store_, RowsOf(table_, TreeKey(id)), [&](const Row& row) -> Status {
    if (definition || row.key.size() > kIdWidth) return store_.DeleteRow(table_, row.key);
    RowMutation mutation{row.key, {}};
    for (const Cell& cell : row.cells)
      if (cell.qualifier != kTree && !cell.qualifier.starts_with(kRule))
        mutation.changes.push_back(DeleteColumn(cell.family, cell.qualifier));
    if (mutation.changes.empty()) return {};
    return store_.Mutate(table_, {mutation});
  });
}

Result<std::optional<TreeRule>> TreeStore::UpdateRule(
    const TreeRule& place,
    const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit) {
  const Bytes key = TreeKey(place.tree_id);
  const Bytes qualifier = RuleQualifier(place);
  for (int tries = 0; tries < kTries; ++tries) {
    ASSIGN_OR_RETURN(const Row row, store_.Get(table_, key, kFamily, {qualifier}));
    const Cell* cell = FindCell(row, qualifier);
    std::optional<TreeRule> stored;
    std::optional<Bytes> expected;
    if (cell != nullptr) {
      RETURN_IF_ERROR(DecodeTreeRule(cell->value, &stored.emplace()));
      stored->tree_id = place.tree_id;
      expected = cell->value;
    }
    ASSIGN_OR_RETURN(std::optional<TreeRule> rule, edit(stored ? &*stored : nullptr));
    if (!rule) return rule;
    ASSIGN_OR_RETURN(
        const bool written,
        store_.CompareAndMutate(kFamily, qualifier, expected, table_,
                                {key, {PutCell(kFamily, qualifier, EncodeTreeRule(*rule))}}));
    if (written) return rule;
  }
  return Status::Conflict("Rule " + place.Label() + " was changed by others again and again");
}

Status TreeStore::DeleteRules(const std::vector<TreeRule>& rules) {
  for (const TreeRule& rule : rules)
    RETURN_IF_ERROR(store_.Mutate(
        table_, {{TreeKey(rule.tree_id), {DeleteColumn(kFamily, RuleQualifier(rule))}}}));
  return {};
}

Result<std::optional<TreeBranch>> TreeStore::FindBranch(const Bytes& key) {
  const std::optional<TreeBranch> none;
  ASSIGN_OR_RETURN(const Row own, store_.Get(table_, key, kFamily));
  const Cell* definition = FindCell(own, kBranch);
  if (definition == nullptr) return none;
  TreeBranch branch;
  RETURN_IF_ERROR(DecodeTreeBranch(definition->value, &branch.path));
  for (const Cell& cell : own.cells) {
    if (!cell.qualifier.starts_with(kLeaf)) continue;
    TreeLeaf leaf;
    RETURN_IF_ERROR(DecodeTreeLeaf(cell.value, &leaf));
    branch.leaves.push_back(std::move(leaf));
  }
  // From child to child: what is below them is passed over.
  Bytes at = key + '\0';
  while (true) {
    ScanSpec spec = RowsOf(table_, at);
    spec.batch_rows = 16;
    ASSIGN_OR_RETURN(auto cursor, store_.Scan(spec));
    std::vector<Row> rows;
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) break;
    bool left = false;
    for (const Row& row : rows) {
      left = !row.key.starts_with(key);
      if (left) break;
      at = row.key + '\0';
      const Cell* cell = FindCell(row, kBranch);
      if (row.key.size() != key.size() + kHashWidth || cell == nullptr) continue;
      TreeBranch child;
      RETURN_IF_ERROR(DecodeTreeBranch(cell->value, &child.path));
      branch.branches.push_back(std::move(child));
    }
    if (left) break;
  }
  std::sort(branch.leaves.begin(), branch.leaves.end(),
            [](const auto& a, const auto& b) { return JavaLess(a.display_name, b.display_name); });
  std::sort(branch.branches.begin(), branch.branches.end(),
            [](const auto& a, const auto& b) { return JavaLess(a.path.back(), b.path.back()); });
  return std::optional<TreeBranch>(std::move(branch));
}

Result<TreeFailures> TreeStore::Failures(int32_t id, TreeFailure kind,
                                         const std::vector<Bytes>& tsuids) {
  const bool collisions = kind == TreeFailure::kCollision;
  const Bytes& prefix = collisions ? kCollision : kNotMatched;
  std::vector<Bytes> qualifiers;
  for (const Bytes& tsuid : tsuids) qualifiers.push_back(prefix + tsuid);
  ASSIGN_OR_RETURN(const Row row, store_.Get(table_, TreeKey(id) + (collisions ? '\1' : '\2'),
                                             kFamily, qualifiers));
  TreeFailures failures;
  for (const Cell& cell : row.cells)
    if (cell.qualifier.starts_with(prefix))
      failures[cell.qualifier.substr(prefix.size())] = cell.value;
  return failures;
}

Status TreeStore::Sort(const Tree& tree, const TsMeta& meta, bool store_collisions) {
  const auto put_if_absent = [&](const Bytes& key, const Bytes& qualifier, const Bytes& value) {
    return store_.CompareAndMutate(kFamily, qualifier, {}, table_,
                                   {key, {PutCell(kFamily, qualifier, value)}});
  };
  std::vector<std::string> path = {"ROOT"};
  RETURN_IF_ERROR(
      put_if_absent(TreeBranchKey(tree.id, path), kBranch, EncodeTreeBranch(path)).status());
  ASSIGN_OR_RETURN(const TreePath found, FindTreePath(tree, meta));
  // A leaf at the root is not stored.
  if (found.names.size() < 2 || (tree.strict_match && !found.matched_all)) return {};
  for (size_t i = 0; i + 1 < found.names.size(); ++i) {
    path.push_back(found.names[i]);
    RETURN_IF_ERROR(
        put_if_absent(TreeBranchKey(tree.id, path), kBranch, EncodeTreeBranch(path)).status());
  }
  const TreeLeaf leaf{found.names.back(), meta.tsuid};
  const Bytes key = TreeBranchKey(tree.id, path);
  Bytes qualifier = kLeaf;
  AppendBig(&qualifier, JavaHashUtf8(leaf.display_name), kHashWidth);
  ASSIGN_OR_RETURN(const bool stored, put_if_absent(key, qualifier, EncodeTreeLeaf(leaf)));
  if (stored || !store_collisions || !tree.store_failures) return {};
  ASSIGN_OR_RETURN(const Row row, store_.Get(table_, key, kFamily, {qualifier}));
  TreeLeaf first;
  if (!row.empty()) RETURN_IF_ERROR(DecodeTreeLeaf(row.cells[0].value, &first));
  if (row.empty() || first.tsuid == meta.tsuid) return {};
  return store_.Mutate(table_,
                       {{TreeKey(tree.id) + '\1',
                         {PutCell(kFamily, kCollision + meta.tsuid, ToHexUpper(first.tsuid))}}});
}

}  // namespace hg::uid
