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

TEST_CASE("a limited cache keeps what is used and never grows beyond its limit") {
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

TEST_CASE("a reader's cache keeps names, a writer's ids") {
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

TEST_CASE("what is removed is gone from either generation") {
  NameCache cache({.ids_max = 4, .names_max = 4});
  for (const char* name : {"a", "b", "c"}) cache.Add(name, name);
  for (const char* name : {"a", "b", "c"}) cache.Remove(name, name);
  CHECK(cache.Count().size == 0);
  CHECK_FALSE(KnowsId(cache, "a"));
}

}  // namespace
}  // namespace hg::uid
