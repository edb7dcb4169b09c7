#include "storage/engine/registry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "storage/points/match_series.h"
#include "tests/support/colliding_texts.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"
#include "tests/support/sanitizer.h"

namespace {
std::atomic<size_t> allocated_bytes{0};
}  // namespace

// If GCC inlined the functions that free memory, it would warn that new is not malloc.
void* operator new(size_t bytes) {
  allocated_bytes += bytes;
  if (void* p = std::malloc(bytes)) return p;
  std::abort();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// std::stable_sort allocates its buffer with this function.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(bytes);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace hg::engine {
namespace {

const KeyLayout kLayout;

Bytes Id(uint32_t number) {
  Bytes id;
  AppendBig(&id, number, 3);
  return id;
}

using Random = std::minstd_rand;

/// Few keys and values, so that series share tag sets. Sometimes a key occurs twice.
Bytes RandomTsuid(Random& random) {
  Bytes tsuid = Id(1 + random() % 7);
  const size_t tags = 1 + random() % 3;
  for (size_t i = 0; i < tags; ++i) tsuid += Id(1 + random() % 4) + Id(1 + random() % 90);
  return tsuid;
}

SeriesMatcher RandomMatcher(Random& random) {
  SeriesMatcher matcher;
  const size_t clauses = random() % 3;
  for (size_t i = 0; i < clauses; ++i) {
    TagClause& clause = matcher.clauses.emplace_back();
    clause.tagk = Id(1 + random() % 5);
    clause.kind = static_cast<TagClause::Kind>(random() % 3);
    std::set<Bytes> values;
    const size_t count = clause.kind == TagClause::Kind::kOneOf ? 1 + random() % 40 : 0;
    for (size_t v = 0; v < count; ++v) values.insert(Id(1 + random() % 100));
    clause.values.assign(values.begin(), values.end());
  }
  std::sort(matcher.clauses.begin(), matcher.clauses.end(),
            [](const TagClause& a, const TagClause& b) { return a.tagk < b.tagk; });
  matcher.exact_tags = random() % 4 == 0;
  return matcher;
}

FoundSeries Match(const Registry& registry, ByteView metric, const SeriesMatcher& matcher) {
  MemoryTally memory(nullptr);
  return *registry.Match(metric, matcher, &memory);
}

TEST_CASE("on an event loop, only few series are examined") {
  Registry registry{KeyLayout()};
  for (uint32_t i = 1; i <= Registry::kFewSeries + 1; ++i) registry.Add(Id(7) + Id(1) + Id(i));
  registry.Add(Id(8) + Id(1) + Id(1));
  const SeriesMatcher all;
  SeriesMatcher two;
  two.clauses.push_back({Id(1), TagClause::Kind::kOneOf, {Id(1), Id(2)}});
  FakeWatch may_wait, on_loop;
  CHECK(registry.MayMatch(Id(7), all, nullptr).ok());
  CHECK(registry.MayMatch(Id(7), all, &may_wait).ok());
  CHECK(Match(registry, Id(7), two).numbers == std::vector<uint32_t>{0, 1});
  CHECK(Match(registry, "", two).numbers == std::vector<uint32_t>{0, 1, Registry::kFewSeries + 1});
  CHECK(Match(registry, Id(9), two).numbers.empty());
  on_loop.StayOnLoop();
  CHECK(registry.MayMatch(Id(7), two, &on_loop).ok());
  CHECK(registry.MayMatch(Id(8), all, &on_loop).ok());
  CHECK(registry.MayMatch(Id(9), all, &on_loop).ok());
  CHECK_FALSE(on_loop.refused());
  CHECK_FALSE(registry.MayMatch(Id(7), all, &on_loop).ok());
  CHECK(on_loop.refused());
}

}  // namespace

TEST_CASE("matching series equal those that pass one by one, in TSUID order") {
  Random random(20);
  Registry registry(kLayout);
  std::set<Bytes> known;
  for (int i = 0; i < 6000; ++i) {
    const Bytes tsuid = RandomTsuid(random);
    CHECK(registry.Find(tsuid).has_value() == known.contains(tsuid));
    if (!known.insert(tsuid).second) continue;
    registry.Add(tsuid);
    REQUIRE(registry.Find(tsuid) == registry.size() - 1);
    REQUIRE(registry.TsuidOf(registry.size() - 1) == tsuid);
  }
  REQUIRE(known.size() > 3000);
  for (const Bytes& tsuid : known) REQUIRE(registry.TsuidOf(*registry.Find(tsuid)) == tsuid);
  size_t found = 0;
  for (int i = 0; i < 400; ++i) {
    SeriesMatcher matcher = RandomMatcher(random);
    if (i % 2 == 0) {  // some are listed, known ones and unknown ones
      for (int n = 0; n < 200; ++n) matcher.tsuids.push_back(RandomTsuid(random));
      std::sort(matcher.tsuids.begin(), matcher.tsuids.end());
      const auto twice = std::unique(matcher.tsuids.begin(), matcher.tsuids.end());
      matcher.tsuids.erase(twice, matcher.tsuids.end());
    }
    const Bytes metric = random() % 4 == 0 ? Bytes() : Id(1 + random() % 8);
    std::vector<Bytes> expected;
    for (const Bytes& tsuid : known) {
      if (tsuid.starts_with(metric) && points::MatchesTsuid(matcher, kLayout, tsuid))
        expected.push_back(tsuid);
    }
    std::vector<Bytes> matched;
    const FoundSeries series = Match(registry, metric, matcher);
    for (const uint32_t number : series.numbers) matched.emplace_back(series.tsuids->Tsuid(number));
    REQUIRE(matched == expected);
    found += matched.size();
  }
  CHECK(found > 1000);
}

// Writers choose the tags of their series, and so the TSUIDs. Those of this test have the bytes of
// a metric and of four tags.
TEST_CASE("series with equal values of std::hash are registered as quickly as others") {
  Registry registry(kLayout);
  const Bytes head = Id(1) + Bytes("\0\0\1\0\0", 5), tail(3, 'z');
  std::vector<Bytes> tsuids;
  for (const std::string& middle : CollidingTexts(30'000, head, tail)) {
    tsuids.push_back(head + middle + tail);
  }
  REQUIRE(std::hash<Bytes>()(tsuids[0]) == std::hash<Bytes>()(tsuids[1]));
  const std::vector<ByteView> views(tsuids.begin(), tsuids.end());
  std::vector<uint32_t> numbers(tsuids.size());
  const double seconds = CpuSecondsOf([&] {
    registry.AddAll(views);
    CHECK(registry.FindAll(views, numbers.data()));
  });
  CHECK(numbers.back() == tsuids.size() - 1);
  CHECK(seconds < (kThreadSanitizer ? 2 : 0.5));  // comparing all pairs takes seconds
}

// Examining all series of the metric would allocate four bytes for each of them.
TEST_CASE("a listed series is looked up, however many series its metric has") {
  constexpr uint32_t kSeries = 50'000;
  Registry registry(kLayout);
  for (uint32_t i = 0; i < kSeries; ++i) registry.Add(Id(1) + Id(1) + Id(i));
  SeriesMatcher one;
  one.tsuids = {Id(1) + Id(1) + Id(777)};
  const size_t before = allocated_bytes;
  const std::vector<uint32_t> found = Match(registry, Id(1), one).numbers;
  CHECK(allocated_bytes - before < 1024);
  CHECK(found == std::vector<uint32_t>{777});
  CHECK(Match(registry, Id(2), one).numbers.empty());
  CHECK(Match(registry, "", one).numbers == found);
}

TEST_CASE("series added together equal those added one by one") {
  Random random(21);
  std::set<Bytes> known;
  while (known.size() < 3000) known.insert(RandomTsuid(random));
  std::vector<ByteView> tsuids(known.begin(), known.end());
  std::shuffle(tsuids.begin(), tsuids.end(), std::mt19937(1));
  Registry one_by_one(kLayout), together(kLayout);
  for (const ByteView tsuid : tsuids) one_by_one.Add(tsuid);
  for (std::span<const ByteView> rest = tsuids; !rest.empty();) {
    const size_t some = std::min<size_t>(random() % 100, rest.size());
    together.AddAll(rest.first(some));
    rest = rest.subspan(some);
    REQUIRE(together.size() == tsuids.size() - rest.size());
  }
  for (uint32_t i = 0; i < tsuids.size(); ++i) {
    REQUIRE(together.TsuidOf(i) == tsuids[i]);
    REQUIRE(together.Find(tsuids[i]) == i);
  }
  CHECK(together.bytes() == one_by_one.bytes());
  for (int i = 0; i < 100; ++i) {
    const SeriesMatcher matcher = RandomMatcher(random);
    REQUIRE(Match(together, "", matcher).numbers == Match(one_by_one, "", matcher).numbers);
  }
}

TEST_CASE("series looked up together are found as one by one") {
  Random random(22);
  Registry registry(kLayout);
  const ByteView stranger("\0\0\1\0\0\1\0\0\1", 9);
  uint32_t nothing = 0;
  CHECK_FALSE(registry.FindAll({&stranger, 1}, &nothing));
  CHECK(nothing == Registry::kUnknown);
  std::set<Bytes> met;
  while (met.size() < 3000) met.insert(RandomTsuid(random));
  std::vector<ByteView> tsuids(met.begin(), met.end());
  std::shuffle(tsuids.begin(), tsuids.end(), std::mt19937(2));
  const size_t known = 2000;
  registry.AddAll(std::span(tsuids).first(known));
  CHECK(registry.FindAll({}, nullptr));
  for (int round = 0; round < 300; ++round) {
    // The list has consecutive series, as writers send them, and jumps. In some rounds, some series
    // do not exist.
    std::vector<ByteView> wanted;
    size_t at = random() % tsuids.size();
    const size_t span = round % 2 == 0 ? tsuids.size() : known;
    for (size_t i = random() % 100; i > 0; --i) {
      at = random() % 5 == 0 ? random() % span : at + 1;
      wanted.push_back(tsuids[at %= span]);
    }
    std::vector<uint32_t> numbers(wanted.size());
    bool all = true;
    const bool found = registry.FindAll(wanted, numbers.data());
    for (size_t i = 0; i < wanted.size(); ++i) {
      REQUIRE(numbers[i] == registry.Find(wanted[i]).value_or(Registry::kUnknown));
      all = all && numbers[i] != Registry::kUnknown;
    }
    REQUIRE(found == all);
  }
}

TEST_CASE("series that share their tags take a few bytes each") {
  Registry registry(kLayout);
  constexpr uint32_t kHosts = 4000, kMetrics = 10;
  size_t tsuids = 0;
  for (uint32_t host = 1; host <= kHosts; ++host) {
    for (uint32_t metric = 1; metric <= kMetrics; ++metric) {
      const Bytes tsuid = Id(metric) + Id(1) + Id(host) + Id(2) + Id(host % 10 + 1);
      registry.Add(tsuid);
      tsuids += tsuid.size();
    }
  }
  CHECK(registry.bytes() < tsuids + 100 * kHosts * kMetrics);
}

}  // namespace hg::engine
