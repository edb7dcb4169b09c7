#pragma once
// What this program says about its making: /api/version, telnet `version`, `tsdb version`.

#include <string>
#include <string_view>

namespace hg::http {

/// Lives as long as the process. Nothing of the build machine is told: host, user and repository
/// are the project's.
struct BuildInfo {
  std::string_view
      version;  // the OpenTSDB release that is spoken: clients read its first two numbers
  std::string_view product_version;  // ours
  std::string_view revision;  // of the source, in hexadecimal; "" if it was built outside of git
  std::string_view short_revision;
  std::string_view status;  // MINT, MODIFIED or UNKNOWN
  std::string_view branch;
  std::string_view timestamp_s;  // of the revision, seconds since the epoch, decimal
  std::string_view host, user, repository;
};

const BuildInfo& ThisBuild();

/// The two lines of `version`, each with its line end.
std::string BuildText();

}  // namespace hg::http
