#include "tsd/ingest/raw_key_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/colliding_texts.h"
#include "tests/support/cpu_time.h"
#include "tests/support/sanitizer.h"

namespace hg::tsd {
namespace {

constexpr size_t kPlenty = size_t{1} << 30;

KeyedPoint Point(std::string_view metric, std::string_view tags, Dialect dialect = Dialect::kJson) {
  KeyedPoint point;
  point.series = {dialect, metric, tags};
  return point;
}

/// The ids are the text in reverse, so they are unique.
SeriesIds IdsOf(const RawKey& raw_key) {
  return {Bytes(raw_key.metric.rbegin(), raw_key.metric.rend()),
          Bytes(raw_key.tags.rbegin(), raw_key.tags.rend())};
}

void Remember(RawKeyTable* table, const RawKey& raw_key, SeriesNumber number, uint32_t generation) {
  table->Remember(raw_key, IdsOf(raw_key), number, generation);
}
void Remember(RawKeyTable* table, const RawKey& raw_key, SeriesNumber number) {
  Remember(table, raw_key, number, table->generation());
}

/// The number of one raw series key; −1 if it is unknown.
int64_t Find(const RawKeyTable& table, const KeyedPoint& point) {
  SeriesNumber number = 0;
  return table.FindAll({&point, 1}, &number) ? int64_t{number} : -1;
}

}  // namespace

TEST_CASE("a raw series key is known by its exact bytes and its dialect") {
  RawKeyTable table(1, kPlenty);
  Remember(&table, {Dialect::kJson, "m", R"({"a":"b"})"}, 7);
  CHECK(Find(table, Point("m", R"({"a":"b"})")) == 7);
  CHECK(Find(table, Point("m", R"({"a": "b"})")) == -1);
  CHECK(Find(table, Point("m{", R"("a":"b"})")) == -1);
  CHECK(Find(table, Point("m", R"({"a":"b"})", Dialect::kWords)) == -1);
}

TEST_CASE("ids with equal values of std::hash are added as quickly as others") {
  RawKeyTable table(1, kPlenty);
  const std::vector<std::string> ids = CollidingTexts(30'000);
  const double seconds = CpuSecondsOf([&] {
    for (SeriesNumber number = 0; number < ids.size(); ++number) {
      const std::string tags = std::to_string(number);
      table.Remember({Dialect::kJson, "m", tags}, {"m", ids[number]}, number, table.generation());
    }
  });
  CHECK(Find(table, Point("m", "29999")) == 29'999);
  CHECK(seconds < (kThreadSanitizer ? 2 : 0.5));  // comparing all pairs takes seconds
}

TEST_CASE("a batch with one unknown key is not found") {
  RawKeyTable table(1, kPlenty);
  std::vector<KeyedPoint> points;
  std::vector<std::string> tags;
  for (int i = 0; i < 100; ++i) tags.push_back(std::to_string(i));
  for (int i = 0; i < 100; ++i) {
    points.push_back(Point("m", tags[i]));
    if (i != 70) Remember(&table, points.back().series, i);
  }
  std::vector<SeriesNumber> numbers(points.size());
  CHECK_FALSE(table.FindAll(points, numbers.data()));
  Remember(&table, points[70].series, 70);
  REQUIRE(table.FindAll(points, numbers.data()));
  for (SeriesNumber i = 0; i < 100; ++i) CHECK(numbers[i] == i);
}

TEST_CASE("tags of every length are distinguished, also while the table grows") {
  RawKeyTable table(99, kPlenty);
  std::vector<std::string> tags;
  for (size_t length = 0; length < 300; ++length) {
    for (const char c : {'x', 'y'}) {
      tags.push_back(std::string(length, c) + "=");
      tags.push_back(std::string(length, c) + "=" + std::string(17, c));
    }
  }
  for (size_t i = 0; i < tags.size(); ++i) Remember(&table, {Dialect::kWords, "m", tags[i]}, i);
  for (size_t i = 0; i < tags.size(); ++i) {
    // Equal texts (both letters at length 0) share the newest number.
    const int64_t found = Find(table, Point("m", tags[i], Dialect::kWords));
    REQUIRE(found >= 0);
    CHECK(tags[static_cast<size_t>(found)] == tags[i]);
  }
}

TEST_CASE("forgotten keys are unknown, and an earlier number does not return") {
  RawKeyTable table(1, kPlenty);
  Remember(&table, {Dialect::kJson, "m", "t"}, 1);
  const uint32_t before = table.generation();
  const uint64_t bytes = table.stats().bytes;
  table.Forget();
  CHECK(Find(table, Point("m", "t")) == -1);
  Remember(&table, {Dialect::kJson, "m", "t"}, 1, before);
  CHECK(Find(table, Point("m", "t")) == -1);
  Remember(&table, {Dialect::kJson, "m", "t"}, 2);
  CHECK(Find(table, Point("m", "t")) == 2);
  CHECK(table.stats().bytes == bytes);
}

TEST_CASE(
    "the metric and the tags of a raw key are known from other keys of its dialect, until "
    "all keys are forgotten") {
  RawKeyTable table(1, kPlenty);
  const RawKey first{Dialect::kJson, "m1", "t1"}, second{Dialect::kJson, "m2", "t2"};
  Remember(&table, first, 1);
  Remember(&table, second, 2);
  const RawKey crossed{Dialect::kJson, "m1", "t2"};
  CHECK(Find(table, Point("m1", "t2")) == -1);
  CHECK(table.FindHalves(crossed).metric == IdsOf(crossed).metric);
  CHECK(table.FindHalves(crossed).pairs == IdsOf(crossed).pairs);
  CHECK(table.FindHalves({Dialect::kJson, "m1", "t3"}).pairs.empty());
  CHECK(table.FindHalves({Dialect::kJson, "t1", "m1"}).metric.empty());
  CHECK(table.FindHalves({Dialect::kWords, "m1", "t1"}).metric.empty());
  table.Forget();
  CHECK(table.FindHalves(crossed).metric.empty());
}

TEST_CASE("another text of known tags becomes known for all series with these tags") {
  RawKeyTable table(1, kPlenty);
  const SeriesIds first{"m1", "pairs"}, second{"m2", "pairs"}, other{"m1", "others"};
  table.Remember({Dialect::kJson, "m1", "{t}"}, first, 1, table.generation());
  table.Remember({Dialect::kJson, "m2", "{t}"}, second, 2, table.generation());
  table.Remember({Dialect::kJson, "m1", "{o}"}, other, 3, table.generation());
  std::vector<KeyedPoint> points = {Point("m1", "t", Dialect::kWords),
                                    Point("m2", "t", Dialect::kWords),
                                    Point("m2", "o", Dialect::kWords), Point("m1", "{t}")};
  std::vector<KeyedSeries> found(points.size());
  CHECK(table.FindEach(points, found.data()) == 3);
  CHECK((found[3].known && found[3].number == 1));
  found[0].ids = first;
  found[1].ids = second;
  found[2].ids = {"m2", "others"};
  SUBCASE("unless names have changed since the lookup") {
    const uint32_t before = table.generation();
    table.Forget();
    table.RememberHalves(points, found.data(), before);
    CHECK_FALSE(found[0].known);
    CHECK(table.FindEach(points, found.data()) == 4);
    return;
  }
  table.RememberHalves(points, found.data(), table.generation());
  CHECK((found[0].known && found[0].number == 1));
  CHECK((found[1].known && found[1].number == 2));
  CHECK_FALSE(found[2].known);
  CHECK(table.stats().raw_keys == 3);
  CHECK(Find(table, points[1]) == 2);
  CHECK(Find(table, points[2]) == -1);
  found[2].number = 4;
  table.RememberAll(points, found.data(), table.generation());
  CHECK(Find(table, points[2]) == 4);
  CHECK(Find(table, Point("m2", "{o}")) == 4);
}

TEST_CASE("keys learned together are found like those learned one by one") {
  RawKeyTable table(7, kPlenty);
  std::vector<std::string> tags, metrics;
  for (int i = 0; i < 300; ++i) tags.push_back("host=" + std::to_string(i));
  for (int i = 0; i < 10; ++i) metrics.push_back("m" + std::to_string(i));
  std::vector<KeyedPoint> points;
  for (const std::string& host : tags)
    for (const std::string& metric : metrics) points.push_back(Point(metric, host));
  // Every seventh series becomes known. Of the other series, the table knows only the metric or
  // only the tags.
  for (size_t i = 0; i < 2000; i += 7) Remember(&table, points[i].series, i);
  std::vector<KeyedSeries> found(points.size());
  const size_t unknown = table.FindEach(points, found.data());
  CHECK(unknown == points.size() - 286);
  for (size_t i = 0; i < points.size(); ++i) {
    REQUIRE(found[i].known == (i < 2000 && i % 7 == 0));
    if (found[i].known) {
      REQUIRE(found[i].number == i);
      continue;
    }
    const SeriesIds ids = IdsOf(points[i].series);
    REQUIRE(found[i].ids.metric == ids.metric);
    REQUIRE(found[i].ids.pairs == (i < 2000 ? ids.pairs : Bytes()));
    found[i].ids = ids;
    found[i].number = static_cast<SeriesNumber>(i);
  }
  table.RememberAll(points, found.data(), table.generation());
  std::vector<SeriesNumber> numbers(points.size());
  REQUIRE(table.FindAll(points, numbers.data()));
  for (size_t i = 0; i < points.size(); ++i) REQUIRE(numbers[i] == i);
}

TEST_CASE("series with equal tags store them once") {
  RawKeyTable table(1, kPlenty);
  const std::string tags(1000, 't');
  std::vector<std::string> metrics;
  for (int i = 0; i < 1000; ++i) metrics.push_back("m" + std::to_string(i));
  for (int i = 0; i < 1000; ++i) Remember(&table, {Dialect::kJson, metrics[i], tags}, i);
  for (int i = 0; i < 1000; ++i) REQUIRE(Find(table, Point(metrics[i], tags)) == i);
  CHECK(table.stats().raw_keys == 1000);
  CHECK(table.stats().bytes < 1000 * tags.size() / 2);
}

TEST_CASE("a full table is cleared: the newest keys are always known, and its size is limited") {
  constexpr size_t kBytesMax = 64 * 1024;
  RawKeyTable table(1, kBytesMax);
  std::vector<std::string> tags;
  for (int i = 0; i < 10000; ++i) tags.push_back("host=" + std::to_string(i));
  for (int i = 0; i < 10000; ++i) {
    Remember(&table, {Dialect::kJson, "m", tags[i]}, i);
    REQUIRE(Find(table, Point("m", tags[i])) == i);
    REQUIRE(table.stats().bytes < 3 * kBytesMax);
  }
  CHECK(Find(table, Point("m", tags[0])) == -1);
  Remember(&table, {Dialect::kJson, "m", tags[0]}, 0);
  CHECK(Find(table, Point("m", tags[0])) == 0);
  CHECK(table.stats().raw_keys > 100);
  CHECK(table.stats().raw_keys < 5000);
}

TEST_CASE("concurrent readers see each key completely or not at all") {
  size_t bytes_max = kPlenty;
  SUBCASE("with memory for all keys") {}
  SUBCASE("while the table is cleared again and again") { bytes_max = 64 * 1024; }
  RawKeyTable table(5, bytes_max);
  constexpr int kCount = 20000;
  std::vector<std::string> tags;
  for (int i = 0; i < kCount; ++i) tags.push_back("host=" + std::to_string(i));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  const auto read = [&] {
    for (unsigned i = 0; !done.load(); i = (i + 7919) % kCount) {
      const int64_t found = Find(table, Point("m", tags[i]));
      if (found != -1 && found != static_cast<int64_t>(i)) wrong.fetch_add(1);
    }
  };
  std::thread first(read), second(read);
  for (int i = 0; i < kCount; ++i) Remember(&table, {Dialect::kJson, "m", tags[i]}, i);
  done.store(true);
  first.join();
  second.join();
  CHECK(wrong.load() == 0);
  if (bytes_max < kPlenty) return;
  for (int i = 0; i < kCount; ++i) REQUIRE(Find(table, Point("m", tags[i])) == i);
}

}  // namespace hg::tsd
