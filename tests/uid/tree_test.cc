// Trees: rules, stored cells, sorting.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/for_each_row.h"
#include "tests/support/fake_watch.h"
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
    const Result<Tree> made = trees.Create(tree, unlimited);
    REQUIRE(made.ok());
    for (TreeRule rule : rules) {
      rule.tree_id = made->id;
      REQUIRE(trees
                  .UpdateRule(
                      rule,
                      [&](const TreeRule*) -> Result<std::optional<TreeRule>> {
                        return std::optional<TreeRule>(rule);
                      },
                      unlimited)
                  .ok());
    }
    return *trees.Find(made->id, unlimited);
  }

  TsMeta Series(const std::string& metric, const std::string& host) {
    TsMeta meta;
    meta.tsuid = *names.FindOrAssign(UidKind::kMetric, metric) +
                 *names.FindOrAssign(UidKind::kTagk, "host") +
                 *names.FindOrAssign(UidKind::kTagv, host);
    REQUIRE(metadata.CreateSeries(meta, unlimited).ok());
    return *metadata.FindSeries(meta.tsuid, unlimited);
  }

  /// Returns "row qualifier=value" for all rows except the definitions.
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

TEST_CASE("a pattern extracts a group or splits a text") {
  const auto pattern = JavaPattern::Compile("^(.*?)\\.(x)?");
  REQUIRE(pattern.ok());
  CHECK((*pattern)->Group("web01.lga", 0) == "web01");
  CHECK(!(*pattern)->Group("web01.lga", 1));
  CHECK(!(*pattern)->Group("web01.lga", 2));
  CHECK(!(*pattern)->Group("web01", 0));
  const auto dot = JavaPattern::Compile("\\.");
  CHECK(*(*dot)->Split("a..b.", unlimited) == std::vector<std::string>{"a", "", "b"});
  CHECK(*(*dot)->Split("a", unlimited) == std::vector<std::string>{"a"});
  CHECK(*(*JavaPattern::Compile(""))->Split("aü", unlimited) == std::vector<std::string>{"a", "ü"});
  CHECK(JavaPattern::Compile("(").status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("the rules turn a series into branches, and the last one into a leaf") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false, unlimited).ok());
  CHECK(t.Cells() ==
        std::vector<std::string>{
            kRoot, R"(000106BC4C55 branch={"path":{"0":"ROOT","1":"web01"},"displayName":"web01"})",
            R"(000106BC4C550001BECD branch={"path":{"0":"ROOT","1":"web01","2":"sys"},)"
            R"("displayName":"sys"})",
            R"(000106BC4C550001BECD leaf={"displayName":"cpu","tsuid":"000001000001000001"})"});
  const auto branch = t.trees.FindBranch(TreeBranchKey(1, {"ROOT", "web01"}), unlimited);
  REQUIRE(branch.ok());
  REQUIRE(branch->has_value());
  CHECK((*branch)->leaves.empty());
  REQUIRE((*branch)->branches.size() == 1);
  CHECK((*branch)->branches[0].path == std::vector<std::string>{"ROOT", "web01", "sys"});
  CHECK(!t.trees.FindBranch(TreeBranchKey(1, {"ROOT", "other"}), unlimited)->has_value());
}

TEST_CASE("a strict tree accepts only series that match each level") {
  Trees t;
  const Tree tree = t.Make(
      {Rule(0, 0, TreeRuleType::kTagk, "host"), Rule(1, 0, TreeRuleType::kTagk, "dc"), Split(2)},
      true);
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), true, unlimited).ok());
  CHECK(t.Cells() == std::vector<std::string>{kRoot});
}

TEST_CASE("a leaf directly below the root is not stored") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kMetric)});
  REQUIRE(t.trees.Sort(tree, t.Series("cpu", "web01"), true, unlimited).ok());
  CHECK(t.Cells() == std::vector<std::string>{kRoot});
}

TEST_CASE("the first series keeps its leaf, and a collision is recorded if configured") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)}, false, true);
  TreeRule last = Rule(1, 0, TreeRuleType::kTagk, "host");
  Tree same = tree;
  same.rules[1] = {{0, last}};
  const TsMeta first = t.Series("cpu", "web01");
  const TsMeta second = t.Series("mem", "web01");
  REQUIRE(t.trees.Sort(same, first, true, unlimited).ok());
  REQUIRE(t.trees.Sort(same, first, true, unlimited).ok());
  REQUIRE(t.trees.Sort(same, second, false, unlimited).ok());
  CHECK(t.trees.Failures(1, TreeFailure::kCollision, {}, unlimited)->empty());
  REQUIRE(t.trees.Sort(same, second, true, unlimited).ok());
  CHECK(*t.trees.Failures(1, TreeFailure::kCollision, {}, unlimited) ==
        TreeFailures{{second.tsuid, ToHexUpper(first.tsuid)}});
  CHECK(t.trees.Failures(1, TreeFailure::kCollision, {first.tsuid}, unlimited)->empty());
  CHECK(t.trees.Failures(1, TreeFailure::kNotMatched, {}, unlimited)->empty());
}

TEST_CASE("a purge deletes the definition of the tree only on request") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false, unlimited).ok());
  REQUIRE(t.trees.Purge(1, false, unlimited).ok());
  CHECK(t.Cells().empty());
  REQUIRE(t.trees.Find(1, unlimited).ok());
  CHECK(t.trees.Find(1, unlimited)->rules.size() == 2);
  REQUIRE(t.trees.Purge(1, true, unlimited).ok());
  CHECK(t.trees.Find(1, unlimited).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a purge that is ended keeps the definition, so that it can be repeated") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false, unlimited).ok());
  bool purged = false;
  for (uint64_t steps = 0; !purged; steps += 1 << 10) {
    FakeWatch watch;
    watch.steps_max = steps;
    purged = t.trees.Purge(1, true, watch).ok();
    CHECK(t.trees.Find(1, unlimited).ok() == !purged);
  }
  CHECK(t.Cells().empty());
}

TEST_CASE("the rules of a tree are replaced in one write, or not at all") {
  Trees t;
  const Tree old = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1), Split(2)});
  const std::vector<TreeRule> rules = {Rule(0, 0, TreeRuleType::kTagk, "dc"),
                                       Rule(7, 1, TreeRuleType::kTagk, "rack")};
  bool replaced = false;
  for (uint64_t steps = 0; !replaced; steps += 1 << 10) {
    FakeWatch watch;
    watch.steps_max = steps;
    replaced = t.trees.ReplaceRules(old, rules, watch).ok();
    const auto stored = t.trees.Find(1, unlimited)->rules;
    if (!replaced) CHECK(stored == old.rules);
    if (replaced) CHECK(stored == decltype(stored){{0, {{0, rules[0]}}}, {7, {{1, rules[1]}}}});
    CHECK(watch.bytes == 0);
  }
  REQUIRE(t.trees.ReplaceRules(*t.trees.Find(1, unlimited), {}, unlimited).ok());
  CHECK(t.trees.Find(1, unlimited)->rules.empty());
}

TEST_CASE("a new tree gets the id after the highest one, and the list of trees skips branches") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(t.trees.Sort(tree, t.Series("sys.cpu", "web01"), false, unlimited).ok());
  CHECK(t.Make({}).id == 2);
  CHECK(t.Make({}).id == 3);
  REQUIRE(t.trees.Purge(2, true, unlimited).ok());
  CHECK(t.Make({}).id == 4);
  CHECK(t.trees.List(unlimited)->size() == 3);
}

TEST_CASE("the sorter reads the list of trees every five minutes") {
  Trees t;
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const TsMeta meta = t.Series("sys.cpu", "web01");
  REQUIRE(sorter.Sort(meta.tsuid, unlimited).ok());
  t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(sorter.Sort(meta.tsuid, unlimited).ok());
  CHECK(t.Cells().empty());
  t.clock.AdvanceMs(300'001);
  REQUIRE(sorter.Sort(meta.tsuid, unlimited).ok());
  CHECK(t.Cells().size() == 4);
}

TEST_CASE(
    "tree rules about names read no metadata objects, and rules about custom fields read them") {
  Trees t;
  const TsMeta meta = t.Series("sys.cpu", "web01");
  const auto key_of_host = *t.names.Find(UidKind::kTagk, "host");
  REQUIRE(
      t.store.Mutate("tsdb-uid", {{key_of_host, {PutCell("name", "tagk_meta", "no JSON")}}}).ok());
  t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  TreeSorter by_name(t.store, t.metadata, t.clock, "tsdb-tree");
  CHECK(by_name.Sort(meta.tsuid, unlimited).ok());
  CHECK(t.Cells().size() == 4);

  TreeRule custom = Rule(0, 0, TreeRuleType::kTagkCustom, "host");
  custom.custom_field = "owner";
  t.Make({custom});
  TreeSorter by_field(t.store, t.metadata, t.clock, "tsdb-tree");
  CHECK(by_field.Sort(meta.tsuid, unlimited).code() == StatusCode::kCorruption);
}

TEST_CASE("definitions and rules larger than the limit are refused") {
  Trees t;
  const Tree tree = t.Make({});
  const std::string large(kObjectBytesMax, 'x');
  Tree fresh;
  fresh.notes = large;
  CHECK(t.trees.Create(fresh, unlimited).status().code() == StatusCode::kLimitExceeded);
  const auto enlarge = [&](Tree* stored) { stored->description = large; };
  CHECK(t.trees.Update(tree.id, enlarge, unlimited).status().code() == StatusCode::kLimitExceeded);
  TreeRule rule = Rule(0, 0, TreeRuleType::kTagk, "host");
  rule.tree_id = tree.id;
  rule.notes = large;
  const auto store = [&](const TreeRule*) -> Result<std::optional<TreeRule>> {
    return std::optional<TreeRule>(rule);
  };
  CHECK(t.trees.UpdateRule(rule, store, unlimited).status().code() == StatusCode::kLimitExceeded);
  CHECK(t.trees.Find(tree.id, unlimited)->rules.empty());
}

// A store in which another writer is faster a given number of times.
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

TEST_CASE("of two concurrent changes of a tree none is lost") {
  ManualClock clock{1700000000000};
  RacingStore store(clock);
  REQUIRE(store.CreateTable({"tsdb-tree", {{"t"}}, false}).ok());
  TreeStore trees(store, "tsdb-tree");
  Tree fresh;
  fresh.name = "first";
  REQUIRE(trees.Create(fresh, unlimited).ok());
  store.faster = [&] {
    REQUIRE(trees
                .Update(
                    1, [](Tree* tree) { tree->notes += "!"; }, unlimited)
                .ok());
  };
  store.races = 1;
  const auto renamed = trees.Update(
      1, [](Tree* tree) { tree->name = "second"; }, unlimited);
  REQUIRE(renamed.ok());
  CHECK(renamed->name == "second");
  CHECK(trees.Find(1, unlimited)->notes == "!");
  CHECK(trees.Find(1, unlimited)->name == "second");
  CHECK(trees
            .Update(
                9, [](Tree*) {}, unlimited)
            .status()
            .code() == StatusCode::kNotFound);
}

TEST_CASE(
    "an update of a rule that another writer has changed meanwhile starts from the new rule") {
  ManualClock clock{1700000000000};
  RacingStore store(clock);
  REQUIRE(store.CreateTable({"tsdb-tree", {{"t"}}, false}).ok());
  TreeStore trees(store, "tsdb-tree");
  Tree fresh;
  fresh.name = "first";
  REQUIRE(trees.Create(fresh, unlimited).ok());
  TreeRule place;
  place.tree_id = 1;
  const auto append = [&](const char* text) {
    return trees.UpdateRule(
        place,
        [&, text](const TreeRule* stored) {
          TreeRule rule = stored != nullptr ? *stored : place;
          rule.type = TreeRuleType::kMetric;
          rule.notes += text;
          return Result<std::optional<TreeRule>>(rule);
        },
        unlimited);
  };
  store.faster = [&] { REQUIRE(append("a").ok()); };
  store.races = 1;
  REQUIRE(append("b").ok());
  CHECK(trees.Find(1, unlimited)->rules[0][0].notes == "ab");
  const auto nothing = trees.UpdateRule(
      place, [](const TreeRule*) { return Result<std::optional<TreeRule>>(std::nullopt); },
      unlimited);
  REQUIRE(nothing.ok());
  CHECK_FALSE(nothing->has_value());
  CHECK(trees.Find(1, unlimited)->rules[0][0].notes == "ab");
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
    const Result<TreePath> path = FindTreePath(tree, meta, true, unlimited);
    REQUIRE(path.ok());
    return *path;
  }

  bool Says(const std::string& message) {
    const std::vector<std::string> messages = Path().messages;
    return std::find(messages.begin(), messages.end(), message) != messages.end();
  }
};

TEST_CASE("if a branch has the same name as the one below it, the upper one is left out") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host");
  f.Add(1, TreeRuleType::kTagk, "host");
  f.Add(2, TreeRuleType::kMetric);
  CHECK(f.Path().names == std::vector<std::string>{"web01", "sys.cpu"});
  CHECK(f.Says("Depth [3] Current was the same as previous"));
}

TEST_CASE("a level of a tree without a matching rule is skipped") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host");
  f.Add(1, TreeRuleType::kTagk, "dc");
  f.Add(2, TreeRuleType::kMetric).separator = "\\.";
  CHECK(f.Path().names == std::vector<std::string>{"web01", "sys", "cpu"});
  CHECK_FALSE(f.Path().matched_all);
  CHECK(f.Says("Depth [4] Skipping a non-matched branch, returning: Name: [sys]"));
}

TEST_CASE("a test of a tree reports why a pattern gave no name") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host").regex = "w(x?)";
  CHECK(f.Says("Extracted value for rule [1:0:0:TAGK] was null or empty"));
  f.tree.rules[0][0].regex_group = 1;
  CHECK(f.Says("Regex group index [1] for rule [1:0:0:TAGK] was out of bounds [1]"));
  CHECK(f.Path().names.empty());
}

TEST_CASE("a separator that leaves no pieces does not match") {
  Sorted f;
  f.Add(0, TreeRuleType::kTagk, "host");
  f.Add(1, TreeRuleType::kMetric).separator = ".";  // any character
  CHECK(f.Says("Separator did not match, created an empty list on rule: [1:1:0:METRIC]"));
  CHECK(f.Path().names == std::vector<std::string>{"web01"});
  f.tree.rules[1][1] = f.tree.rules[1][0];
  CHECK(FindTreePath(f.tree, f.meta, true, unlimited).status().code() == StatusCode::kUnsupported);
}

std::string Pieces(size_t count) {
  std::string value;
  for (size_t i = 0; i < count; ++i) value += i % 2 == 0 ? "a." : "b.";
  return value;
}

TEST_CASE("A value that is split into too many pieces is refused") {
  Sorted f;
  f.Add(0, TreeRuleType::kMetric).separator = "\\.";
  const auto code = [&](size_t pieces) {
    f.meta.metric.name = Pieces(pieces);
    return FindTreePath(f.tree, f.meta, true, unlimited).status().code();
  };
  CHECK(code(kTreeDepthMax) == StatusCode::kOk);
  CHECK(f.Path().names.size() == kTreeDepthMax);
  CHECK(code(kTreeDepthMax + 1) == StatusCode::kLimitExceeded);
  CHECK(code(30'000) == StatusCode::kLimitExceeded);
  CHECK(code(400'000) == StatusCode::kLimitExceeded);
}

TEST_CASE("A display format cannot multiply a value without limit") {
  Sorted f;
  f.meta.metric.name = std::string(1000, 'x');
  TreeRule& rule = f.Add(0, TreeRuleType::kMetric);
  for (int i = 0; i < 5000; ++i) rule.display_format += "{ovalue}";
  CHECK(FindTreePath(f.tree, f.meta, true, unlimited).status().code() ==
        StatusCode::kLimitExceeded);
  rule.display_format = "{ovalue}-{value}{tag_name}";
  CHECK(f.Path().names ==
        std::vector<std::string>{std::string(1000, 'x') + "-" + std::string(1000, 'x')});
}

TEST_CASE("The rules of a tree are counted as work, and their messages are charged") {
  Sorted f;
  for (int order = 0; order < 1000; ++order) {
    TreeRule& rule = f.tree.rules[0][order];
    rule.type = TreeRuleType::kTagk;
    rule.field = "none";
  }
  FakeWatch watch;
  watch.steps_max = 10'000;
  CHECK(FindTreePath(f.tree, f.meta, true, watch).status().code() == StatusCode::kDeadlineExceeded);
  FakeWatch small;
  small.bytes_max = 10'000;
  CHECK(FindTreePath(f.tree, f.meta, true, small).status().code() == StatusCode::kLimitExceeded);
  small.bytes = 0;
  REQUIRE(FindTreePath(f.tree, f.meta, false, small).ok());
  CHECK(small.bytes == 0);
}

TEST_CASE("A series that a tree refuses is not a failure of the sorter") {
  Trees t;
  t.Make({Split(0)});
  const Tree other = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const TsMeta meta = t.Series(Pieces(200) + Pieces(200) + "cpu", "web01");
  REQUIRE(sorter.Sort(meta.tsuid, unlimited).ok());
  CHECK(t.Cells().size() == 2);  // the roots
  REQUIRE(sorter.Sort(t.Series("sys.cpu", "web01").tsuid, unlimited).ok());
  CHECK(t.Cells().size() > 4);
}

TEST_CASE("all trees together get a bounded number of steps for one series") {
  const auto steps_of = [](int trees) {
    Trees t;
    for (int i = 0; i < trees; ++i) t.Make({Split(0)});
    TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
    REQUIRE(sorter.Sort(t.Series("cpu", "web01").tsuid, unlimited).ok());  // reads the trees
    FakeWatch watch;
    REQUIRE(sorter.Sort(t.Series(Pieces(1000) + "cpu", "web01").tsuid, watch).ok());
    return watch.steps.load();
  };
  const uint64_t one = steps_of(1), many = steps_of(64);
  CAPTURE(one);
  CAPTURE(many);
  CHECK(one > 1'000);
  CHECK(many < 2 * (1 << 20));
}

TEST_CASE("a match that takes more than a millisecond puts its series into the tree") {
  Trees t;
  TreeRule slow = Rule(0, 0, TreeRuleType::kTagk, "host");
  slow.regex = "^((?:a?){17}a{17})$";  // tries 2^17 ways
  t.Make({slow, Split(1)});
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const size_t roots = t.Cells().size();
  REQUIRE(sorter.Sort(t.Series("sys.cpu", std::string(17, 'a')).tsuid, unlimited).ok());
  CHECK(t.Cells().size() > roots + 2);
}

TEST_CASE("a request that has ended adds its series to no further tree") {
  Trees t;
  for (int i = 0; i < 3; ++i) t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const TsMeta meta = t.Series("sys.cpu", "web01");
  FakeWatch ended;
  ended.checks_max = 1;
  CHECK(sorter.Sort(meta.tsuid, ended).code() == StatusCode::kDeadlineExceeded);
  const size_t cells_of_one_tree = t.Cells().size();
  REQUIRE(sorter.Sort(meta.tsuid, unlimited).ok());
  CHECK(t.Cells().size() == 3 * cells_of_one_tree);
}

// Adds rules with long texts to a tree. `text` is the member of the rules that is long.
void AddLongRules(Trees& t, const Tree& tree, std::string TreeRule::*text, int count) {
  std::vector<TreeRule> rules;
  for (int order = 1; order <= count; ++order) {
    TreeRule rule = Rule(0, order, TreeRuleType::kTagk, "rack");
    rule.tree_id = tree.id;
    rule.*text = std::string(50'000, 'x');
    rules.push_back(rule);
  }
  rules.push_back(Rule(0, 0, TreeRuleType::kTagk, "host"));
  rules.push_back(Split(1));
  for (TreeRule& rule : rules) rule.tree_id = tree.id;
  REQUIRE(t.trees.ReplaceRules(tree, rules, unlimited).ok());
}

TEST_CASE("the request that reads the trees for sorting ends the reading") {
  Trees t;
  for (int i = 0; i < 20; ++i) t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const TsMeta meta = t.Series("sys.cpu", "web01");
  FakeWatch late;
  late.steps_max = 20'000;
  CHECK(sorter.Sort(meta.tsuid, late).code() == StatusCode::kDeadlineExceeded);
  CHECK(late.steps < 50'000);
  CHECK(late.bytes == 0);
  CHECK(t.Cells().empty());
  // The next request reads the list again, so it sees the new tree.
  t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  REQUIRE(sorter.Sort(meta.tsuid, unlimited).ok());
  CHECK(t.Cells().size() == 21 * 4);
}

TEST_CASE("reading the trees for sorting takes the memory of one tree and of the rules it keeps") {
  Trees t;
  for (int i = 0; i < 20; ++i) AddLongRules(t, t.Make({}), &TreeRule::notes, 10);
  for (int32_t id = 1; id <= 10; ++id)
    REQUIRE(t.trees
                .Update(
                    id, [](Tree* tree) { tree->enabled = false; }, unlimited)
                .ok());
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  FakeWatch watch;
  REQUIRE(sorter.Sort(t.Series("sys.cpu", "web01").tsuid, watch).ok());
  CHECK(watch.bytes_most > 500'000);  // the notes of one tree
  CHECK(watch.bytes_most < 3'000'000);
  CHECK(watch.bytes == 0);
  CHECK(t.Cells().size() == 10 * 4);
}

TEST_CASE("if the trees cannot be read again, sorting uses those that it has") {
  Trees t;
  AddLongRules(t, t.Make({}), &TreeRule::notes, 10);
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  FakeWatch poor;
  poor.bytes_max = 100'000;
  CHECK(sorter.Sort(t.Series("sys.cpu", "web01").tsuid, poor).code() == StatusCode::kLimitExceeded);
  REQUIRE(sorter.Sort(t.Series("sys.cpu", "web01").tsuid, unlimited).ok());
  const size_t cells = t.Cells().size();
  t.clock.AdvanceMs(300'001);
  CHECK(sorter.Sort(t.Series("sys.cpu", "web02").tsuid, poor).ok());
  CHECK(t.Cells().size() > cells);
}

TEST_CASE("the rules of a disabled tree are not read to sort series into other trees") {
  Trees t;
  const Tree disabled = t.Make({});
  AddLongRules(t, disabled, &TreeRule::notes, 100);
  REQUIRE(t.trees
              .Update(
                  disabled.id, [](Tree* tree) { tree->enabled = false; }, unlimited)
              .ok());
  t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  FakeWatch watch;
  watch.bytes_max = 1'000'000;
  CHECK(sorter.Sort(t.Series("sys.cpu", "web01").tsuid, watch).ok());
  CHECK(t.Cells().size() == 4);
}

TEST_CASE("trees whose rules need too much memory get no series, and the other trees get them") {
  Trees t;
  std::vector<LeftOutTrees> warnings;
  TreeSorterOptions options;
  options.bytes_max = 1 << 20;
  options.warn = [&](const LeftOutTrees& left_out) { warnings.push_back(left_out); };
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree", options);
  const TsMeta meta = t.Series("sys.cpu", "web01");
  const auto sort = [&] {
    FakeWatch watch;
    REQUIRE(sorter.Sort(meta.tsuid, watch).ok());
    CHECK(watch.bytes_most < 3 << 20);
  };
  for (int i = 0; i < 3; ++i) AddLongRules(t, t.Make({}), &TreeRule::display_format, 8);
  AddLongRules(t, t.Make({}), &TreeRule::notes, 100);
  t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  for (int i = 0; i < 5; ++i) sort();
  std::vector<std::string> roots;
  for (const std::string& cell : t.Cells())
    if (cell.starts_with("000") && cell[4] == ' ') roots.push_back(cell.substr(0, 4));
  CHECK(roots == std::vector<std::string>{"0001", "0002", "0005"});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].first_id == 3);
  CHECK(warnings[0].count == 2);
  t.clock.AdvanceMs(300'001);
  sort();
  CHECK(warnings.size() == 2);
}

TEST_CASE("the work to sort a series is limited for all trees together, whatever their rules are") {
  Trees t;
  TreeRule rule = Rule(0, 0, TreeRuleType::kMetric, "");
  rule.regex = "(.*)(.*)(.*)(.*)(.*)[xy]";
  for (int i = 0; i < 600; ++i) t.Make({rule});
  TreeSorter sorter(t.store, t.metadata, t.clock, "tsdb-tree");
  const TsMeta meta = t.Series("sys." + std::string(12, 'a'), "web01");
  FakeWatch watch;
  CHECK(sorter.Sort(meta.tsuid, watch).ok());
  CHECK(watch.steps < 100 << 20);
}

TEST_CASE("A branch is read without what is below its children") {
  Trees t;
  const Tree tree = t.Make({Rule(0, 0, TreeRuleType::kTagk, "host"), Split(1)});
  for (int i = 0; i < 100; ++i) {
    const std::string metric = "m" + std::to_string(i) + ".cpu";
    REQUIRE(
        t.trees.Sort(tree, t.Series(metric, "web" + std::to_string(i % 2)), false, unlimited).ok());
  }
  FakeWatch watch;
  const auto root = t.trees.FindBranch(TreeBranchKey(tree.id, {}), watch);
  REQUIRE(root.ok());
  CHECK((*root)->branches.size() == 2);
  CHECK(watch.steps < 100'000);
  CHECK(watch.bytes > 0);
  FakeWatch small;
  small.bytes_max = 1000;
  CHECK(t.trees.FindBranch(TreeBranchKey(tree.id, {"ROOT", "web1"}), small).status().code() ==
        StatusCode::kLimitExceeded);
}

TEST_CASE("the qualifiers for the failures of many series are charged before they are built") {
  Trees t;
  const Tree tree = t.Make({});
  const std::vector<Bytes> tsuids(1000, Bytes("\0\0\1\0\0\1\0\0\1", 9));
  FakeWatch small;
  small.bytes_max = 80'000;
  CHECK(t.trees.Failures(tree.id, TreeFailure::kCollision, tsuids, small).status().code() ==
        StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace hg::uid
