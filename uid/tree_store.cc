#include "uid/tree_store.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/base/checked_sort.h"
#include "storage/base/invariant.h"
#include "storage/for_each_row.h"
#include "storage/model/java_hash.h"
#include "uid/cell_costs.h"
#include "uid/tree_path.h"

namespace hg::uid {
namespace {

const Bytes kTreeFamily = "t";
const Bytes kTree = "tree";
const Bytes kRule = "tree_rule:";
const Bytes kBranch = "branch";
const Bytes kLeaf = "leaf:";
const Bytes kCollision = "tree_collision:";
const Bytes kNotMatched = "tree_not_matched:";
constexpr size_t kIdWidth = 2;
constexpr size_t kHashWidth = 4;
// Cost of parsing the JSON of a cell, in steps. Parsing one takes about a microsecond.
constexpr uint64_t kStepsPerObject = 1 << 10;

Bytes TreeKey(int32_t id) {
  Bytes key;
  AppendBig(&key, static_cast<uint64_t>(id), kIdWidth);
  return key;
}

Status CheckTexts(const TreeRule& rule) {
  return CheckTextSizes({&rule.field, &rule.regex, &rule.separator, &rule.description, &rule.notes,
                         &rule.custom_field, &rule.display_format});
}

Bytes RuleQualifier(const TreeRule& rule) {
  return kRule + std::to_string(rule.level) + ":" + std::to_string(rule.order);
}

/// Charges an upper bound for the objects made from a row's cells. The charge lasts as long as the
/// request.
template <typename Object>
Status ChargeObjects(const Row& row, RequestContext& context) {
  constexpr size_t kNodeBytes = 64;
  size_t bytes = 0;
  for (const Cell& cell : row.cells) bytes += sizeof(Object) + kNodeBytes + 2 * cell.value.size();
  RETURN_IF_ERROR(context.Step(row.cells.size() * kStepsPerObject));
  return context.Charge(static_cast<int64_t>(bytes));
}

/// Selects the cells of a tree's definition and rules.
CellSelection DefinitionCells(RequestContext& context) {
  CellSelection wanted;
  wanted.family = kTreeFamily;
  wanted.prefixes = {kTree};  // qualifiers of rules begin with the same word
  wanted.context = &context;
  return wanted;
}

/// Returns nullopt if the row has no definition.
Result<std::optional<Tree>> DecodeRow(const Row& row, RequestContext& context) {
  const Cell* definition = row.Find(kTree);
  if (definition == nullptr) return std::optional<Tree>();
  RETURN_IF_ERROR(ChargeObjects<TreeRule>(row, context));
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

/// Selects the rows of one tree from `key` on.
ScanSpec RowsOf(const std::string& table, const Bytes& key, RequestContext& context) {
  ScanSpec spec;
  spec.batch_bytes = kFetchBytes;
  spec.context = &context;
  spec.table = table;
  spec.start = key;
  spec.family = kTreeFamily;
  const int32_t id = ReadBig16(key.data());
  if (id < kTreeIdMax) spec.stop = TreeKey(id + 1);
  return spec;
}

}  // namespace

Result<Tree> TreeStore::Find(int32_t id, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  ASSIGN_OR_RETURN(const Row row, store_.GetCells(table_, TreeKey(id), DefinitionCells(context)));
  ASSIGN_OR_RETURN(std::optional<Tree> tree, DecodeRow(row, context));
  if (!tree) return Status::NotFound("Unable to locate tree: " + std::to_string(id));
  tree->id = id;
  return std::move(*tree);
}

Result<std::optional<Tree>> TreeStore::FindEnabled(int32_t id, RequestContext& context) {
  const std::optional<Tree> none;
  CellSelection wanted = DefinitionCells(context);
  wanted.prefixes.clear();
  wanted.qualifiers = {kTree};
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  ASSIGN_OR_RETURN(const Row row, store_.GetCells(table_, TreeKey(id), wanted));
  const Cell* cell = row.Find(kTree);
  if (cell == nullptr) return none;
  Tree definition;
  RETURN_IF_ERROR(DecodeTree(cell->value, &definition));
  if (!definition.enabled) return none;
  Result<Tree> tree = Find(id, context);
  // Another client may have deleted or disabled the tree since.
  if (tree.status().code() == StatusCode::kNotFound) return none;
  RETURN_IF_ERROR(tree.status());
  if (!tree->enabled) return none;
  return std::optional<Tree>(std::move(*tree));
}

Result<std::vector<Tree>> TreeStore::List(RequestContext& context) {
  std::vector<Tree> trees;
  RETURN_IF_ERROR(VisitIds(context, [&](int32_t id) -> Status {
    Result<Tree> tree = Find(id, context);
    if (tree.status().code() == StatusCode::kNotFound) return {};
    RETURN_IF_ERROR(tree.status());
    trees.push_back(std::move(*tree));
    return {};
  }));
  return trees;
}

Status TreeStore::VisitIds(RequestContext& context,
                           const std::function<Status(int32_t id)>& visit) {
  // Jumps between rows with two-byte keys, to skip the branches of each tree, which may be
  // millions.
  for (int32_t id = 1; id <= kTreeIdMax; ++id) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    ScanSpec spec;
    spec.context = &context;
    spec.table = table_;
    spec.start = TreeKey(id);
    spec.family = kTreeFamily;
    // Every definition and every branch has one of these cells. The rules are not read.
    spec.qualifiers = {kTree, kBranch};
    spec.keys_only = true;
    spec.first_cell_only = true;
    spec.batch_rows = 1;
    ASSIGN_OR_RETURN(auto cursor, store_.Scan(spec));
    std::vector<Row> rows;
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) break;
    if (rows[0].key.size() < kIdWidth) return Status::Corruption("tree table: a key is too short");
    id = ReadBig16(rows[0].key.data());
    cursor.reset();  // the scan must not keep memory while `visit` reads
    if (rows[0].key.size() == kIdWidth) RETURN_IF_ERROR(visit(id));
  }
  return {};
}

Result<Tree> TreeStore::Create(Tree tree, RequestContext& context) {
  ASSIGN_OR_RETURN(const std::vector<Tree> trees, List(context));
  RETURN_IF_ERROR(CheckTextSizes({&tree.name, &tree.description, &tree.notes}));
  tree.id = trees.empty() ? 1 : trees.back().id + 1;
  // If another client has just created a tree with this id, the next id is tried.
  for (; tree.id <= kTreeIdMax; ++tree.id) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    const std::string object = EncodeTree(tree);
    RETURN_IF_ERROR(CheckObjectSize(object));
    const RowMutation row{TreeKey(tree.id), {PutCell(kTreeFamily, kTree, object)}};
    ASSIGN_OR_RETURN(const bool made, store_.CompareAndMutate(kTreeFamily, kTree, {}, table_, row));
    if (made) return tree;
  }
  return Status::InvalidArgument("All tree ids up to 65535 are used");
}

Result<Tree> TreeStore::Update(int32_t id, const std::function<void(Tree*)>& edit,
                               RequestContext& context) {
  for (int tries = 0; tries < kWriteAttempts; ++tries) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    ASSIGN_OR_RETURN(const Row row, store_.GetCells(table_, TreeKey(id), DefinitionCells(context)));
    ASSIGN_OR_RETURN(std::optional<Tree> tree, DecodeRow(row, context));
    if (!tree) return Status::NotFound("Unable to locate tree: " + std::to_string(id));
    edit(&*tree);
    RETURN_IF_ERROR(CheckTextSizes({&tree->name, &tree->description, &tree->notes}));
    const std::string object = EncodeTree(*tree);
    RETURN_IF_ERROR(CheckObjectSize(object));
    ASSIGN_OR_RETURN(const bool written,
                     store_.CompareAndMutate(kTreeFamily, kTree, row.Find(kTree)->value, table_,
                                             {TreeKey(id), {PutCell(kTreeFamily, kTree, object)}}));
    if (written) return std::move(*tree);
  }
  return Status::Conflict("Tree " + std::to_string(id) +
                          " was changed by other requests during each attempt to write it");
}

Status TreeStore::Purge(int32_t id, bool definition, RequestContext& context) {
  ScanSpec spec = RowsOf(table_, TreeKey(id), context);
  spec.keys_only = true;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) -> Status {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    if (row.key.size() > kIdWidth) return store_.DeleteRow(table_, row.key);
    if (definition) return {};
    RowMutation mutation{row.key, {}};
    for (const Cell& cell : row.cells) {
      if (cell.qualifier == kTree || cell.qualifier.starts_with(kRule)) continue;
      mutation.changes.push_back(DeleteColumn(cell.family, cell.qualifier));
      if (mutation.changes.size() < kDeletesTogether) continue;
      RETURN_IF_ERROR(store_.Mutate(table_, {std::exchange(mutation, {row.key, {}})}));
      RETURN_IF_ERROR(context.Check());
    }
    if (mutation.changes.empty()) return {};
    return store_.Mutate(table_, {mutation});
  }));
  return definition ? store_.DeleteRow(table_, TreeKey(id)) : Status();
}

Result<std::optional<TreeRule>> TreeStore::UpdateRule(
    const TreeRule& place,
    const std::function<Result<std::optional<TreeRule>>(const TreeRule* stored)>& edit,
    RequestContext& context) {
  const Bytes key = TreeKey(place.tree_id);
  const Bytes qualifier = RuleQualifier(place);
  for (int tries = 0; tries < kWriteAttempts; ++tries) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    ASSIGN_OR_RETURN(const Row row, store_.Get(table_, key, kTreeFamily, {qualifier}));
    const Cell* cell = row.Find(qualifier);
    std::optional<TreeRule> stored;
    std::optional<Bytes> expected;
    if (cell != nullptr) {
      RETURN_IF_ERROR(DecodeTreeRule(cell->value, &stored.emplace()));
      stored->tree_id = place.tree_id;
      expected = cell->value;
    }
    ASSIGN_OR_RETURN(std::optional<TreeRule> rule, edit(stored ? &*stored : nullptr));
    if (!rule) return rule;
    RETURN_IF_ERROR(CheckTexts(*rule));
    const std::string object = EncodeTreeRule(*rule);
    RETURN_IF_ERROR(CheckObjectSize(object));
    ASSIGN_OR_RETURN(const bool written,
                     store_.CompareAndMutate(kTreeFamily, qualifier, expected, table_,
                                             {key, {PutCell(kTreeFamily, qualifier, object)}}));
    if (written) return rule;
  }
  return Status::Conflict("Rule " + place.Label() +
                          " was changed by other requests during each attempt to write it");
}

Status TreeStore::ReplaceRules(const Tree& tree, const std::vector<TreeRule>& rules,
                               RequestContext& context) {
  MemoryTally memory(&context);
  RowMutation row{TreeKey(tree.id), {}};
  std::set<Bytes> kept;
  const auto add = [&](CellChange change) -> Status {
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(2 * (sizeof(change) + change.value.size()))));
    row.changes.push_back(std::move(change));
    return context.Step(kStepsPerCell);
  };
  for (const TreeRule& rule : rules) {
    RETURN_IF_ERROR(CheckTexts(rule));
    const std::string object = EncodeTreeRule(rule);
    RETURN_IF_ERROR(CheckObjectSize(object));
    const Bytes qualifier = RuleQualifier(rule);
    INVARIANT(kept.insert(qualifier).second);
    RETURN_IF_ERROR(add(PutCell(kTreeFamily, qualifier, object)));
  }
  for (const auto& [level, old] : tree.rules) {
    for (const auto& [order, rule] : old) {
      // In HBase, a delete would also hide a cell that the same mutation writes.
      const Bytes qualifier = RuleQualifier(rule);
      if (!kept.contains(qualifier)) RETURN_IF_ERROR(add(DeleteColumn(kTreeFamily, qualifier)));
    }
  }
  if (row.changes.empty()) return {};
  RETURN_IF_ERROR(context.Check());
  return store_.Mutate(table_, {row});
}

Status TreeStore::DeleteRule(const TreeRule& rule, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  return store_.Mutate(table_,
                       {{TreeKey(rule.tree_id), {DeleteColumn(kTreeFamily, RuleQualifier(rule))}}});
}

Result<std::optional<TreeBranch>> TreeStore::FindBranch(const Bytes& key, RequestContext& context) {
  const std::optional<TreeBranch> none;
  CellSelection wanted;
  wanted.family = kTreeFamily;
  wanted.prefixes = {kBranch, kLeaf};
  wanted.context = &context;
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  ASSIGN_OR_RETURN(const Row own, store_.GetCells(table_, key, wanted));
  const Cell* definition = own.Find(kBranch);
  if (definition == nullptr) return none;
  RETURN_IF_ERROR(ChargeObjects<TreeLeaf>(own, context));
  TreeBranch branch;
  RETURN_IF_ERROR(DecodeTreeBranch(definition->value, &branch.path));
  for (const Cell& cell : own.cells) {
    if (!cell.qualifier.starts_with(kLeaf)) continue;
    TreeLeaf leaf;
    RETURN_IF_ERROR(DecodeTreeLeaf(cell.value, &leaf));
    branch.leaves.push_back(std::move(leaf));
  }
  RETURN_IF_ERROR(AddChildren(key, &branch, context));
  const auto by_name = [](const TreeLeaf& a, const TreeLeaf& b) {
    return JavaLess(a.display_name, b.display_name);
  };
  const auto by_last = [](const TreeBranch& a, const TreeBranch& b) {
    return JavaLess(a.path.back(), b.path.back());
  };
  MemoryTally sorting(&context);
  RETURN_IF_ERROR(CheckedSort(&branch.leaves, by_name, &sorting));
  RETURN_IF_ERROR(CheckedSort(&branch.branches, by_last, &sorting));
  return std::optional<TreeBranch>(std::move(branch));
}

// Jumps from child to child. If a row is below a child, a new scan starts after all rows of that
// child.
Status TreeStore::AddChildren(const Bytes& key, TreeBranch* branch, RequestContext& context) {
  const size_t child_width = key.size() + kHashWidth;
  for (Bytes at = key + '\0'; !at.empty();) {
    ScanSpec spec = RowsOf(table_, at, context);
    spec.qualifiers = {kBranch};
    spec.batch_rows = 16;
    if (const Bytes stop = AfterPrefix(key); !stop.empty()) spec.stop = stop;
    ASSIGN_OR_RETURN(auto cursor, store_.Scan(spec));
    at.clear();
    for (std::vector<Row> rows; at.empty();) {
      RETURN_IF_ERROR(cursor->Next(&rows));
      if (rows.empty()) break;
      for (const Row& row : rows) {
        RETURN_IF_ERROR(context.Step(kStepsPerCell));
        if (row.key.size() > child_width) {
          at = AfterPrefix(row.key.substr(0, child_width));
          break;
        }
        if (row.key.size() < child_width) continue;  // the row has recorded failures of the tree
        RETURN_IF_ERROR(ChargeObjects<TreeBranch>(row, context));
        const size_t levels = key.size() / kHashWidth + 2;
        RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(levels * sizeof(std::string))));
        TreeBranch child;
        RETURN_IF_ERROR(DecodeTreeBranch(row.cells.front().value, &child.path));
        branch->branches.push_back(std::move(child));
      }
    }
  }
  return {};
}

Result<TreeFailures> TreeStore::Failures(int32_t id, TreeFailure kind,
                                         const std::vector<Bytes>& tsuids,
                                         RequestContext& context) {
  const bool collisions = kind == TreeFailure::kCollision;
  const Bytes& prefix = collisions ? kCollision : kNotMatched;
  CellSelection wanted;
  wanted.family = kTreeFamily;
  wanted.context = &context;
  RETURN_IF_ERROR(context.Step(kStepsPerCell * (tsuids.size() + 1)));
  // Memory of a qualifier in `wanted`, including the allocated block of its text.
  constexpr size_t kQualifierBytes = sizeof(Bytes) + 48;
  size_t bytes = tsuids.size() * kQualifierBytes;
  for (const Bytes& tsuid : tsuids) bytes += tsuid.size();
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(bytes)));
  wanted.qualifiers.reserve(tsuids.size());
  for (const Bytes& tsuid : tsuids) wanted.qualifiers.push_back(prefix + tsuid);
  ASSIGN_OR_RETURN(const Row row,
                   store_.GetCells(table_, TreeKey(id) + (collisions ? '\1' : '\2'), wanted));
  RETURN_IF_ERROR(ChargeObjects<TreeFailures::value_type>(row, context));
  TreeFailures failures;
  for (const Cell& cell : row.cells)
    if (cell.qualifier.starts_with(prefix))
      failures[cell.qualifier.substr(prefix.size())] = cell.value;
  return failures;
}

Status TreeStore::Sort(const Tree& tree, const TsMeta& meta, bool store_collisions,
                       RequestContext& context) {
  const auto put_if_absent = [&](const Bytes& key, const Bytes& qualifier,
                                 const Bytes& value) -> Result<bool> {
    RETURN_IF_ERROR(context.Step(kStepsPerCell + value.size()));
    return store_.CompareAndMutate(kTreeFamily, qualifier, {}, table_,
                                   {key, {PutCell(kTreeFamily, qualifier, value)}});
  };
  std::vector<std::string> path = {"ROOT"};
  Bytes key = TreeBranchKey(tree.id, path);
  RETURN_IF_ERROR(put_if_absent(key, kBranch, EncodeTreeBranch(path)).status());
  ASSIGN_OR_RETURN(const TreePath found, FindTreePath(tree, meta, false, context));
  // A leaf at the root is not stored.
  if (found.names.size() < 2 || (tree.strict_match && !found.matched_all)) return {};
  for (size_t i = 0; i + 1 < found.names.size(); ++i) {
    path.push_back(found.names[i]);
    AppendBig(&key, JavaHashUtf8(found.names[i]), kHashWidth);
    RETURN_IF_ERROR(put_if_absent(key, kBranch, EncodeTreeBranch(path)).status());
  }
  const TreeLeaf leaf{found.names.back(), meta.tsuid};
  Bytes qualifier = kLeaf;
  AppendBig(&qualifier, JavaHashUtf8(leaf.display_name), kHashWidth);
  ASSIGN_OR_RETURN(const bool stored, put_if_absent(key, qualifier, EncodeTreeLeaf(leaf)));
  if (stored || !store_collisions || !tree.store_failures) return {};
  ASSIGN_OR_RETURN(const Row row, store_.Get(table_, key, kTreeFamily, {qualifier}));
  TreeLeaf first;
  if (!row.empty()) RETURN_IF_ERROR(DecodeTreeLeaf(row.cells[0].value, &first));
  if (row.empty() || first.tsuid == meta.tsuid) return {};
  return store_.Mutate(
      table_, {{TreeKey(tree.id) + '\1',
                {PutCell(kTreeFamily, kCollision + meta.tsuid, ToHexUpper(first.tsuid))}}});
}

}  // namespace hg::uid
