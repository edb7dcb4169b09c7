// Memory of queries is charged before it is allocated, and work is reported.

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "query/buckets/merge.h"
#include "query/group.h"
#include "query/request/side_by_side.h"
#include "query/series/choose_series.h"
#include "tests/fault/starve.h"
#include "tests/query/engine_fixture.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

constexpr int64_t kMemoryHour = 1'500'008'400;
constexpr int64_t kPoints = 40'000, kSpan = 12 * 3600;
constexpr int64_t kColumnsBytes = kPoints * 16;

struct Limited : EngineFixture {
  explicit Limited(int64_t bytes_max = 0) : EngineFixture(With(bytes_max)) {
    for (int64_t i = 0; i < kPoints; ++i) Put("m", {{"host", "a"}}, kMemoryHour + i, i);
  }
  static Options With(int64_t bytes_max) {
    Options options = UtcOptions();
    options.query_memory_bytes_max = bytes_max;
    return options;
  }

  /// Returns the maximum memory of a query, or −1 if it was refused because of its memory.
  int64_t Most(const SubQuery& query) {
    Result<Answer> answer = Run(query, kMemoryHour, kMemoryHour + kSpan);
    if (answer.ok()) return engine.running().Completed()[0]->memory_most_bytes;
    CHECK(answer.status().code() == StatusCode::kLimitExceeded);
    return -1;
  }
};

SubQuery Sum() { return EngineFixture::Ask("sum", "m"); }

SubQuery Downsampled(const char* text) {
  SubQuery query = Sum();
  query.downsample = text;
  return query;
}

PointColumns Ramp(int64_t first, size_t n) {
  PointColumns points;
  for (size_t i = 0; i < n; ++i) {
    points.time_ms.push_back(first + static_cast<int64_t>(i) * 10);
    points.bits.push_back(i);
  }
  return points;
}

}  // namespace

TEST_CASE_FIXTURE(Limited, "points and the merged result are charged") {
  CHECK(Most(Sum()) >= 2 * kColumnsBytes);
}

TEST_CASE_FIXTURE(Limited, "buckets are charged by their own size, not by their input") {
  CHECK(Most(Downsampled("10m-sum")) < 2 * kColumnsBytes);
}

TEST_CASE_FIXTURE(Limited, "memory is free after a query") {
  CHECK(Most(Sum()) > 0);
  CHECK(engine.running().budget().taken() == 0);
}

TEST_CASE(
    "scanned points, values of a bucket and filled buckets are refused beyond the memory limit") {
  constexpr int64_t kLittle = 400'000;
  Limited limited(kLittle);
  // The scanned points or the merged points exceed the limit.
  CHECK(limited.Most(Sum()) == -1);
  // The function of this bucket needs all values.
  CHECK(limited.Most(Downsampled("12h-p99")) == -1);
  CHECK(limited.Most(Downsampled("12h-avg")) > 0);
  // The fill policy adds many buckets.
  CHECK(limited.Most(Downsampled("100ms-sum-zero")) == -1);
  CHECK(limited.engine.running().budget().taken() == 0);
}

TEST_CASE("many series are charged though each is small") {
  Limited limited(400'000);
  for (int i = 0; i < 1000; ++i) {
    limited.Put("wide", {{"host", "h" + std::to_string(i)}}, kMemoryHour, 1);
  }
  SubQuery query = EngineFixture::Ask("none", "wide");
  CHECK(limited.Most(query) == -1);
  query.filters = {{"literal_or", "host", "h1|h2", true, false}};
  CHECK(limited.Most(query) > 0);
}

TEST_CASE_FIXTURE(EngineFixture, "many filters of one key cache one verdict per value") {
  constexpr int kValues = 300, kFilters = 200;
  for (int i = 0; i < kValues; ++i)
    Put("wide", {{"host", "h" + std::to_string(i)}}, kMemoryHour, 1);
  FakeWatch watch;
  ValidSubQuery query;
  query.text.metric = "wide";
  std::vector<std::shared_ptr<const TagFilter>> filters;
  for (int i = 0; i < kFilters; ++i) {
    const std::string text = "h" + std::string(static_cast<size_t>(i) + 1, '*');
    filters.push_back(*TagFilter::Compile({"wildcard", "host", text}));
  }
  query.filters = std::move(filters);
  const auto choose = [&]() -> Result<size_t> {
    NameMemo memo(names, &watch);
    ASSIGN_OR_RETURN(SeriesFilter filter,
                     SeriesFilter::Resolve(query, UtcOptions(), points.layout(), &memo));
    MemoryTally tally(&watch);
    ASSIGN_OR_RETURN(const SeriesMatcher chosen,
                     ChooseSeries(points, Id(UidKind::kMetric, "wide"), &filter, &tally));
    return chosen.tsuids.size();
  };
  CHECK(*choose() == kValues);
  CHECK(watch.steps > kValues * kFilters);
  CHECK(watch.bytes_most < 512 << 10);
  watch.bytes_max = watch.bytes + (128 << 10);
  CHECK(choose().status().code() == StatusCode::kLimitExceeded);
  watch.bytes_max = INT64_MAX;
  watch.steps = 0;
  watch.steps_max = kValues * kFilters / 2;
  CHECK(choose().status().code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE_FIXTURE(EngineFixture, "filters of many tag keys report their work for each series") {
  constexpr int kSeries = 100, kKeys = 50;
  FakeWatch watch;
  ValidSubQuery query;
  query.text.metric = "wide";
  std::vector<std::shared_ptr<const TagFilter>> filters;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = "key" + std::to_string(i);
    Put("other", {{key, "x"}}, kMemoryHour, 1);
    filters.push_back(*TagFilter::Compile({"not_literal_or", key, "x"}));
  }
  query.filters = std::move(filters);
  for (int i = 0; i < kSeries; ++i) {
    const Tags tags = {{"host", "h" + std::to_string(i)}};
    Put("wide", tags, kMemoryHour, 1);
    query.tsuids.push_back(TsuidOf("wide", tags));
  }
  NameMemo memo(names, &watch);
  auto filter = SeriesFilter::Resolve(query, UtcOptions(), points.layout(), &memo);
  REQUIRE(filter.ok());
  MemoryTally tally(&watch);
  watch.steps = 0;
  const auto chosen = ChooseSeries(points, Id(UidKind::kMetric, "wide"), &*filter, &tally);
  REQUIRE(chosen.ok());
  CHECK(chosen->tsuids.size() == kSeries);
  CHECK(watch.steps > kSeries * kKeys * 2);  // one pair for each key
}

TEST_CASE_FIXTURE(EngineFixture,
                  "many tag keys of a group are charged and reported, whatever their order is") {
  constexpr size_t kSeries = 30'000;
  std::vector<Series> series(kSeries);
  SeriesGroup ascending;
  for (size_t i = 0; i < kSeries; ++i) {
    series[i].tsuid = TsuidOf("wide", {{"key" + std::to_string(i), "x"}});
    ascending.members.push_back(&series[i]);
  }
  SeriesGroup descending = ascending;
  std::reverse(descending.members.begin(), descending.members.end());
  FakeWatch watch;
  const auto describe = [&](const SeriesGroup& group) {
    Group out;
    NameMemo memo(names, &watch);
    RETURN_IF_ERROR(Describe(points.layout(), group, &memo, &out));
    CHECK(out.tags.size() == kSeries);
    CHECK(out.tags[1].first == "key1");
    return Status();
  };
  const double seconds = CpuSecondsOf([&] { CHECK(describe(ascending).ok()); });
  CHECK(CpuSecondsOf([&] { CHECK(describe(descending).ok()); }) < 4 * seconds);
  CHECK(watch.steps >= 2 * kSeries);
  CHECK(watch.bytes_most >= int64_t{300} * kSeries);  // names take less than 200 bytes each
  watch.steps_max = watch.steps + kSeries / 2;
  CHECK(describe(ascending).code() == StatusCode::kDeadlineExceeded);
  CHECK(watch.steps < watch.steps_max + kSeries / 4);
}

TEST_CASE("sorting many series is charged and reported") {
  std::vector<Series> series(10'000);
  for (size_t i = 0; i < series.size(); ++i) series[i].order = std::to_string(99'999 - i);
  FakeWatch watch;
  MemoryTally tally(&watch);
  CHECK(SortSeries(&series, &tally).ok());
  CHECK(series.front().order == "90000");
  CHECK(series.back().order == "99999");
  CHECK(watch.steps >= series.size());
  CHECK(watch.bytes_most >= static_cast<int64_t>(series.size() * sizeof(Series)));
  std::reverse(series.begin(), series.end());
  watch.steps = 0;
  watch.steps_max = series.size();
  CHECK(SortSeries(&series, &tally).code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE("merging reports its steps and charges the result") {
  const PointColumns a = Ramp(1, 10'000), b = Ramp(6, 10'000), c = Ramp(1, 10'000);
  MergeOptions options;
  options.aggregator = FindAggregator("sum");
  const std::vector<std::vector<const PointColumns*>> cases = {{&a}, {&a, &c}, {&a, &b}};
  for (const auto& columns : cases) {
    CAPTURE(columns.size());
    FakeWatch watch;
    options.watch = &watch;
    Result<PointColumns> merged = MergeSeries(options, columns);
    REQUIRE(merged.ok());
    CHECK(watch.steps + 4096 >= merged->size() * columns.size());
    CHECK(watch.bytes >= static_cast<int64_t>(merged->size() * 16));
    FakeWatch poor;
    poor.bytes_max = static_cast<int64_t>(merged->size() * 16) - 1;
    options.watch = &poor;
    CHECK(MergeSeries(options, columns).status().code() == StatusCode::kLimitExceeded);
    FakeWatch hasty;
    hasty.steps_max = 5000;
    options.watch = &hasty;
    CHECK(MergeSeries(options, columns).status().code() == StatusCode::kDeadlineExceeded);
  }
}

TEST_CASE("a memory tally charges in pieces and returns everything") {
  FakeWatch watch;
  {
    MemoryTally tally(&watch);
    CHECK(tally.Add(1).ok());
    const int64_t piece = watch.bytes;
    CHECK(piece > 1);
    CHECK(tally.Add(piece - 1).ok());
    CHECK(watch.bytes == piece);
    CHECK(tally.Add(100 * piece).ok());
    CHECK(watch.bytes >= 101 * piece);
    tally.Remove(100 * piece);
    CHECK(watch.bytes <= 5 * piece);
    watch.bytes_max = 10 * piece;
    CHECK_FALSE(tally.Add(20 * piece).ok());
    CHECK(tally.held() == piece);
  }
  CHECK(watch.bytes == 0);
}

TEST_CASE("parts of a query run concurrently, each once") {
  WorkerPool pool(2, 100);
  for (size_t helpers : {0, 1, 5}) {
    std::vector<std::atomic<int>> calls(100);
    RunSideBySide(&pool, helpers, calls.size(), [&](size_t i) { return ++calls[i] > 0; });
    for (const auto& n : calls) CHECK(n == 1);
  }
  std::atomic<int> calls{0};
  RunSideBySide(&pool, 0, 100, [&](size_t i) { return ++calls, i < 9; });
  CHECK(calls == 10);
}

TEST_CASE("an exception of a part is rethrown after all parts have ended, on any thread") {
  WorkerPool pool(3, 100);
  for (size_t thrower = 0; thrower < 40; ++thrower) {
    std::atomic<int> inside{0};
    CHECK_THROWS_AS(RunSideBySide(&pool, 3, 40,
                                  [&](size_t i) {
                                    ++inside;
                                    if (i == thrower) {
                                      --inside;
                                      throw std::bad_alloc();
                                    }
                                    std::this_thread::yield();
                                    --inside;
                                    return true;
                                  }),
                    std::bad_alloc);
    CHECK(inside == 0);
  }
}

TEST_CASE("the calling thread runs all parts while no thread of the pool is free") {
  WorkerPool pool(1, 100);
  std::atomic<bool> go_on{false};
  REQUIRE(pool.Post([&](WorkerPool::Turn&) {
    while (!go_on) std::this_thread::yield();
  }));
  int calls = 0;
  RunSideBySide(&pool, 3, 10, [&](size_t) { return ++calls > 0; });
  CHECK(calls == 10);
  go_on = true;
}

TEST_CASE("without memory for a helper the parts still run, and none runs after the call") {
  const std::function<bool(size_t)>* alive = nullptr;
  std::atomic<int> calls{0}, late{0};
  const std::function<bool(size_t)> task = [&](size_t) {
    late += alive == nullptr ? 1 : 0;
    return ++calls > 0;
  };
  bool failed = true;
  int without_help = 0;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    WorkerPool pool(1, 100);
    std::atomic<bool> go_on{false};
    REQUIRE(pool.Post([&](WorkerPool::Turn&) {  // helpers start only after all parts are done
      while (!go_on) std::this_thread::yield();
    }));
    calls = late = 0;
    alive = &task;
    const bool ok = Starve(n, &failed, [&] {
      RunSideBySide(&pool, 3, 10, task);
      return Status();
    });
    alive = nullptr;
    go_on = true;
    pool.Join();
    CHECK(calls == (ok ? 10 : 0));
    CHECK(late == 0);
    without_help += ok && failed ? 1 : 0;
  }
  CHECK(without_help >= 3);
}

}  // namespace hg::query
