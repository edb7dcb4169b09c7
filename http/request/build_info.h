#pragma once
// The version of the program and information about its build, for /api/version, the telnet command
// `version` and `tsdb version`.

#include <string>
#include <string_view>

namespace hg::http {

/// Information about the build of the program. All texts are valid as long as the process runs.
/// `host`, `user` and `repository` are fixed texts, because the program contains no information
/// about the build machine.
struct BuildInfo {
  std::string_view
      version;  // the OpenTSDB release whose API is implemented; clients read its first two numbers
  std::string_view product_version;  // the version of Hourglass
  std::string_view revision;         // git revision in hexadecimal; "" if the source was not built
                                     // inside a git work tree
  std::string_view short_revision;
  // The state of the source tree in OpenTSDB's words: MINT (unchanged), MODIFIED or UNKNOWN.
  std::string_view status;
  std::string_view branch;
  /// Time of the git revision in seconds since the epoch, as decimal text.
  std::string_view timestamp_s;
  std::string_view host, user, repository;
};

const BuildInfo& ThisBuild();

/// Returns the output of the `version` command: two lines, each with its line end.
std::string BuildText();

}  // namespace hg::http
