#include "tsd/open_files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>

namespace hg::tsd {
namespace {

TEST_CASE("the limit of open files is raised as far as the system allows") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit lower{std::min<rlim_t>(256, limit.rlim_max), limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &lower) == 0);
  CHECK(RaiseOpenFilesLimit() == limit.rlim_max);
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(limit.rlim_cur == limit.rlim_max);
}

TEST_CASE("the limit of connections leaves open files for the store, whatever the settings say") {
  CHECK(ConnectionsWithin(1024, 0) == 768);
  CHECK(ConnectionsWithin(1024, 100) == 100);
  CHECK(ConnectionsWithin(1024, 5000) == 768);
  CHECK(ConnectionsWithin(20000, 0) == 18976);
  CHECK(ConnectionsWithin(1048576, 10000) == 10000);
}

}  // namespace
}  // namespace hg::tsd
