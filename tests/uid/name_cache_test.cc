#include "uid/name_cache.h"

#include <doctest/doctest.h>

namespace hg::uid {
namespace {

bool KnowsId(NameCache& cache, const std::string& name) {
  NameCache::Entry entry;
  return cache.FindId(name, &entry);
}
bool KnowsName(NameCache& cache, const std::string& id) {
  std::string name;
  return cache.FindName(id, &name);
}

TEST_CASE("a limited cache keeps used entries and never exceeds its limit") {
  NameCache cache({.ids_max = 10, .names_max = 10});
  cache.Add("kept", "K", cache.changes());
  for (int i = 0; i < 1000; ++i) {
    cache.Add("name" + std::to_string(i), "id" + std::to_string(i), cache.changes());
    REQUIRE(KnowsId(cache, "kept"));
    REQUIRE(cache.Count().size <= 20);
  }
  CHECK(KnowsId(cache, "name999"));
  CHECK_FALSE(KnowsId(cache, "name0"));
  CHECK(KnowsName(cache, "id999"));
  CHECK_FALSE(KnowsName(cache, "K"));
}

TEST_CASE("a cache for readers keeps names, and one for writers keeps ids") {
  NameCache reader({.ids = false});
  reader.Add("a", "1", reader.changes());
  CHECK(KnowsName(reader, "1"));
  CHECK_FALSE(KnowsId(reader, "a"));
  NameCache writer({.names = false});
  writer.Add("a", "1", writer.changes());
  CHECK_FALSE(KnowsName(writer, "1"));
  CHECK(KnowsId(writer, "a"));
  writer.Rename("a", "b", "1", false);
  CHECK(writer.Count().size == 1);
}

uint64_t NoBytes(const int& /*value*/) { return 0; }

TEST_CASE("evicted entries are freed by the caller, who first releases its lock") {
  AgingMap<int, NoBytes> map(4);
  for (int i = 0; i < 5; ++i) map.Set(std::to_string(i), i);
  CHECK(map.TakeEvicted()[0].size() == 2);
  map.Age();
  CHECK(map.size() == 1);
  map.Age();
  CHECK(map.size() == 0);
  const auto evicted = map.TakeEvicted();
  CHECK(evicted[0].size() + evicted[1].size() == 3);
  CHECK(map.TakeEvicted()[0].empty());
}

TEST_CASE("removed names are not found in either generation of the cache") {
  NameCache cache({.ids_max = 4, .names_max = 4});
  for (const char* name : {"a", "b", "c"}) cache.Add(name, name, cache.changes());
  for (const char* name : {"a", "b", "c"}) cache.Remove(name, name, false);
  CHECK(cache.Count().size == 0);
  CHECK_FALSE(KnowsId(cache, "a"));
}

TEST_CASE(
    "new names replace names that were not used for long, so that the cache stays within "
    "its bytes") {
  const auto charged = std::make_shared<std::atomic<uint64_t>>(0);
  constexpr uint64_t kBytesMax = 100'000;
  NameCache cache({.bytes_max = kBytesMax, .charged = charged});
  const std::string large(1000, 'x');
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i) + large, id = "id" + std::to_string(i);
    cache.Add(name, id, cache.changes());
    REQUIRE(*charged <= kBytesMax + 2 * NameCache::BytesOf(large.size() + 3));
    REQUIRE(*charged >= std::min<uint64_t>(i * large.size(), kBytesMax / 4));
  }
  CHECK(KnowsId(cache, "999" + large));
  CHECK(KnowsName(cache, "id999"));
  CHECK_FALSE(KnowsId(cache, "0" + large));
  cache.Clear();
  CHECK(*charged == 0);
}

TEST_CASE("a change of an id forgets all names of this id, even if the id's own name was evicted") {
  NameCache cache({.ids_max = 100, .names_max = 2});
  cache.Add("λ", "1", cache.changes());
  cache.Add("other", "2", cache.changes());
  cache.Add("third", "3", cache.changes());  // the name of "1" is evicted
  cache.Add("μ", "1", cache.changes());
  SUBCASE("renamed") {
    cache.Rename("λ", "b", "1", true);
    CHECK(KnowsId(cache, "b"));
  }
  SUBCASE("removed") { cache.Remove("λ", "1", true); }
  CHECK_FALSE(KnowsId(cache, "λ"));
  CHECK_FALSE(KnowsId(cache, "μ"));
  CHECK(KnowsId(cache, "other"));
  cache.Add("μ", "4", cache.changes());
  CHECK(KnowsId(cache, "μ"));
}

TEST_CASE("the memory for ids whose aliases were forgotten has a limit") {
  constexpr int kIds = NameCache::kAliasesForgottenMax;
  NameCache cache({});
  cache.Add("λ", "1", cache.changes());
  cache.Add("other", "2", cache.changes());
  const auto forget = [&](int id) { cache.Remove("name", "id" + std::to_string(id), true); };
  cache.Remove("μ", "1", true);
  for (int id = 1; id < kIds; ++id) forget(id);
  CHECK(KnowsId(cache, "other"));
  CHECK_FALSE(KnowsId(cache, "λ"));
  forget(1);  // the cache knows this id, so it needs no more memory
  CHECK(KnowsId(cache, "other"));
  forget(kIds);
  CHECK_FALSE(KnowsId(cache, "other"));
  CHECK_FALSE(KnowsId(cache, "λ"));
  CHECK(KnowsName(cache, "2"));
  cache.Add("other", "2", cache.changes());
  cache.Remove("μ", "1", true);
  CHECK(KnowsId(cache, "other"));
}

TEST_CASE(
    "assigned names are counted until they are removed or renamed, or the cache is destroyed") {
  const auto charged = std::make_shared<std::atomic<uint64_t>>(0);
  {
    NameCache cache({.charged = charged});
    const std::string large(1000, 'x');
    for (int i = 0; i < 10; ++i)
      cache.Add(std::to_string(i) + large, std::to_string(i), cache.changes());
    const uint64_t all = *charged;
    CHECK(all >= 10 * 2 * large.size());
    CHECK(all <= 10 * NameCache::BytesOf(large.size() + 1) * 2);
    CHECK(KnowsId(cache, "0" + large));
    cache.Rename("0" + large, "short", "0", false);
    CHECK(*charged < all);
    cache.Remove("1" + large, "1", false);
    CHECK(*charged < all - 2 * large.size());
  }
  CHECK(*charged == 0);
}

}  // namespace
}  // namespace hg::uid
