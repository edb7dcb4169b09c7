#include "uid/name_filter.h"

#include <doctest/doctest.h>

namespace hg::uid {
namespace {

TEST_CASE("a name must match every pattern of its kind") {
  const auto filter = NameFilter::Compile({"^sys\\.;cpu", "", "^[a-z]+$"}, ";");
  REQUIRE(filter.ok());
  CHECK((*filter)->Allows(UidKind::kMetric, "sys.cpu.user"));
  CHECK_FALSE((*filter)->Allows(UidKind::kMetric, "sys.mem"));
  CHECK_FALSE((*filter)->Allows(UidKind::kMetric, "my.cpu"));
  CHECK((*filter)->Allows(UidKind::kTagk, "anything"));
  CHECK_FALSE((*filter)->Allows(UidKind::kTagv, "web01"));
  CHECK((*filter)->accepted(UidKind::kMetric) == 1);
  CHECK((*filter)->rejected(UidKind::kMetric) == 2);
  CHECK((*filter)->rejected(UidKind::kTagv) == 1);
}

TEST_CASE("an invalid pattern is refused") {
  CHECK(NameFilter::Compile({"(", "", ""}, ",").status().code() == StatusCode::kInvalidArgument);
  CHECK(NameFilter::Compile({"a", "", ""}, "(").status().code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hg::uid
