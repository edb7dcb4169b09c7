#pragma once
// The slow path of the telnet commands (opentsdb-http-api.md §19.3): runs all lines in order, with
// all error messages. The connection first tries the fast path, which accepts only put lines whose
// series are known.

#include <string>
#include <string_view>

#include "http/access/roles.h"
#include "storage/base/request_context.h"

namespace hg {
class Writer;
}

namespace hg::http {

struct Services;

/// The state of the connection that is relevant for its next lines.
struct LinesCall {
  bool muted = false;  // whether replies are dropped because the client does not read
  // Whether the store rejected the previous call; if so, this call starts with few points.
  bool after_busy = false;
  Roles roles = Roles::All();  // roles of the client
  /// When it fails, the remaining lines are not run, and the result is as if the store were busy.
  RequestContext* context = &RequestContext::Unlimited();
  Writer* writer = nullptr;  // write limits of the client; nullptr = unlimited
};

struct LinesResult {
  std::string text;  // replies, in the order of the lines
  /// Number of bytes of the lines that were run. Some lines remain after a `stats` command, if the
  /// text became long, or if the store rejected more points (`busy`). The caller must pass the rest
  /// again once the text is sent; if `busy`, after a pause.
  size_t used = 0;
  bool busy = false;
  bool close = false;      // whether `exit` was found; later lines were not run
  bool shut_down = false;  // whether `diediedie` was found: the process must end
};

/// Runs whole lines, each of which ends with LF. When it returns, the points of the lines that were
/// run are durable. If the log rejects writes for now (RefusesAll), `used` is 0. The caller then
/// passes the same lines again; points that are already stored are overwritten by equal ones. May
/// block on disk I/O. If the store is busy, returns at once with `busy`.
LinesResult RunTelnetLines(std::string_view lines, Services& services, LinesCall call = {});

}  // namespace hg::http
