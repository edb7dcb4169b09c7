#include "tsd/access_log.h"

#include <doctest/doctest.h>

#include "tests/support/manual_clock.h"
#include "tsd/log.h"

namespace hg::tsd {
namespace {

/// Returns the text of the newest log line, without seconds, level, thread and logger.
std::string LastText() {
  const std::string line = RecentLogLines().at(0);
  return line.substr(line.rfind('\t') + 1);
}

TEST_CASE("refused clients are logged with address, status and path, at most once a second") {
  ManualClock clock{1700000000000};
  AccessLog log(clock);
  log.Refused({"10.0.0.9:51000", "GET", "/api/query", "", 401});
  CHECK(LastText() ==
        "credentials were refused component=access remote=10.0.0.9:51000 status=401 method=GET "
        "path=/api/query");
  const std::string first = RecentLogLines().at(0);
  for (int i = 0; i < 3; ++i) log.Refused({"10.0.0.8:1", "GET", "/a", "", 401});
  CHECK(RecentLogLines().at(0) == first);
  clock.AdvanceMs(1000);
  log.Refused({"10.0.0.9:51000", "PUT", "/api/a b", "ann", 403});
  CHECK(LastText() ==
        "the user lacks the role component=access remote=10.0.0.9:51000 status=403 method=PUT "
        "path=\"/api/a b\" user=ann untold=3");
}

}  // namespace
}  // namespace hg::tsd
