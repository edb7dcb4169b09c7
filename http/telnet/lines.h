#pragma once
// The slow path of the telnet commands (opentsdb-http-api.md §19.3): runs all lines in order, with
// all error messages. The connection first tries the fast path, which accepts only put lines of
// known series.

#include <string>
#include <string_view>

#include "http/access/roles.h"
#include "storage/base/status.h"

namespace hg {
class Writer;
}

namespace hg::http {

struct Services;

/// True if the refusal is temporary: out of memory, a log that cannot be written, an unavailable
/// store, a rate limit. The lines then wait and are run again, because the telnet protocol has no
/// "retry later" reply.
bool WaitsFor(const Status& refusal);

/// The state of the connection.
struct LinesCall {
  bool muted = false;          // the client does not read: lines are run, but replies are dropped
  bool after_busy = false;     // the store refused the last call: start with few points at a time
  Roles roles = Roles::All();  // roles of the client
  Writer* writer = nullptr;    // write limits of the client; nullptr = unlimited
};

struct LinesResult {
  std::string text;  // replies, in the order of the lines
  /// Number of bytes of the lines that were run. It is less than given behind a `stats`, if the
  /// text became long, or if the store refused more (`busy`). Pass the rest again once the text is
  /// sent, or after a while.
  size_t used = 0;
  bool busy = false;
  bool close = false;      // `exit` was found; later lines were not read
  bool shut_down = false;  // `diediedie` was found: the process must end
};

/// Runs whole lines, each ended by LF. On return, the points of the lines that were run are
/// durable. If the log takes nothing now (Busy, Unavailable), `used` is 0; the next call stores the
/// points once more, which changes nothing. Blocks, but not on a busy store.
LinesResult RunTelnetLines(std::string_view lines, Services& services, LinesCall call = {});

}  // namespace hg::http
