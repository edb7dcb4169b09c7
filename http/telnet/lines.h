#pragma once
// The slow path of the telnet protocol (opentsdb-http-api.md §19.3). It runs all commands in the
// order of the lines and sends all error messages. The connection first tries the fast path, which
// accepts only put lines whose series are known.

#include <string>
#include <string_view>

#include "http/access/roles.h"
#include "storage/base/request_context.h"

namespace hg {
class Writer;
}

namespace hg::http {

struct Services;

/// The state of a connection that affects how its next lines are run.
struct LinesCall {
  bool muted = false;  // whether replies are dropped, because the client does not read them
  // Whether the store rejected the previous call; if so, this call begins with few points.
  bool after_busy = false;
  Roles roles = Roles::All();  // the roles of the client
  /// The context to which the work is charged. When it returns an error, the remaining lines are
  /// not run, and the result is the same as if the store were busy.
  RequestContext* context = &RequestContext::Unlimited();
  Writer* writer = nullptr;  // the write limits of the client; nullptr = unlimited
};

struct LinesResult {
  std::string text;  // the replies, in the order of the lines
  /// The number of bytes of the lines that were run. Lines remain after a `stats` command, if the
  /// text of the replies became long, or if the store rejected further points (`busy`). The caller
  /// must pass the remaining lines again after it has sent the text. If `busy` is set, the caller
  /// must also pause before that.
  size_t used = 0;
  bool busy = false;
  bool close = false;      // whether `exit` was found; the lines after it were not run
  bool shut_down = false;  // whether `diediedie` was found, so that the process must end
};

/// Runs whole telnet lines, each of which ends with LF. When the function returns, the points of
/// the lines that were run are durable. If the log rejects writes for now (RefusesAll), `used` is
/// 0. The caller must then pass the same lines again; points that are already stored are
/// overwritten by equal points. The function may block on disk I/O. If the store is busy, it
/// returns at once with `busy` set.
LinesResult RunTelnetLines(std::string_view lines, Services& services, LinesCall call = {});

}  // namespace hg::http
