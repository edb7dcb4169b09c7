#include "storage/model/java_hash.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hg {
namespace {

std::string Ordered(const std::vector<std::string>& keys, size_t capacity) {
  std::vector<uint32_t> hashes;
  for (const std::string& key : keys) hashes.push_back(JavaHashUtf8(key));
  std::string out;
  for (size_t i : JavaMapOrder(hashes, capacity)) out += (out.empty() ? "" : " ") + keys[i];
  return out;
}

TEST_CASE("string hashes are Java's (opentsdb-schema.md §15)") {
  CHECK(JavaHashUtf8("") == 0);
  CHECK(JavaHashUtf8("dal") == 0x0001838F);
  CHECK(JavaHashUtf8("web01") == 0x06BC4C55);
  CHECK(JavaHashUtf8("myapp") == 0x06387CF5);
  CHECK(JavaHashUtf8("sys") == 0x0001BECD);
  CHECK(JavaHashUtf8("cpu") == 0x000181A8);
  CHECK(JavaHashUtf8("user") == 0x0036EBCB);
  CHECK(JavaHashUtf8("é") == 0xE9);
  CHECK(JavaHashUtf8("😀") == 31 * 0xD83D + 0xDE00);  // two UTF-16 units
}

TEST_CASE("names of one point get ids in hash order (opentsdb-schema.md §3.3)") {
  CHECK(Ordered({"zeta", "alpha", "mid", "b", "a", "c"}, Hash16Capacity(6)) ==
        "zeta a b c alpha mid");
}

TEST_CASE("maps of each kind iterate as recorded (opentsdb-http-api.md §A)") {
  CHECK(Ordered({"host", "site"}, HashQCapacity(2)) == "host site");
  CHECK(Ordered({"host", "site"}, Hash16Capacity(2)) == "site host");
  for (size_t capacity : {HashQCapacity(2), Hash16Capacity(2), HashNCapacity(2)}) {
    CHECK(Ordered({"dc", "host"}, capacity) == "host dc");
  }
}

TEST_CASE("capacities grow when a map is three quarters full") {
  CHECK(Hash16Capacity(1) == 16);
  CHECK(Hash16Capacity(12) == 16);
  CHECK(Hash16Capacity(13) == 32);
  CHECK(Hash16Capacity(24) == 32);
  CHECK(Hash16Capacity(25) == 64);
  const size_t expected_n[] = {2, 4, 4, 8, 8, 8, 16, 16, 16, 16, 16, 16, 32};
  for (size_t n = 1; n <= 13; ++n) CHECK(HashNCapacity(n) == expected_n[n - 1]);
  const size_t expected_q[] = {2, 8, 16, 16, 16, 32, 32, 32, 32, 32};
  for (size_t n = 1; n <= 10; ++n) CHECK(HashQCapacity(n) == expected_q[n - 1]);
}

TEST_CASE("keys in one slot keep the order of insertion") {
  const std::vector<uint32_t> same = {5, 21, 37, 4};
  CHECK(JavaMapOrder(same, 16) == std::vector<size_t>{3, 0, 1, 2});
}

TEST_CASE("Java compares strings by UTF-16 units") {
  CHECK(JavaLess("a", "b"));
  CHECK(JavaLess("", "a"));
  CHECK(JavaLess("a", "aa"));
  CHECK_FALSE(JavaLess("a", "a"));
  CHECK(JavaLess("z", "é"));
  CHECK(JavaLess("😀", "ﬁ"));  // D83D < FB01
  CHECK_FALSE(JavaLess("ﬁ", "😀"));
}

}  // namespace
}  // namespace hg
