// Features for readers of a cell store (region-store.md §7, §11.3): selections, limits, directions,
// filters.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "tests/storage/store_contract_parts.h"

namespace hg {
namespace {

std::vector<Bytes> Keys(Store& store, const ScanSpec& spec) {
  std::vector<Bytes> keys;
  for (const Row& row : ScanAll(store, spec)) keys.push_back(row.key);
  return keys;
}

void Put(StoreSubject& s, const Bytes& key, const Bytes& family, const Bytes& qualifier,
         const Bytes& value) {
  REQUIRE(s.store().Mutate("g", {{key, {PutCell(family, qualifier, value)}}}).ok());
}

// Random keys of a few bytes, so that prefixes and equal parts are frequent. The store is disturbed
// meanwhile.
std::vector<Bytes> FillRandom(StoreSubject& s, size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::set<Bytes> keys;
  while (keys.size() < count) {
    Bytes key;
    for (size_t n = 1 + random() % 5; n > 0; --n) {
      key.push_back("\x00\x01\x0A\x7F\x80\xFE\xFF"[random() % 7]);
    }
    if (!keys.insert(key).second) continue;
    Put(s, key, "a", "q", key);
    if (random() % 100 == 0) s.Disturb();
  }
  return {keys.begin(), keys.end()};
}

void CellsAreChosenByColumnPrefixAndRange(StoreSubject& s) {
  for (const char* qualifier : {"", "a", "ab", "abc", "b", "\xFF", "\xFF\xFF"}) {
    Put(s, "k", "a", qualifier, "v");
  }
  Put(s, "k", "b", "ab", "v");
  s.Disturb();
  const auto names = [&](const CellSelection& wanted) {
    const Row row = *s.store().GetCells("g", "k", wanted);
    ScanSpec spec = Spec();
    static_cast<CellSelection&>(spec) = wanted;
    const std::vector<Row> scanned = ScanAll(s.store(), spec);
    CHECK(scanned.size() == (row.empty() ? 0 : 1));
    std::string text;
    for (const Cell& cell : row.cells) text += cell.family + ":" + ToHex(cell.qualifier) + " ";
    return text;
  };
  CellSelection wanted;
  wanted.prefixes = {"ab"};
  CHECK(names(wanted) == "a:6162 a:616263 b:6162 ");
  wanted.prefixes = {"b", "\xFF"};
  CHECK(names(wanted) == "a:62 a:ff a:ffff ");
  wanted.prefixes = {};
  wanted.family = "a";
  wanted.column_min = "ab";
  wanted.column_max = "b";
  CHECK(names(wanted) == "a:6162 a:616263 ");
  wanted.column_max = "";
  CHECK(names(wanted) == "a:6162 a:616263 a:62 a:ff a:ffff ");
  wanted.column_min = "";
  wanted.column_max = "a";
  CHECK(names(wanted) == "a: ");
  wanted.column_max = "";
  wanted.qualifiers = {"a", "none"};
  CHECK(names(wanted) == "a:61 ");
  wanted = {};
  wanted.first_cell_only = true;
  CHECK(names(wanted) == "a: ");
  wanted.keys_only = true;
  const Row bare = *s.store().GetCells("g", "k", wanted);
  CHECK(bare.cells.size() == 1);
  for (const Cell& cell : bare.cells) CHECK(cell.value.empty());
}

void ManyRowsAreGotInTheOrderAsked(StoreSubject& s) {
  for (const char* key : {"a", "b", "c"}) Put(s, key, "a", "q", key);
  s.Disturb();
  auto rows = s.store().GetRows("g", {"c", "none", "a", "c", "b", "a"}, {});
  std::string text;
  for (const Result<Row>& row : rows) {
    REQUIRE(row.ok());
    text += row->key + "[" + Text(*row) + "] ";
  }
  CHECK(text == "c[a:q=c ] none[] a[a:q=a ] c[a:q=c ] b[a:q=b ] a[a:q=a ] ");
  const auto nowhere = s.store().GetRows("none", {"a", "b"}, {});
  REQUIRE(nowhere.size() == 2);
  CHECK(nowhere[1].status().code() == StatusCode::kNotFound);
  // A row that cannot be read does not affect the others.
  rows = s.store().GetRows("g", {"a", "", "b"}, {});
  REQUIRE(rows.size() == 3);
  CHECK(Text(*rows[0]) == "a:q=a ");
  CHECK(rows[1].status().code() == StatusCode::kInvalidArgument);
  CHECK(Text(*rows[2]) == "a:q=b ");
}

void ScansAreTheSameForAnyBudgetAndEndAtTheirLimit(StoreSubject& s) {
  const std::vector<Bytes> keys = FillRandom(s, 400, 1);
  for (const bool reversed : {false, true}) {
    ScanSpec spec = Spec();
    spec.reversed = reversed;
    std::vector<Bytes> expected = keys;
    if (reversed) std::reverse(expected.begin(), expected.end());
    for (const size_t rows : {size_t{1}, size_t{2}, size_t{128}, SIZE_MAX}) {
      for (const size_t bytes : {size_t{1}, size_t{50}, SIZE_MAX}) {
        spec.batch_rows = rows;
        spec.batch_bytes = bytes;
        REQUIRE(Keys(s.store(), spec) == expected);
      }
    }
    spec.batch_rows = 7;
    spec.batch_bytes = SIZE_MAX;
    for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{30}}) {
      spec.limit_rows = limit;
      CHECK(Keys(s.store(), spec) ==
            std::vector<Bytes>(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(limit)));
    }
  }
}

void AReversedScanIsTheScanTurnedRound(StoreSubject& s) {
  const std::vector<Bytes> keys = FillRandom(s, 500, 2);
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    ScanSpec forward = Spec();
    // Both scans begin and end at keys of the table, or have no bounds. They exclude different
    // ends.
    Bytes low = random() % 4 == 0 ? Bytes() : keys[random() % keys.size()];
    Bytes high = random() % 4 == 0 ? Bytes() : keys[random() % keys.size()];
    if (!low.empty() && !high.empty() && high < low) std::swap(low, high);
    ScanSpec back = Spec();
    back.reversed = true;
    back.start = high;
    back.stop = low;
    back.batch_rows = 1 + random() % 9;
    forward.start = low.empty() ? Bytes() : low + Bytes(1, 0);
    forward.stop = high.empty() ? Bytes() : high + Bytes(1, 0);
    std::vector<Bytes> expected = Keys(s.store(), forward);
    std::reverse(expected.begin(), expected.end());
    REQUIRE(Keys(s.store(), back) == expected);
    if (i % 15 == 0) s.Disturb();
  }
}

void ARowOfTenThousandCellsComesWhole(StoreSubject& s) {
  RowMutation wide{"wide", {}};
  for (int i = 0; i < 10'000; ++i) wide.changes.push_back(PutCell("a", std::to_string(i), "v"));
  REQUIRE(s.store().Mutate("g", {wide}).ok());
  s.Disturb();
  ScanSpec spec = Spec();
  spec.batch_bytes = 100;
  const std::vector<Row> rows = ScanAll(s.store(), spec);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].cells.size() == 10'000);
}

void PrefixesBecomeRanges(StoreSubject& s) {
  CHECK(AfterPrefix("abc") == "abd");
  CHECK(AfterPrefix(Bytes("\x00\xFF", 2)) == "\x01");
  CHECK(AfterPrefix("\xFF\xFF") == "");
  CHECK(AfterPrefix("") == "");
  const std::vector<Bytes> keys = FillRandom(s, 300, 5);
  const std::vector<Bytes> prefixes = {"\xFF", "\x7F\xFF", Bytes("\0", 1), ""};
  for (const Bytes& prefix : prefixes) {
    ScanSpec spec = Spec();
    spec.start = prefix;
    spec.stop = AfterPrefix(prefix);
    CHECK(Keys(s.store(), spec).size() ==
          static_cast<size_t>(std::count_if(keys.begin(), keys.end(), [&](const Bytes& key) {
            return key.starts_with(prefix);
          })));
  }
}

RowFilter CompareKey(RowFilter::Op op, RowFilter::Comparator comparator, Bytes operand) {
  RowFilter filter;
  filter.kind = RowFilter::Kind::kCompareKey;
  filter.op = op;
  filter.comparator = comparator;
  filter.operand = std::move(operand);
  return filter;
}

// Each operation with each comparator, compared with its definition.
void RowsAreFilteredByTheirKeys(StoreSubject& s) {
  using Op = RowFilter::Op;
  using Comparator = RowFilter::Comparator;
  const std::vector<Bytes> keys = FillRandom(s, 300, 6);
  const auto passing = [&](const auto& passes) {
    std::vector<Bytes> some;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(some), passes);
    return some;
  };
  const auto given = [&](const RowFilter& filter) {
    ScanSpec spec = Spec();
    spec.filter = filter;
    return Keys(s.store(), spec);
  };
  const auto holds = [](Op op, int order) {
    return op == Op::kLess             ? order < 0
           : op == Op::kLessOrEqual    ? order <= 0
           : op == Op::kEqual          ? order == 0
           : op == Op::kNotEqual       ? order != 0
           : op == Op::kGreaterOrEqual ? order >= 0
                                       : order > 0;
  };
  std::mt19937 random(9);
  for (const Op op : {Op::kLess, Op::kLessOrEqual, Op::kEqual, Op::kNotEqual, Op::kGreaterOrEqual,
                      Op::kGreater}) {
    const Bytes operand = keys[random() % keys.size()].substr(0, 2);
    REQUIRE(given(CompareKey(op, Comparator::kBytes, operand)) ==
            passing([&](const Bytes& key) { return holds(op, key.compare(operand)); }));
    REQUIRE(given(CompareKey(op, Comparator::kPrefix, operand)) == passing([&](const Bytes& key) {
              return holds(op, key.substr(0, operand.size()).compare(operand));
            }));
    const bool equality = op == Op::kEqual || op == Op::kNotEqual;
    for (const Comparator comparator :
         {Comparator::kSubstring, Comparator::kBitAnd, Comparator::kBitOr, Comparator::kBitXor}) {
      const RowFilter filter = CompareKey(op, comparator, operand);
      if (!equality) {
        ScanSpec spec = Spec();
        spec.filter = filter;
        CHECK(s.store().Scan(spec).status().code() == StatusCode::kInvalidArgument);
        continue;
      }
      REQUIRE(given(filter) == passing([&](const Bytes& key) {
                bool found = key.find(operand) != Bytes::npos;
                if (comparator != Comparator::kSubstring) {
                  found = false;
                  for (size_t i = 0; key.size() == operand.size() && i < key.size(); ++i) {
                    const uint8_t a = ByteAt(key, i), b = ByteAt(operand, i);
                    found = found || (comparator == Comparator::kBitAnd  ? (a & b)
                                      : comparator == Comparator::kBitOr ? (a | b)
                                                                         : (a ^ b)) != 0;
                  }
                }
                return found == (op == Op::kEqual);
              }));
    }
  }
  // A substring is found without regard to case.
  Put(s, "Letters", "a", "q", "v");
  CHECK(given(CompareKey(Op::kEqual, Comparator::kSubstring, "eTT")) ==
        std::vector<Bytes>{"Letters"});
}

// not (a and b) = not a or not b, and the reverse, on trees of conditions that have an opposite.
void AndAndOrObeyDeMorgan(StoreSubject& s) {
  using Op = RowFilter::Op;
  const std::vector<Bytes> keys = FillRandom(s, 200, 7);
  std::mt19937 random(8);
  const std::function<RowFilter(int)> make = [&](int depth) {
    if (depth == 0 || random() % 3 == 0) {
      return CompareKey(
          static_cast<Op>(random() % 6),
          random() % 2 ? RowFilter::Comparator::kBytes : RowFilter::Comparator::kPrefix,
          keys[random() % keys.size()]);
    }
    RowFilter filter;
    filter.kind = random() % 2 ? RowFilter::Kind::kAnd : RowFilter::Kind::kOr;
    for (size_t n = random() % 4; n > 0; --n) filter.children.push_back(make(depth - 1));
    return filter;
  };
  const std::function<RowFilter(RowFilter)> opposite = [&](RowFilter filter) {
    if (filter.kind == RowFilter::Kind::kCompareKey) {
      const Op opposites[] = {Op::kGreaterOrEqual, Op::kGreater, Op::kNotEqual,
                              Op::kEqual,          Op::kLess,    Op::kLessOrEqual};
      filter.op = opposites[static_cast<size_t>(filter.op)];
      return filter;
    }
    filter.kind =
        filter.kind == RowFilter::Kind::kAnd ? RowFilter::Kind::kOr : RowFilter::Kind::kAnd;
    for (RowFilter& child : filter.children) child = opposite(child);
    return filter;
  };
  for (int i = 0; i < 100; ++i) {
    ScanSpec spec = Spec();
    spec.filter = make(3);
    std::vector<Bytes> both = Keys(s.store(), spec);
    spec.filter = opposite(spec.filter);
    const std::vector<Bytes> rest = Keys(s.store(), spec);
    both.insert(both.end(), rest.begin(), rest.end());
    std::sort(both.begin(), both.end());
    REQUIRE(both == keys);
  }
}

void RowsAreDrawnAtRandomButTheSameForASeed(StoreSubject& s) {
  constexpr int kRows = 2000;
  for (int i = 0; i < kRows; ++i) Put(s, "row" + std::to_string(i), "a", "q", "v");
  ScanSpec spec = Spec();
  spec.filter.kind = RowFilter::Kind::kRandom;
  for (const double chance : {-1.0, 0.0, 1.0, 2.0}) {
    spec.filter.chance = chance;
    CHECK(Keys(s.store(), spec).size() == (chance < 1 ? 0U : kRows));
  }
  spec.filter.chance = 0.5;
  spec.filter.seed = 42;
  const std::vector<Bytes> drawn = Keys(s.store(), spec);
  CHECK(std::abs(static_cast<double>(drawn.size()) - kRows / 2.0) < 3 * std::sqrt(kRows * 0.25));
  spec.batch_rows = 3;
  CHECK(Keys(s.store(), spec) == drawn);
  spec.filter.seed = 43;
  CHECK(Keys(s.store(), spec) != drawn);
}

void RowsAreFilteredByAColumnsValue(StoreSubject& s) {
  for (const char* key : {"1", "2", "3"}) Put(s, key, "a", "q", key);
  Put(s, "none", "b", "q", "2");
  s.Disturb();
  ScanSpec spec = Spec();
  spec.filter.kind = RowFilter::Kind::kColumnValue;
  spec.filter.op = RowFilter::Op::kGreater;
  spec.filter.family = "a";
  spec.filter.qualifier = "q";
  spec.filter.operand = "1";
  CHECK(Keys(s.store(), spec) == std::vector<Bytes>{"2", "3", "none"});
  spec.filter.pass_if_missing = false;
  CHECK(Keys(s.store(), spec) == std::vector<Bytes>{"2", "3"});
  // Values decide although they are not returned.
  spec.keys_only = true;
  CHECK(Keys(s.store(), spec) == std::vector<Bytes>{"2", "3"});
  // A column that is not selected counts as missing.
  spec.keys_only = false;
  spec.family = "b";
  CHECK(Keys(s.store(), spec).empty());
  spec.filter.pass_if_missing = true;
  CHECK(Keys(s.store(), spec) == std::vector<Bytes>{"none"});
}

void TemplatesFindWhatALookAtEveryRowFinds(StoreSubject& s) {
  const std::vector<Bytes> keys = FillRandom(s, 600, 10);
  std::mt19937 random(11);
  for (int i = 0; i < 100; ++i) {
    ScanSpec spec = Spec();
    RowFilter one;
    one.kind = RowFilter::Kind::kTemplate;
    one.operand = keys[random() % keys.size()];
    for (size_t n = one.operand.size(); n > 0; --n) {
      one.mask.push_back(static_cast<char>(random() % 2));
    }
    spec.filter = one;
    const auto fits = [&](const Bytes& key) {
      if (key.size() < one.operand.size()) return false;
      for (size_t b = 0; b < one.operand.size(); ++b) {
        if (one.mask[b] == 0 && key[b] != one.operand[b]) return false;
      }
      return true;
    };
    std::vector<Bytes> expected;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(expected), fits);
    REQUIRE(Keys(s.store(), spec) == expected);
    spec.reversed = true;
    std::reverse(expected.begin(), expected.end());
    REQUIRE(Keys(s.store(), spec) == expected);
  }
  ScanSpec bad = Spec();
  bad.filter.kind = RowFilter::Kind::kTemplate;
  bad.filter.operand = "abc";
  bad.filter.mask = "a";
  CHECK(s.store().Scan(bad).status().code() == StatusCode::kInvalidArgument);
}

void TemplatesJumpOverRows(StoreSubject& s) {
  if (!s.store().Capabilities().seek_filters) return;
  // Four bytes of time between metric and tag, as in a data table.
  std::vector<RowMutation> rows;
  for (int metric = 0; metric < 2; ++metric) {
    for (int time = 0; time < 20; ++time) {
      for (int tag = 0; tag < 200; ++tag) {
        Bytes key;
        AppendBig(&key, static_cast<uint64_t>(metric), 1);
        AppendBig(&key, static_cast<uint64_t>(time), 2);
        AppendBig(&key, static_cast<uint64_t>(tag), 2);
        rows.push_back({key, {PutCell("a", "q", "v")}});
      }
    }
  }
  REQUIRE(s.store().Mutate("g", rows).ok());
  for (int round = 0; round < 3; ++round) {
    ScanSpec spec = Spec();
    spec.filter.kind = RowFilter::Kind::kTemplate;
    spec.filter.operand = Bytes("\x01\0\0\0\x07", 5);
    spec.filter.mask = Bytes("\0\1\1\0\0", 5);
    auto cursor = s.store().Scan(spec);
    REQUIRE(cursor.ok());
    std::vector<Row> found;
    REQUIRE((*cursor)->Next(&found).ok());
    CHECK(found.size() == 20);
    CHECK((*cursor)->rows_examined() < 100);
    cursor->reset();  // the store may be reopened
    s.Disturb();
  }
}

void SeveralCountersOfARowAreAddedToAtOnce(StoreSubject& s) {
  auto sums = s.store().IncrementColumns("g", Bytes(1, 0),
                                         {{"a", "n", 5}, {"b", "n", -2}, {"a", "n", 1}}, {});
  REQUIRE(sums.ok());
  CHECK(*sums == std::vector<int64_t>{5, -2, 6});
  s.Disturb();
  CHECK(*s.store().IncrementColumns("g", Bytes(1, 0), {{"a", "n", 0}, {"b", "n", INT64_MIN}}, {}) ==
        std::vector<int64_t>{6, INT64_MAX - 1});
  Put(s, Bytes(1, 0), "a", "short", "1234567");
  CHECK(s.store()
            .IncrementColumns("g", Bytes(1, 0), {{"a", "n", 1}, {"a", "short", 1}}, {})
            .status()
            .code() == StatusCode::kInvalidArgument);
  CHECK(*s.store().Increment("g", Bytes(1, 0), "a", "n", 0) == 6);
}

void ReadersNeverSeeHalfAMutation(StoreSubject& s) {
  constexpr int kColumns = 20;
  std::atomic<bool> stop{false};
  const auto write = [&](int value) {
    RowMutation row{"row", {}};
    for (int i = 0; i < kColumns; ++i) {
      row.changes.push_back(PutCell(i % 2 ? "a" : "b", std::to_string(i), std::to_string(value)));
    }
    return s.store().Mutate("g", {row});
  };
  REQUIRE(write(0).ok());
  std::thread writer([&] {
    for (int i = 1; !stop; ++i) (void)write(i);
  });
  const auto one_value = [](const Row& row) {
    return row.cells.size() == kColumns &&
           std::all_of(row.cells.begin(), row.cells.end(),
                       [&](const Cell& cell) { return cell.value == row.cells[0].value; });
  };
  int mixed = 0;
  for (int i = 0; i < 300; ++i) {
    if (!one_value(*s.store().Get("g", "row"))) ++mixed;
    const std::vector<Row> rows = ScanAll(s.store(), Spec());
    if (rows.size() != 1 || !one_value(rows[0])) ++mixed;
    if (i % 100 == 50) (void)s.store().Flush();
  }
  stop = true;
  writer.join();
  CHECK(mixed == 0);
}

}  // namespace

void CheckReadContract(const StoreFactory& make) {
  using Check = void (*)(StoreSubject&);
  for (Check check : {CellsAreChosenByColumnPrefixAndRange, ManyRowsAreGotInTheOrderAsked,
                      ScansAreTheSameForAnyBudgetAndEndAtTheirLimit,
                      AReversedScanIsTheScanTurnedRound, ARowOfTenThousandCellsComesWhole,
                      PrefixesBecomeRanges, RowsAreFilteredByTheirKeys, AndAndOrObeyDeMorgan,
                      RowsAreDrawnAtRandomButTheSameForASeed, RowsAreFilteredByAColumnsValue,
                      TemplatesFindWhatALookAtEveryRowFinds, TemplatesJumpOverRows,
                      SeveralCountersOfARowAreAddedToAtOnce, ReadersNeverSeeHalfAMutation}) {
    auto subject = make();
    REQUIRE(subject->store().CreateTable({"g", {{"a"}, {"b"}}, false}).ok());
    check(*subject);
  }
}

}  // namespace hg
