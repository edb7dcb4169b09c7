#include "storage/base/scratch.h"

#include <doctest/doctest.h>

namespace hg {
namespace {

TEST_CASE("room of the usual size is kept, and only grows") {
  std::vector<int> kept;
  const int* first = nullptr;
  {
    Scratch room(&kept, 1000);
    room[999] = 7;
    first = room.data();
  }
  Scratch room(&kept, 10);
  CHECK(room.data() == first);
  CHECK(kept.size() == 1000);
}

TEST_CASE("a rare giant does not leave its memory behind") {
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
