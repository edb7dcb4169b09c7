// Trees: rules, stored cells, sorting.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/for_each_row.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"
#include "uid/java_pattern.h"
#include "uid/metadata.h"
#include "uid/tree_path.h"
#include "uid/tree_sorter.h"
#include "uid/tree_store.h"

namespace hg::uid {
namespace {

TreeRule Rule(int32_t level, int32_t order, TreeRuleType type, const std::string& field = "") {
  TreeRule rule;
  rule.tree_id = 1;
  rule.level = level;
  rule.order = order;
  rule.type = type;
  rule.field = field;
  return rule;
}

TreeRule Split(int32_t level) {
  TreeRule rule = Rule(level, 0, TreeRuleType::kMetric);
  rule.separator = "\\.";
  return rule;
}

struct Trees {
  Trees() {
    REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
    REQUIRE(store.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
    REQUIRE(store.CreateTable({"tsdb-tree", {{"t"}}, false}).ok());
  }

  Tree Make(const std::vector<TreeRule>& rules, bool strict = false, bool failures = false) {
    Tree tree;
    tree.name = "Sites";
    tree.enabled = true;
    tree.strict_match = strict;
    tree.store_failures = failures;
    const Result<Tree> made = trees.Create(tree);
    REQUIRE(made.ok());
    for (TreeRule rule : rules) {
      rule.tree_id = made->id;
      REQUIRE(trees
                  .UpdateRule(rule,
                              [&](const TreeRule*) -> Result<std::optional<TreeRule>> {
                                return std::optional<TreeRule>(rule);
                              })
                  .ok());
    }
    return *trees.Find(made->id);
  }

  TsMeta Series(const std::string& metric, const std::string& host) {
    TsMeta meta;
    meta.tsuid = *names.FindOrAssign(UidKind::kMetric, metric) +
                 *names.FindOrAssign(UidKind::kTagk, "host") +
                 *names.FindOrAssign(UidKind::kTagv, host);
    REQUIRE(metadata.CreateSeries(meta).ok());
    return *metadata.FindSeries(meta.tsuid);
  }

  /// "row qualifier=value" of all rows but the definitions'.
  std::vector<std::string> Cells() {
    ScanSpec spec;
    spec.table = "tsdb-tree";
    std::vector<std::string> cells;
    const Status scanned = ForEachRow(store, spec, [&](const Row& row) {
      for (const Cell& cell : row.cells)
        if (!cell.qualifier.starts_with("tree_rule") && cell.qualifier != "tree")
          cells.push_back(ToHexUpper(row.key) + " " +
                          cell.qualifier.substr(0, cell.qualifier.find(':')) + "=" + cell.value);
      return Status();
    });
    REQUIRE(scanned.ok());
    return cells;
  }

  ManualClock clock{1700000000000};
  ModelStore store{clock};
  Names names{store, {}};
  Metadata metadata{store, names, {}};
  TreeStore trees{store, "tsdb-tree"};
};

const std::string kRoot = R"(0001 branch={"path":{"0":"ROOT"},"displayName":"ROOT"})";

TEST_CASE("a pattern gives a group or cuts a text") {
  const auto pattern = JavaPattern::Compile("^(.*?)\\.(x)?");
  REQUIRE(pattern.ok());
  CHECK((*pattern)->Group("web01.lga", 0) == "web01");
  CHECK(!(*pattern)->Group("web01.lga", 1));
  CHECK(!(*pattern)->Group("web01.lga", 2));
  CHECK(!(*pattern)->Group("web01", 0));
  const auto dot = JavaPattern::Compile("\\.");
  CHECK((*dot)->Split("a..b.") == std::vector<std::string>{"a", "", "b"});
  CHECK((*dot)->Split("a") == std::vector<std::string>{"a"});
  CHECK((*JavaPattern::Compile(""))->Split("aü") == std::vector<std::string>{"a", "ü"});
  CHECK(JavaPattern::Compile("(").status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a series becomes branches by its rules, and a leaf by the last one") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false).ok());
  CHECK(t.Cells() ==
        std::vector<std::string>{
            kRoot, R"(000106BC4C55 branch={"path":{"0":"ROOT","1":"web01"},"displayName":"web01"})",
            R"(000106BC4C550001BECD branch={"path":{"0":"ROOT","1":"web01","2":"sys"},)"
            R"("displayName":"sys"})",
            R"(000106BC4C550001BECD leaf={"displayName":"cpu","tsuid":"000001000001000001"})"});
  const auto branch = t.trees.FindBranch(TreeBranchKey(1, {"ROOT", "web01"}));
  REQUIRE(branch.ok());
  REQUIRE(branch->has_value());
  CHECK((*branch)->leaves.empty());
  REQUIRE((*branch)->branches.size() == 1);
  CHECK((*branch)->branches[0].path == std::vector<std::string>{"ROOT", "web01", "sys"});
  CHECK(!t.trees.FindBranch(TreeBranchKey(1, {"ROOT", "other"}))->has_value());
}

TEST_CASE("a strict tree takes only what each level matches") {
  Trees t;
  const Tree tree = t.Make(
      {Rule(0, 0, TreeRuleType::kTagk, "host"), Rule(1, 0, TreeRuleType::kTagk, "dc"), Split(2)},
      true);
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), true).ok());
  CHECK(t.Cells() == std::vector<std::string>{kRoot});
}

TEST_CASE("a leaf at the root is not stored") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kMetric)});
  REQUIRE(t.trees.Sort(tree, t.Series("cpu", "web01"), true).ok());
  CHECK(t.Cells() == std::vector<std::string>{kRoot});
}

TEST_CASE("the first series keeps its place; a collision is noted on request") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)}, false, true);
  TreeRule last = Rule(1, 0, TreeRuleType::kTagk, "host");
  Tree same = tree;
  same.rules[1] = {{0, last}};
  const TsMeta first = t.Series("cpu", "web01");
  const TsMeta second = t.Series("mem", "web01");
  REQUIRE(t.trees.Sort(same, first, true).ok());
  REQUIRE(t.trees.Sort(same, first, true).ok());
  REQUIRE(t.trees.Sort(same, second, false).ok());
  CHECK(t.trees.Failures(1, TreeFailure::kCollision, {})->empty());
  REQUIRE(t.trees.Sort(same, second, true).ok());
  CHECK(*t.trees.Failures(1, TreeFailure::kCollision, {}) ==
        TreeFailures{{second.tsuid, ToHexUpper(first.tsuid)}});
  CHECK(t.trees.Failures(1, TreeFailure::kCollision, {first.tsuid})->empty());
  CHECK(t.trees.Failures(1, TreeFailure::kNotMatched, {})->empty());
}

TEST_CASE("a purge leaves the definition unless told otherwise") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false).ok());
  REQUIRE(t.trees.Purge(1, false).ok());
  CHECK(t.Cells().empty());
  REQUIRE(t.trees.Find(1).ok());
  CHECK(t.trees.Find(1)->rules.size() == 2);
  REQUIRE(t.trees.Purge(1, true).ok());
  CHECK(t.trees.Find(1).status().code() == StatusCode::kNotFound);
}

TEST_CASE("ids follow the highest; the list passes over branches") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false).ok());
  CHECK(t.Make({}).id == 2);
  CHECK(t.Make({}).id == 3);
  REQUIRE(t.trees.Purge(2, true).ok());
  CHECK(t.Make({}).id == 4);
  CHECK(t.trees.List()->size() == 3);
}

TEST_CASE("the sorter reads the list of trees every five minutes") {
  Trees t;
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const TsMeta meta = t.Series("sys.cpu", "web01");
  REQUIRE(sorter.Sort(meta.tsuid).ok());
  t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(sorter.Sort(meta.tsuid).ok());
  CHECK(t.Cells().empty());
  t.clock.AdvanceMs(300'001);
  REQUIRE(sorter.Sort(meta.tsuid).ok());
  CHECK(t.Cells().size() == 4);
}

// A store in which another writer is always the faster one, a number of times.
class RacingStore final : public ModelStore {
 public:
  using ModelStore::ModelStore;
  Result<bool> CompareAndMutate(ByteView family, ByteView qualifier, const Expected& expected,
                                const std::string& table, const RowMutation& mutation) override {
    if (races > 0) {
      --races;
      faster();
    }
    return ModelStore::CompareAndMutate(family, qualifier, expected, table, mutation);
  }
  int races = 0;
  std::function<void()> faster;
};

TEST_CASE("of two changes of a tree at once neither is lost") {
  ManualClock clock{1700000000000};
  RacingStore store(clock);
  REQUIRE(store.CreateTable({"tsdb-tree", {{"t"}}, false}).ok());
  TreeStore trees(store, "tsdb-tree");
  Tree fresh;
  fresh.name = "first";
  REQUIRE(trees.Create(fresh).ok());
  store.faster = [&] { REQUIRE(trees.Update(1, [](Tree* tree) { tree->notes += "!"; }).ok()); };
  store.races = 1;
  const auto renamed = trees.Update(1, [](Tree* tree) { tree->name = "second"; });
  REQUIRE(renamed.ok());
  CHECK(renamed->name == "second");
  CHECK(trees.Find(1)->notes == "!");
  CHECK(trees.Find(1)->name == "second");
  CHECK(trees.Update(9, [](Tree*) {}).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a rule is changed as it stands when it is stored") {
  ManualClock clock{1700000000000};
  RacingStore store(clock);
  REQUIRE(store.CreateTable({"tsdb-tree", {{"t"}}, false}).ok());
  TreeStore trees(store, "tsdb-tree");
  Tree fresh;
  fresh.name = "first";
  REQUIRE(trees.Create(fresh).ok());
  TreeRule place;
  place.tree_id = 1;
  const auto append = [&](const char* text) {
    return trees.UpdateRule(place, [&, text](const TreeRule* stored) {
      TreeRule rule = stored != nullptr ? *stored : place;
      rule.type = TreeRuleType::kMetric;
      rule.notes += text;
      return Result<std::optional<TreeRule>>(rule);
    });
  };
  store.faster = [&] { REQUIRE(append("a").ok()); };
  store.races = 1;
  REQUIRE(append("b").ok());
  CHECK(trees.Find(1)->rules[0][0].notes == "ab");
  const auto nothing = trees.UpdateRule(
      place, [](const TreeRule*) { return Result<std::optional<TreeRule>>(std::nullopt); });
  REQUIRE(nothing.ok());
  CHECK_FALSE(nothing->has_value());
  CHECK(trees.Find(1)->rules[0][0].notes == "ab");
}

struct Sorted {
  Tree tree;
  TsMeta meta;

  Sorted() {
    tree.id = 1;
    meta.tsuid = Bytes("\0\0\1\0\0\1\0\0\1", 9);
    meta.metric.name = "sys.cpu";
    meta.tags.resize(2);
    meta.tags[0].name = "host";
    meta.tags[1].name = "web01";
  }

  TreeRule& Add(int32_t level, TreeRuleType type, const std::string& field = "") {
    TreeRule& rule = tree.rules[level][0];
    rule.tree_id = 1;
    rule.level = level;
    rule.type = type;
    rule.field = field;
    return rule;
  }

  TreePath Path() {
    const Result<TreePath> path = FindTreePath(tree, meta);
    REQUIRE(path.ok());
    return *path;
  }

  bool Says(const std::string& message) {
    const std::vector<std::string> messages = Path().messages;
    return std::find(messages.begin(), messages.end(), message) != messages.end();
  }
};

TEST_CASE("of equal names one below the other the upper branch goes") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host");
  f.Add(1, TreeRuleType::kTagk, "host");
  f.Add(2, TreeRuleType::kMetric);
  CHECK(f.Path().names == std::vector<std::string>{"web01", "sys.cpu"});
  CHECK(f.Says("Depth [3] Current was the same as previous"));
}

TEST_CASE("a level between without a match is skipped") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host");
  f.Add(1, TreeRuleType::kTagk, "dc");
  f.Add(2, TreeRuleType::kMetric).separator = "\\.";
  CHECK(f.Path().names == std::vector<std::string>{"web01", "sys", "cpu"});
  CHECK_FALSE(f.Path().matched_all);
  CHECK(f.Says("Depth [4] Skipping a non-matched branch, returning: Name: [sys]"));
}

TEST_CASE("a test tells why a pattern gave no name") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host").regex = "w(x?)";
  CHECK(f.Says("Extracted value for rule [1:0:0:TAGK] was null or empty"));
  f.tree.rules[0][0].regex_group = 1;
  CHECK(f.Says("Regex group index [1] for rule [1:0:0:TAGK] was out of bounds [1]"));
  CHECK(f.Path().names.empty());
}

TEST_CASE("a separator that leaves nothing matches nothing") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host");
  f.Add(1, TreeRuleType::kMetric).separator = ".";  // any character
  CHECK(f.Says("Separator did not match, created an empty list on rule: [1:1:0:METRIC]"));
  CHECK(f.Path().names == std::vector<std::string>{"web01"});
  f.tree.rules[1][1] = f.tree.rules[1][0];
  CHECK(FindTreePath(f.tree, f.meta).status().code() == StatusCode::kUnsupported);
}

}  // namespace
}  // namespace hg::uid
