// Random steps on a store and on the model. After every few steps both must show the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/storage/store_contract_parts.h"
#include "tests/support/model_store.h"

namespace hg {
namespace {

// Few keys and columns, so that most steps affect the same cells. Explicit times are before and
// after the clock.
class RandomSteps {
 public:
  RandomSteps(uint32_t seed, StoreSubject* subject, ModelStore* model)
      : random_(seed), subject_(subject), model_(model) {}

  void Step() {
    if (subject_->obeys_clock()) subject_->clock().AdvanceMs(Below(3) * 1000);
    const Bytes key(1, static_cast<char>('k' + Below(3)));
    const Bytes family = RandomFamily();
    const Bytes qualifier(Below(3), 'q');
    switch (Below(10)) {
      case 0:
        Both([&](Store& s) { return s.DeleteRow("g", key); });
        break;
      case 1:
        Both([&, ttl_ms = RandomTtl(family)](Store& s) {
          return s.Append("g", key, family, qualifier, "+", ttl_ms);
        });
        break;
      case 2:
        Both([&, ttl_ms = RandomTtl(family)](Store& s) {
          return s.Increment("g", key, family, "n", 3, ttl_ms).status();
        });
        break;
      case 3: {
        Expected expected = Below(2) == 0 ? Expected() : Expected("v");
        RowMutation mutation{key, {RandomChange()}};
        Both([&](Store& s) {
          auto result = s.CompareAndMutate(family, qualifier, expected, "g", mutation);
          return result.ok() && *result ? Status() : Status::Conflict("not as expected");
        });
        break;
      }
      case 4:
        if (Below(4) == 0) subject_->Disturb();
        break;
      default: {
        RowMutation mutation{key, {}};
        const size_t most = subject_->mutations_in_order() ? 3 : 1;
        for (size_t n = 1 + Below(most); n > 0; --n) mutation.changes.push_back(RandomChange());
        Both([&](Store& s) { return s.Mutate("g", {mutation}); });
      }
    }
  }

  void Compare() {
    ScanSpec spec = Spec("", "", 2);
    // A store with a clock of its own may give several puts one time, and then has only one
    // version.
    if (subject_->obeys_clock() && Below(2) == 0) {
      spec.max_versions = static_cast<int32_t>(1 + Below(5));
      spec.min_ms = subject_->clock().NowMs() - static_cast<int64_t>(Below(30)) * 1000 - 300;
      spec.max_ms = spec.min_ms + static_cast<int64_t>(Below(40)) * 1000;
    }
    auto mine = ScanAll(subject_->store(), spec);
    auto oracle = ScanAll(*model_, spec);
    const auto shown = [](const std::vector<Row>& rows) {
      std::string text;
      for (const Row& row : rows) {
        text += row.key + "[";
        for (const Cell& cell : row.cells) {
          text += cell.family + ":" + cell.qualifier + "=" + ToHex(cell.value) + " ";
        }
        text += "] ";
      }
      return text;
    };
    INFO("got ", shown(mine), "\nfor ", shown(oracle));
    REQUIRE(mine.size() == oracle.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      CHECK(mine[i].key == oracle[i].key);
      REQUIRE(Text(mine[i]) == Text(oracle[i]));
      CHECK(Text(*subject_->store().GetCells("g", mine[i].key, spec)) == Text(oracle[i]));
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  Bytes RandomFamily() { return Bytes(1, "abckn"[Below(5)]); }

  CellChange RandomChange() {
    const Bytes family = RandomFamily();
    const Bytes qualifier(Below(3), 'q');
    // After a delete of one version, the older version that reappears depends on merges, unless all
    // versions are kept.
    const bool all_kept = AllKept(family);
    const size_t kind = Below(8);
    const bool timed = kind == 2 || kind == 3 || kind == 6 || kind == 7;
    switch (timed && !subject_->obeys_clock() ? 5 : kind) {
      case 6:
        if (!all_kept) return DeleteColumn(family, qualifier);
        return {CellChange::Kind::kDeleteVersion, family, qualifier, {}, RandomTime()};
      case 7:
        if (!all_kept) return DeleteFamily(family);
        return {CellChange::Kind::kDeleteFamilyVersion, family, {}, {}, RandomTime()};
      case 0:
        return DeleteColumn(family, qualifier);
      case 1:
        return DeleteFamily(family);
      case 2:
        return PutAt(family, qualifier, "t" + std::to_string(Below(100)), RandomTime());
      case 3:
        if (const auto ttl_ms = RandomTtl(family)) {
          CellChange put = PutAt(family, qualifier, "e" + std::to_string(Below(100)), RandomTime());
          put.ttl_ms = ttl_ms;
          return put;
        }
        return PutCell(family, qualifier, "w");
      default:
        return PutCell(family, qualifier, Below(4) == 0 ? "" : "v");
    }
  }

  // Whether the family keeps all versions, so that it does not depend on merges which older version
  // appears when a newer one is deleted or expires.
  static bool AllKept(const Bytes& family) { return family == "k" || family == "n"; }

  std::optional<int64_t> RandomTtl(const Bytes& family) {
    if (!subject_->obeys_clock() || !AllKept(family) || Below(3) > 0) return {};
    return static_cast<int64_t>(Below(9)) * 1000 + 300;
  }

  // Never within a second of the clock, because server times may be a few ms ahead of it.
  int64_t RandomTime() {
    const int64_t apart = static_cast<int64_t>(1 + Below(4)) * 1000 + 500;
    return subject_->clock().NowMs() + (Below(2) == 0 ? apart : -apart);
  }

  template <typename Operation>
  void Both(const Operation& operation) {
    Status mine = operation(subject_->store());
    Status oracle = operation(*model_);
    CHECK(mine.code() == oracle.code());
  }

  std::mt19937 random_;
  StoreSubject* subject_;
  ModelStore* model_;
};

}  // namespace

// Plain families, one with three versions, one that keeps deleted cells, and one ordered by
// writing.
void CheckRandomSteps(const StoreFactory& make) {
  TableDescriptor table{
      "g", {{"a"}, {"b"}, Family("c", 3), Family("k", 1000), Family("n", 1000)}, false};
  table.families[1].ttl_s = 20;
  table.families[2].ttl_s = 30;
  table.families[2].min_versions = 1;
  table.families[3].keep_deleted_cells = true;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    auto subject = make();
    // HBase 2.6 shows deleted cells of such a family if the times are explicit.
    table.families[4].new_version_behavior = subject->obeys_clock();
    subject->clock().SetMs(1'000'000);
    ModelStore model(subject->clock());
    REQUIRE(subject->store().CreateTable(table).ok());
    REQUIRE(model.CreateTable(table).ok());
    RandomSteps steps(seed, subject.get(), &model);
    for (int i = 0; i < 300; ++i) {
      steps.Step();
      if (i % 10 == 9) steps.Compare();
    }
  }
}

}  // namespace hg
