#include "tsd/ingest/spelling_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace hg::tsd {
namespace {

constexpr size_t kPlenty = size_t{1} << 30;

SpelledPoint Point(std::string_view metric, std::string_view tags,
                   Dialect dialect = Dialect::kJson) {
  SpelledPoint point;
  point.series = {dialect, metric, tags};
  return point;
}

/// The number of one spelling; −1 if it is unknown.
int64_t Find(const SpellingTable& table, const SpelledPoint& point) {
  SeriesNumber number = 0;
  return table.FindAll({&point, 1}, &number) ? int64_t{number} : -1;
}

}  // namespace

TEST_CASE("a spelling is known by its exact bytes and its dialect") {
  SpellingTable table(1, kPlenty);
  table.Remember({Dialect::kJson, "m", R"({"a":"b"})"}, 7, table.generation());
  CHECK(Find(table, Point("m", R"({"a":"b"})")) == 7);
  CHECK(Find(table, Point("m", R"({"a": "b"})")) == -1);
  CHECK(Find(table, Point("m{", R"("a":"b"})")) == -1);
  CHECK(Find(table, Point("m", R"({"a":"b"})", Dialect::kWords)) == -1);
}

TEST_CASE("a batch with one unknown spelling is unknown") {
  SpellingTable table(1, kPlenty);
  std::vector<SpelledPoint> points;
  std::vector<std::string> tags;
  for (int i = 0; i < 100; ++i) tags.push_back(std::to_string(i));
  for (int i = 0; i < 100; ++i) {
    points.push_back(Point("m", tags[i]));
    if (i != 70) table.Remember(points.back().series, i, table.generation());
  }
  std::vector<SeriesNumber> numbers(points.size());
  CHECK_FALSE(table.FindAll(points, numbers.data()));
  table.Remember(points[70].series, 70, table.generation());
  REQUIRE(table.FindAll(points, numbers.data()));
  for (SeriesNumber i = 0; i < 100; ++i) CHECK(numbers[i] == i);
}

TEST_CASE("tags of every length are told apart, also when the table grows") {
  SpellingTable table(99, kPlenty);
  std::vector<std::string> tags;
  for (size_t length = 0; length < 300; ++length) {
    for (const char c : {'x', 'y'}) {
      tags.push_back(std::string(length, c) + "=");
      tags.push_back(std::string(length, c) + "=" + std::string(17, c));
    }
  }
  for (size_t i = 0; i < tags.size(); ++i)
    table.Remember({Dialect::kWords, "m", tags[i]}, i, table.generation());
  for (size_t i = 0; i < tags.size(); ++i) {
    // Equal texts (both letters at length 0) share the newest number.
    const int64_t found = Find(table, Point("m", tags[i], Dialect::kWords));
    REQUIRE(found >= 0);
    CHECK(tags[static_cast<size_t>(found)] == tags[i]);
  }
}

TEST_CASE("what was forgotten is unknown, and a number learnt before does not come back") {
  SpellingTable table(1, kPlenty);
  table.Remember({Dialect::kJson, "m", "t"}, 1, table.generation());
  const uint32_t before = table.generation();
  const uint64_t bytes = table.stats().bytes;
  table.Forget();
  CHECK(Find(table, Point("m", "t")) == -1);
  table.Remember({Dialect::kJson, "m", "t"}, 1, before);
  CHECK(Find(table, Point("m", "t")) == -1);
  table.Remember({Dialect::kJson, "m", "t"}, 2, table.generation());
  CHECK(Find(table, Point("m", "t")) == 2);
  CHECK(table.stats().bytes == bytes);
}

TEST_CASE("a full table starts anew: the newest are always known, and its bytes have a bound") {
  constexpr size_t kBytesMax = 64 * 1024;
  SpellingTable table(1, kBytesMax);
  std::vector<std::string> tags;
  for (int i = 0; i < 10000; ++i) tags.push_back("host=" + std::to_string(i));
  for (int i = 0; i < 10000; ++i) {
    table.Remember({Dialect::kJson, "m", tags[i]}, i, table.generation());
    REQUIRE(Find(table, Point("m", tags[i])) == i);
    REQUIRE(table.stats().bytes < 3 * kBytesMax);
  }
  CHECK(Find(table, Point("m", tags[0])) == -1);
  table.Remember({Dialect::kJson, "m", tags[0]}, 0, table.generation());
  CHECK(Find(table, Point("m", tags[0])) == 0);
  CHECK(table.stats().spellings > 100);
  CHECK(table.stats().spellings < 5000);
}

TEST_CASE("readers beside a writer see each spelling whole or not at all") {
  size_t bytes_max = kPlenty;
  SUBCASE("with room for all") {}
  SUBCASE("while the table starts anew again and again") { bytes_max = 64 * 1024; }
  SpellingTable table(5, bytes_max);
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
  for (int i = 0; i < kCount; ++i)
    table.Remember({Dialect::kJson, "m", tags[i]}, i, table.generation());
  done.store(true);
  first.join();
  second.join();
  CHECK(wrong.load() == 0);
  if (bytes_max < kPlenty) return;
  for (int i = 0; i < kCount; ++i) REQUIRE(Find(table, Point("m", tags[i])) == i);
}

}  // namespace hg::tsd
