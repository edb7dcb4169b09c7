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
  cache.Add("kept", "K");
  for (int i = 0; i < 1000; ++i) {
    cache.Add("name" + std::to_string(i), "id" + std::to_string(i));
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
  reader.Add("a", "1");
  CHECK(KnowsName(reader, "1"));
  CHECK_FALSE(KnowsId(reader, "a"));
  NameCache writer({.names = false});
  writer.Add("a", "1");
  CHECK_FALSE(KnowsName(writer, "1"));
  CHECK(KnowsId(writer, "a"));
  writer.Rename("a", "b", "1");
  CHECK(writer.Count().size == 1);
}

TEST_CASE("removed names are not found in either generation of the cache") {
  NameCache cache({.ids_max = 4, .names_max = 4});
  for (const char* name : {"a", "b", "c"}) cache.Add(name, name);
  for (const char* name : {"a", "b", "c"}) cache.Remove(name, name);
  CHECK(cache.Count().size == 0);
  CHECK_FALSE(KnowsId(cache, "a"));
}

TEST_CASE(
    "new names replace names that were not used for long, so that the cache stays within "
    "its bytes") {
  bool assigned = false;
  SUBCASE("names that are read") {}
  SUBCASE("names that just got their ids") { assigned = true; }
  const auto charged = std::make_shared<std::atomic<uint64_t>>(0);
  constexpr uint64_t kBytesMax = 100'000;
  NameCache cache({.bytes_max = kBytesMax, .charged = charged});
  const std::string large(1000, 'x');
  const uint64_t changes = cache.changes();
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i) + large, id = "id" + std::to_string(i);
    assigned ? cache.Add(name, id) : cache.AddRead(name, id, changes);
    REQUIRE(*charged <= kBytesMax + 2 * NameCache::BytesOf(large.size() + 3));
    REQUIRE(*charged >= std::min<uint64_t>(i * large.size(), kBytesMax / 4));
  }
  CHECK(KnowsId(cache, "999" + large));
  CHECK(KnowsName(cache, "id999"));
  CHECK_FALSE(KnowsId(cache, "0" + large));
  cache.Clear();
  CHECK(*charged == 0);
}

TEST_CASE(
    "assigned names are counted until they are removed or renamed, or the cache is destroyed") {
  const auto charged = std::make_shared<std::atomic<uint64_t>>(0);
  {
    NameCache cache({.charged = charged});
    const std::string large(1000, 'x');
    for (int i = 0; i < 10; ++i) cache.Add(std::to_string(i) + large, std::to_string(i));
    const uint64_t all = *charged;
    CHECK(all >= 10 * 2 * large.size());
    CHECK(all <= 10 * NameCache::BytesOf(large.size() + 1) * 2);
    CHECK(KnowsId(cache, "0" + large));
    cache.Rename("0" + large, "short", "0");
    CHECK(*charged < all);
    cache.Remove("1" + large, "1");
    CHECK(*charged < all - 2 * large.size());
  }
  CHECK(*charged == 0);
}

}  // namespace
}  // namespace hg::uid
