#include "storage/base/scratch.h"

#include <doctest/doctest.h>

namespace hg {
namespace {

TEST_CASE("buffers of usual size are kept and only grow") {
  std::vector<int> kept;
  const int* first = nullptr;
  {
    Scratch room(&kept, 1000);
    room[999] = 7;
    first = room.data();
  }
  {
    Scratch room(&kept, 10);
    CHECK(room.data() == first);
  }
  CHECK(kept.size() == 1000);
}

TEST_CASE("Nested batches of one thread do not share a buffer") {
  std::vector<int> kept;
  { Scratch room(&kept, 1000); }
  Scratch outer(&kept, 10);
  outer[0] = 1;
  {
    Scratch inner(&kept, 10);
    inner[0] = 2;
    CHECK(inner.data() != outer.data());
  }
  CHECK(outer[0] == 1);
}

TEST_CASE("a rare very large batch does not keep its memory") {
  std::vector<int> kept;
  constexpr size_t kGiant = Scratch<int>::kKeptBytes / sizeof(int) + 1;
  {
    Scratch room(&kept, kGiant);
    room[kGiant - 1] = 7;
    CHECK(room.data()[kGiant - 1] == 7);
  }
  CHECK(kept.capacity() == 0);
}

}  // namespace
}  // namespace hg
