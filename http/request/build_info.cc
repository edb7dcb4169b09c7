#include "http/request/build_info.h"

#include <charconv>
#include <cstdint>
#include <ctime>

// http/CMakeLists.txt defines these when it is configured inside a git work tree.
#ifndef HOURGLASS_REVISION
#define HOURGLASS_REVISION ""
#define HOURGLASS_STATUS "UNKNOWN"
#define HOURGLASS_BRANCH ""
#define HOURGLASS_TIMESTAMP "0"
#endif
#ifndef HOURGLASS_VERSION
#define HOURGLASS_VERSION "0"
#endif

namespace hg::http {
namespace {

constexpr std::string_view kRevision = HOURGLASS_REVISION;

constexpr BuildInfo kBuild = {
    .version = "2.4.1",
    .product_version = HOURGLASS_VERSION,
    .revision = kRevision,
    .short_revision = kRevision.substr(0, 7),
    .status = HOURGLASS_STATUS,
    .branch = HOURGLASS_BRANCH,
    .timestamp_s = HOURGLASS_TIMESTAMP,
    .host = "localhost",
    .user = "hourglass",
    .repository = "/hourglass",
};

}  // namespace

const BuildInfo& ThisBuild() { return kBuild; }

std::string BuildText() {
  int64_t seconds = 0;
  std::from_chars(kBuild.timestamp_s.data(), kBuild.timestamp_s.data() + kBuild.timestamp_s.size(),
                  seconds);
  const std::time_t when = seconds;
  std::tm utc{};
  gmtime_r(&when, &utc);
  char date[64];
  const size_t length = std::strftime(date, sizeof(date), "%Y/%m/%d %H:%M:%S +0000", &utc);

  // tcollector and the Nagios checks look for "net.opentsdb.tools … built at revision".
  std::string text = "net.opentsdb.tools ";
  text.append(kBuild.version).append(" built at revision ");
  text.append(kBuild.short_revision).append(" (").append(kBuild.status).append(")\n");
  text.append("Built on ").append(date, length).append(" by ").append(kBuild.user).append("@");
  text.append(kBuild.host).append(":").append(kBuild.repository).append("\n");
  return text;
}

}  // namespace hg::http
