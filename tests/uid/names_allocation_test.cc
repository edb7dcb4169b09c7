// Memory runs out at each allocation in turn: only the call concerned fails, and no thread waits
// for it afterwards.

#include <doctest/doctest.h>

#include "tests/fault/starve.h"
#include "tests/support/model_store.h"
#include "uid/names.h"

namespace hg::uid {
namespace {

// Long enough to need heap memory.
const std::string kOld = "a metric that has a long name", kNew = "the long name that it gets";
const std::string kOther = "the long name that it gets after that";

struct Rig {
  Rig() { REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok()); }
  Status Rename(const std::string& from, const std::string& to) {
    return names.Rename(UidKind::kMetric, from, to);
  }
  ModelStore store;
  Names names{store, {}};
};

TEST_CASE("an assignment that fails at any allocation keeps no thread waiting") {
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    Rig rig;
    (void)Starve(n, &failed,
                 [&] { return rig.names.FindOrAssign(UidKind::kMetric, kOld).status(); });
    const Result<Bytes> id = rig.names.FindOrAssign(UidKind::kMetric, kOld);
    REQUIRE(id.ok());
    CHECK(*rig.names.Find(UidKind::kMetric, kOld) == *id);
    CHECK(*rig.names.NameOf(UidKind::kMetric, *id) == kOld);
  }
}

TEST_CASE("a rename that fails at any allocation ends") {
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    Rig rig;
    const Bytes id = *rig.names.FindOrAssign(UidKind::kMetric, kOld);
    const bool ok = Starve(n, &failed, [&] { return rig.Rename(kOld, kNew); });
    if (ok) CHECK(*rig.names.NameOf(UidKind::kMetric, id) == kNew);
    for (const std::string& name : {kOld, kNew}) {
      const Status again = rig.Rename(name, kOther);
      CAPTURE(again.ToString());
      CHECK(again.message().find("Ongoing") == std::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace hg::uid
